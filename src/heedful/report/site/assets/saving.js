// Files that the reader's browser makes: no server, no network.
"use strict";

heedful.saving = (() => {
  // A cell of a CSV file. A spreadsheet would run text that begins like a formula: an apostrophe keeps it text.
  const field = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    if (typeof value !== "string") return String(value);
    const text = heedful.printable(value);
    const harmless = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text; // also in full width
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };

  const csv = (names, rows) => [names, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");

  // A button that saves what `make` returns under a name. The text is made when it is asked for.
  const button = (label, name, make, { type = "text/csv;charset=utf-8" } = {}) =>
    heedful.h("button", { type: "button", class: "link", onclick: () => {
      const address = URL.createObjectURL(new Blob([make()], { type }));
      heedful.h("a", { href: address, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000); // the download has begun by then
    } }, label);

  // Links to files that the report wrote. Browsers that open rather than save them do so in a tab of its own.
  const links = (files) => files.map((file) =>
    heedful.h("a", { href: file.split("/").map(encodeURIComponent).join("/"), download: file.split("/").at(-1), target: "_blank", rel: "noopener" },
      { csv: "CSV", md: "Markdown", tex: "LaTeX" }[file.split(".").at(-1)] ?? file.split(".").at(-1).toUpperCase()));

  return { csv, button, links };
})();
