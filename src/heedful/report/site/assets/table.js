// A table of the report: sortable, explained, with files to take away.
"use strict";

(() => {
  const { h } = heedful;
  const numeric = (column) => column.kind !== "text" && column.kind !== "flag";

  // What the columns mean, for readers who cannot point at them.
  heedful.legend = (columns) => {
    const told = columns.filter((column) => column.meaning);
    return told.length > 0 && h("details", { class: "legend" }, h("summary", {}, "What the columns mean"),
      h("dl", {}, told.map((column) => [h("dt", {}, column.title), h("dd", {}, column.meaning)])));
  };

  const written = (table) => heedful.saving.links(["csv", "md", "tex"].map((ending) => `tables/${table.name}.${ending}`));
  const made = (table, stem) => heedful.saving.button("CSV", `${stem}.csv`, () => heedful.saving.csv(table.columns.map((column) => column.key), table.rows));
  const download = (table, own) => h("p", { class: "downloads" }, own ? ["Download: ", made(table, `${table.name}-${own}`), " of all runs: "] : "Download: ", written(table));

  // `link` leads from the run of a row to an address (null: no links); `own` is the run that all rows are of, if they are
  // of one: the files of the table hold the other runs, too.
  heedful.table = (table, { link = null, own = null } = {}) => {
    const { columns } = table;
    const cell = (row, column, index) => {
      const key = index === 0 && link ? table.runs[row] : null;
      const text = table.cells[row][index];
      const kind = numeric(column) ? "number" : text.length <= 32 && "short"; // short text stays on its line
      return h(index === 0 ? "th" : "td", { scope: index === 0 && "row", class: kind }, key ? h("a", { href: link(key) }, text) : text);
    };
    const head = h("thead");
    const body = h("tbody");
    const draw = (sort) => {
      const focused = head.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
      head.replaceChildren(h("tr", {}, columns.map((column) =>
        heedful.sorting.header({ name: column.key, title: column.title, meaning: column.meaning, numeric: numeric(column) }, sort, draw))));
      if (focused) head.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
      const { name, descending } = heedful.sorting.parse(sort);
      const by = columns.findIndex((column) => column.key === name);
      const every = table.rows.map((_, row) => row);
      const rows = by < 0 ? every : heedful.sorting.sorted(every, (row) => table.rows[row][by], descending);
      body.replaceChildren(...rows.map((row) => h("tr", {}, columns.map((column, index) => cell(row, column, index)))));
    };
    draw("");
    return h("div", { class: "table-box" },
      h("p", { class: "quiet" }, table.caption), // beside the table, not in it: it must not scroll away with it
      heedful.scroller(table.title, h("table", {}, h("caption", { class: "unseen" }, table.title), head, body)),
      table.rows.length === 0 && h("p", { class: "quiet" }, "Nothing to show here."),
      heedful.legend(columns),
      table.missing.length > 0 && h("ul", { class: "missing" }, table.missing.map((sentence) => h("li", {}, sentence))),
      table.rows.length > 0 && download(table, own));
  };

  // A table below its title, built when it is opened: pages have many. `onToggle` hears of both, opening and closing.
  heedful.foldedTable = (table, options, onToggle = () => {}) => {
    const details = h("details", { class: "table-details", "data-table": table.name, ontoggle: () => {
      if (details.open && details.children.length === 1) details.append(heedful.table(table, options));
      onToggle();
    } }, h("summary", {}, h("h3", {}, table.title)));
    return details;
  };

  // What is wider than the window scrolls in a box of its own, by keyboard, too.
  heedful.scroller = (name, child) => h("div", { class: "scroll", role: "region", "aria-label": name, tabindex: "0" }, child);
})();
