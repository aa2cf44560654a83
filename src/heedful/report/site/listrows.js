// The rows of the list of instances: an excerpt of the text, and figures in columns that the reader chooses.
"use strict";

heedful.listRows = (() => {
  const { h, store } = heedful;
  const EXCERPT = 160; // letters

  const columnOf = (page, name) => page.run.columns.find((column) => column.name === name);

  // Figures of the chosen columns, so that rows can be filled at once.
  const load = async (page) => {
    const all = await Promise.all(page.columns.map((name) => store.column(page.key, name)));
    page.values = new Map(page.columns.map((name, place) => [name, all[place]]));
  };

  const sortButton = (page, name, title, meaning, sort) => {
    const now = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
    const next = heedful.sorting.next(sort, name, name !== "id");
    return h("div", { role: "columnheader", "aria-sort": now, class: name === "id" ? "cell cell-text" : "cell", title: meaning },
      h("button", { type: "button", "data-sort": name, onclick: () => heedful.route.change({ sort: next }) }, title, h("span", { class: "arrow", "aria-hidden": "true" }, { ascending: " ↑", descending: " ↓", none: "" }[now])));
  };

  const header = (page, sort) => {
    const focused = document.activeElement?.dataset?.sort;
    const cells = page.columns.map((name) => {
      const { title, meaning } = columnOf(page, name);
      return sortButton(page, name, title, meaning, sort);
    });
    page.list.header.replaceChildren(sortButton(page, "id", "instance", "The order of the corpus.", sort), ...cells);
    const widths = page.columns.map((name) => (columnOf(page, name).kind === "class" ? 5.4 : 4.8)); // names of classes are words
    page.list.element.style.setProperty("--columns", `minmax(var(--text-width), 1fr) ${widths.map((width) => `minmax(${width}rem, ${width + 0.8}rem)`).join(" ")}`);
    page.list.element.style.setProperty("--least", `calc(var(--text-width) + ${widths.reduce((sum, width) => sum + width, 0)}rem)`);
    if (focused) page.list.header.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
  };

  // The beginning of a text, or where the searched words stand in it: [before, found, after].
  const excerpt = ({ tokens, query }, searched) => {
    let text = "";
    const all = query ? [...query, "·", ...tokens] : tokens;
    const enough = searched ? Infinity : EXCERPT;
    for (const token of all) {
      text += `${text ? " " : ""}${token}`;
      if (text.length > enough) break;
    }
    const at = searched ? text.toLowerCase().indexOf(searched) : -1;
    if (at < 0) return [text.slice(0, EXCERPT), "", ""];
    const start = at <= 12 ? 0 : text.indexOf(" ", at - 12) + 1; // a word or two before it
    const before = start > 0 && start <= at ? `… ${text.slice(start, at)}` : text.slice(Math.max(0, at - 12), at);
    return [before, text.slice(at, at + searched.length), text.slice(at + searched.length, at + EXCERPT)];
  };

  const words = (page, place, index) => {
    const id = h("span", { class: "row-id" }, heedful.printable(page.ids[index].slice(0, 60)));
    const text = page.texts?.get(index);
    if (!text) return place.replaceChildren(id, h("span", { class: "row-text soft" }, "…"));
    const [before, found, after] = excerpt(text, page.query).map(heedful.printable);
    return place.replaceChildren(id, h("bdi", { class: "row-text" }, before, found ? h("mark", {}, found) : null, after));
  };

  const fill = (page, row, position) => {
    const index = page.positions[position];
    row.dataset.index = index;
    while (row.children.length > page.columns.length + 1) row.lastChild.remove();
    while (row.children.length < page.columns.length + 1) row.append(h("div", { role: "gridcell", class: row.children.length ? "cell" : "cell cell-text" }));
    words(page, row.firstChild, index);
    page.columns.forEach((name, place) => {
      const value = page.values?.get(name)?.[index];
      const cell = row.children[place + 1];
      cell.textContent = value === undefined ? "" : heedful.printable(heedful.cell(value, columnOf(page, name), page.run));
      cell.classList.toggle("cell-wrong", name === "wrong" && value === 1);
    });
  };

  // Excerpts of the rows that the reader has come to rest at; shards of texts that were passed by are not loaded.
  const texts = async (page, first, last) => {
    page.texts ??= new Map();
    const wanted = [...page.positions.subarray(first, last + 1)];
    await Promise.all(wanted.map(async (index) => page.texts.get(index) ?? page.texts.set(index, await store.text(page.key, index))));
    for (const row of page.list.element.querySelectorAll(".list-row:not([hidden])")) {
      const index = Number(row.dataset.index);
      if (wanted.includes(index) && page.texts.has(index)) words(page, row.firstChild, index);
    }
  };

  return { load, header, fill, texts, words };
})();
