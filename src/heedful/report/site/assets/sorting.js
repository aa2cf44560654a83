// Order of rows in tables, and the header buttons that choose it.
"use strict";

heedful.sorting = (() => {
  const { h } = heedful;
  const unknown = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
  const letters = new Intl.Collator("en", { numeric: true });

  // Rows in order of what `valueOf` says of each; equal ones stay as they were, undefined ones are last either way.
  const sorted = (rows, valueOf, descending) => {
    const compare = (a, b) => (typeof a === "string" || typeof b === "string" ? letters.compare(String(a), String(b)) : a - b);
    const valued = rows.map((row) => ({ row, value: valueOf(row) }));
    valued.sort(({ value: a }, { value: b }) => {
      if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
      return descending ? compare(b, a) : compare(a, b);
    });
    return valued.map(({ row }) => row);
  };

  // "name" is rising, "-name" falling, as in addresses; "" is the given order.
  const parse = (text) => (text ? { name: text.replace(/^-/, ""), descending: text.startsWith("-") } : { name: null, descending: false });

  // What a click on a header leads to: numbers fall first, words rise first; a third click undoes.
  const next = (text, name, numeric) => {
    const steps = numeric ? [`-${name}`, name, ""] : [name, `-${name}`, ""];
    return steps[(steps.indexOf(text) + 1) % steps.length];
  };

  // A header cell with a button; `sort` is the order as of now, `choose` takes the next one.
  const header = ({ name, title, meaning, numeric }, sort, choose) => {
    const now = parse(sort);
    const direction = now.name === name ? (now.descending ? "descending" : "ascending") : null;
    const arrow = { ascending: "▲", descending: "▼" }[direction] ?? "↕";
    return h("th", { scope: "col", "aria-sort": direction, class: numeric && "number" },
      h("button", { type: "button", class: "sort", title: meaning || null, "data-sort": name, onclick: () => choose(next(sort, name, numeric)) },
        h("span", {}, title), h("span", { class: "arrow", "aria-hidden": "true" }, arrow)));
  };

  return { sorted, parse, next, header };
})();
