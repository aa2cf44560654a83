// The controls over the list of instances: search, class, errors, ranges, columns. They only change the address; the
// page follows it and brings them up to date.
"use strict";

heedful.controls = (() => {
  const { h, route } = heedful;

  const ranges = () => heedful.select.parse(route.now().query.get("where"));
  const setRanges = (all) => route.change({ where: heedful.select.format(all) });
  // At most one range a column from the menus: a second would only contradict the first.
  const setOne = (name, value) => setRanges([...ranges().filter((range) => range.name !== name), ...(value === "" ? [] : [{ name, low: Number(value), high: Number(value) }])]);

  const menu = (page, name, any) => {
    const column = page.run.columns.find((one) => one.name === name);
    if (!column) return null;
    const options = page.run.classes.map((title, value) => h("option", { value }, heedful.printable(title).slice(0, 60)));
    return h("label", {}, `${column.title} `, h("select", { "data-menu": name, onchange: (event) => setOne(name, event.target.value) }, h("option", { value: "" }, any), options));
  };

  const rangeForm = (page) => {
    const numbers = page.run.columns.filter(({ kind }) => kind === "figure" || kind === "count");
    if (!numbers.length) return null;
    const which = h("select", { "aria-label": "Figure" }, numbers.map(({ name, title }) => h("option", { value: name }, title)));
    const [low, high] = ["From", "to"].map((label) => h("input", { type: "number", step: "any", "aria-label": label, placeholder: label.toLowerCase() }));
    const add = (event) => {
      event.preventDefault();
      if (low.value === "" && high.value === "") return;
      const range = { name: which.value, low: low.value === "" ? -Infinity : Number(low.value), high: high.value === "" ? Infinity : Number(high.value) };
      setRanges([...ranges().filter(({ name }) => name !== range.name), range]);
      low.value = high.value = "";
    };
    return h("details", { class: "menu" }, h("summary", {}, "Range"), h("form", { class: "menu-body", onsubmit: add }, which, low, high, h("button", { type: "submit" }, "Add")));
  };

  const columnMenu = (page) => {
    const box = ({ name, title, meaning }) =>
      h("label", { title: meaning }, h("input", { type: "checkbox", checked: page.columns.includes(name), "data-column": name, onchange: async (event) => {
        const names = new Set(page.columns);
        if (event.target.checked) names.add(name);
        else names.delete(name);
        const ordered = page.run.columns.map((column) => column.name).filter((one) => names.has(one));
        page.columns = ordered;
        await heedful.listRows.load(page);
        page.choose(ordered);
      } }), title);
    return h("details", { class: "menu" }, h("summary", {}, "Columns"), h("div", { class: "menu-body menu-columns" }, page.run.columns.map(box)));
  };

  const build = (page, debounce) => {
    let waiting = 0;
    const ask = (event) => {
      clearTimeout(waiting);
      const { value } = event.target;
      waiting = setTimeout(() => route.change({ q: value.trim() }), event.type === "change" ? 0 : debounce);
    };
    page.field = h("input", { type: "search", class: "search", placeholder: page.run.query ? "Search texts, questions, ids" : "Search texts and ids", "aria-label": "Search", oninput: ask, onchange: ask });
    page.wrong = h("input", { type: "checkbox", "data-menu": "wrong", onchange: (event) => setOne("wrong", event.target.checked ? "1" : "") });
    page.menus = [menu(page, "label", "any"), menu(page, "decision", "any")].filter(Boolean);
    page.chips = h("ul", { class: "filters", "aria-label": "Filters" });
    return h("div", { class: "list-controls" }, page.field, page.menus, h("label", { class: "check" }, page.wrong, "wrong only"), rangeForm(page), columnMenu(page), page.chips);
  };

  const chip = (page, range, place, all) =>
    h("li", {}, h("button", { type: "button", class: "filter", "data-range": range.name, "aria-label": `Remove filter ${heedful.select.words(range, page.run)}`, onclick: () => setRanges(all.filter((_, other) => other !== place)) },
      heedful.printable(heedful.select.words(range, page.run)), h("span", { "aria-hidden": "true" }, " ×")));

  // Shows what the address says, wherever it was changed.
  const update = (page, { query, ranges: all, sort }) => {
    if (document.activeElement !== page.field || page.field.value.trim() === "") page.field.value = query;
    for (const select of page.menus.map((label) => label.querySelector("select"))) {
      const range = all.find(({ name, low, high }) => name === select.dataset.menu && low === high);
      select.value = range ? String(range.low) : "";
    }
    page.wrong.checked = all.some(({ name, low, high }) => name === "wrong" && low === 1 && high === 1);
    page.chips.replaceChildren(...all.map((range, place) => chip(page, range, place, all)),
      all.length > 1 ? h("li", {}, h("button", { type: "button", class: "filter", onclick: () => setRanges([]) }, "Remove all")) : "");
    heedful.listRows.header(page, sort);
  };

  return { build, update };
})();
