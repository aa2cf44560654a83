// Two runs over the same texts: what they have in common, one figure of every instance against the other, and the
// instances on which they differ most.
"use strict";

heedful.pages.compare = (() => {
  const { h, route, store } = heedful;
  const usual = ["tau_gradient", "jsd", "permuted_tvd", "attention_fraction", "confidence"];
  let view = null;

  const open = (first, second, by = null) => route.go(route.link("compare", [first, second], { by }));

  // Figures of a column, B in the order of A, and how far they are apart.
  const values = async (page, name) => {
    const [a, other] = await Promise.all(page.runs.map((run) => store.column(run.key, name)));
    const b = Float64Array.from(a, (_, index) => other[page.match[index]]);
    const apart = a.map((value, index) => (page.column.kind === "class" && !Number.isNaN(value - b[index]) ? Number(value !== b[index]) : Math.abs(value - b[index])));
    return { a, b, apart };
  };

  const scatter = async (page) => {
    const chart = page.site.compare_chart;
    const number = page.column.kind === "figure" || page.column.kind === "count";
    page.plot.hidden = !chart || !number;
    if (page.plot.hidden) return;
    const { a, b } = page.figures;
    const rows = page.ids.map((id, index) => ({ id, a: a[index], b: b[index] })).filter((row) => !Number.isNaN(row.a) && !Number.isNaN(row.b));
    await heedful.charts.draw(page.plot, heedful.compared.chart(chart, page.column), rows, { onBrush: (region) => order(page, region) });
  };

  // The list: the instances of a region of the chart, or all, by how far the runs are apart.
  const order = (page, region = null) => {
    const tests = Object.entries(region ?? {}).map(([side, [low, high]]) => ({ values: page.figures[side], low, high }));
    page.positions = heedful.select.positions(page.ids.length, { tests, sorted: { values: page.figures.apart, falling: true } });
    page.status.textContent = `${heedful.count(page.positions.length)} instances${region ? " in the region" : ""}, those first in which the runs are furthest apart`;
    page.list.reset(page.positions.length, page.index === undefined ? -1 : page.positions.indexOf(page.index));
  };

  const by = async (page, name) => {
    page.column = page.shared.find((column) => column.name === name) ?? usual.map((one) => page.shared.find((column) => column.name === one)).find(Boolean) ?? page.shared[0];
    if (page.shownBy === page.column.name) return;
    page.shownBy = page.column.name;
    page.choice.value = page.column.name;
    page.figures = await values(page, page.column.name);
    page.list.header.replaceChildren(...["instance", `A: ${page.column.title}`, `B: ${page.column.title}`, "apart"].map((words, place) => h("div", { role: "columnheader", class: place ? "cell" : "cell cell-text", title: page.column.meaning }, words)));
    order(page);
    scatter(page).catch((error) => page.plot.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message)));
  };

  const fill = (page, row, position) => {
    const index = page.positions[position];
    const { a, b, apart } = page.figures;
    const cell = (value, run) => h("div", { role: "gridcell", class: "cell" }, heedful.printable(heedful.cell(value, page.column, run)));
    const words = (page.column.kind === "class" || page.column.kind === "flag") && !Number.isNaN(apart[index]); // undefined in one: neither
    const far = words ? (apart[index] ? "differ" : "alike") : heedful.cell(apart[index], page.column, page.runs[0]);
    row.dataset.index = index;
    row.replaceChildren(h("div", { role: "gridcell", class: "cell cell-text" }), cell(a[index], page.runs[0]), cell(b[index], page.runs[1]), h("div", { role: "gridcell", class: "cell" }, far));
    heedful.listRows.words(page, row.firstChild, index);
  };

  const choose = async (page, id) => {
    const index = id === null ? undefined : page.indexOf.get(id);
    if (page.shownId === id) return;
    page.shownId = id;
    page.index = index;
    page.list.select(index === undefined ? -1 : page.positions.indexOf(index));
    if (index === undefined) {
      page.side.replaceChildren(h("p", { class: "soft invitation" }, id === null ? "Choose an instance to compare the two attention maps." : `There is no instance “${heedful.printable(id)}”.`));
      return;
    }
    const both = await Promise.all(page.runs.map((run, place) => heedful.instance.load(run.key, place ? page.match[index] : index)));
    if (view === page && page.shownId === id) page.side.replaceChildren(heedful.sides(...both));
  };

  const build = async (site, first, second) => {
    const runs = await Promise.all([store.run(first.key), store.run(second.key)]);
    const [ids, others] = await Promise.all(runs.map((run) => store.ids(run.key)));
    const where = new Map(others.map((id, index) => [id, index]));
    const names = new Set(runs[1].columns.map(({ name }) => name));
    const page = { site, runs, run: runs[0], key: first.key, ids, match: Int32Array.from(ids, (id) => where.get(id)), indexOf: new Map(ids.map((id, index) => [id, index])), shared: runs[0].columns.filter(({ name }) => names.has(name)), positions: new Uint32Array(0), columns: [], query: "" };
    page.list = heedful.list({ label: "Instances by difference", fill: (row, position) => fill(page, row, position), settled: (from, to) => heedful.listRows.texts(page, from, to), onPick: (position) => route.change({ id: ids[page.positions[position]] }) });
    page.list.element.style.setProperty("--columns", "minmax(8rem, 1fr) repeat(3, minmax(4.2rem, 7rem))");
    page.choice = h("select", { onchange: (event) => route.change({ by: event.target.value }) }, page.shared.map(({ name, title }) => h("option", { value: name }, title)));
    page.plot = h("div", { class: "plot-place" });
    page.side = h("div", { class: "side" });
    page.status = h("p", { class: "status soft", role: "status" });
    return page;
  };

  const show = async (main, state) => {
    const site = await store.site();
    const named = heedful.runOf(site, state.parts[0]);
    const pair = state.parts[1] ? [named, heedful.runOf(site, state.parts[1])] : heedful.compared.pairOf(site, named.key);
    if (!pair) {
      main.append(h("h1", {}, "Compare"), h("section", { class: "absent obstacle", role: "note" }, h("p", { class: "lead" }, "No two runs of this report have read the same texts, so there is nothing to compare."),
        h("p", {}, "Train a second model on the same corpus, with another seed, encoder or attention, and report both.")));
      return;
    }
    const [first, second] = pair;
    view = null;
    main.append(h("div", { class: "page-head" }, h("h1", {}, "Compare")), h("div", { class: "pair" },
      heedful.runSelect(site, first.key, (key) => open(key, second.key), { label: "A" }), heedful.runSelect(site, second.key, (key) => open(first.key, key), { label: "B", without: first.key })));
    const why = heedful.compared.obstacle(site, first, second);
    if (why) {
      const figures = first.key !== second.key && heedful.compared.keyFigures(site, [first, second]);
      main.append(...[h("section", { class: "absent obstacle", role: "note" }, h("p", { class: "lead" }, why[0]), why.slice(1)), figures].filter(Boolean));
      return;
    }
    const page = (view = await build(site, first, second));
    main.append(await heedful.compared.agreement(page), heedful.compared.keyFigures(site, [first, second]), h("h2", {}, "Instance by instance"), h("label", { class: "choice" }, h("span", {}, "Figure"), page.choice),
      h("div", { class: "beside beside-plot" }, page.plot, h("div", { class: "list-place" }, page.status, page.list.element)), page.side);
    await update(state);
  };

  const update = async (state) => {
    const page = view;
    if (!page) return;
    await by(page, state.query.get("by"));
    await choose(page, state.query.get("id") ?? null);
  };

  return { title: "Compare", show, update };
})();
