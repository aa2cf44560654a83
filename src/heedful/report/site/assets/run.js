// One run: what it is, what its tests found, its charts with filters, its striking instances, its tables.
"use strict";

heedful.pages.run = (() => {
  const { h } = heedful;
  let current = null; // {run, boxes, controls} of the run on the page

  // The page's filters as conditions on columns.
  const conditions = (query) => {
    const chosen = {};
    if (query.get("class")) chosen.decision = [Number(query.get("class")), Number(query.get("class"))];
    if (query.get("only")) chosen.wrong = query.get("only") === "wrong" ? [1, 1] : [0, 0];
    return chosen;
  };

  const choice = (label, name, options) => {
    const select = h("select", { name, onchange: () => heedful.route.change({ [name]: select.value }) },
      options.map(([value, text]) => h("option", { value }, text)));
    return { name, select, element: h("label", { class: "choice" }, h("span", {}, label), select) };
  };

  const filters = (run) => [
    choice("Decided class", "class", [["", "every class"], ...run.classes.map((name, index) => [String(index), heedful.printable(name)])]),
    choice("Decisions", "only", [["", "right and wrong"], ["right", "right ones only"], ["wrong", "wrong ones only"]]),
  ];

  // The first of each kind; the others are unfolded on demand.
  const gallery = (run) => {
    const kinds = [...heedful.groups(run.gallery, ({ rank, decision }) => `${rank} ${decision}`).values()];
    const [first, others] = [kinds.flatMap((kind) => kind.slice(0, 2)), kinds.flatMap((kind) => kind.slice(2))];
    return first.length > 0 && h("section", { "aria-labelledby": "gallery" }, h("h2", { id: "gallery" }, "Striking texts"),
      h("p", { class: "quiet" }, "Each with the model’s attention and the most different map that gives nearly the same output. The further they are apart, the less the model’s map explains."),
      heedful.cards.list(run, first), others.length > 0 && h("details", {}, h("summary", {}, `${heedful.count(others.length)} more`), heedful.cards.list(run, others)));
  };

  // Lines that begin with a dash belong to the line above them.
  const words = (lines) => {
    const list = h("ul", { class: "words" });
    const named = (line) => { // "permutation: the same weights …"
      const [, name, rest] = /^([a-z -]{1,24}: )(.+)$/s.exec(line) ?? [null, null, line];
      return h("li", {}, name && h("strong", {}, name), rest);
    };
    for (const line of lines) {
      const above = list.lastElementChild;
      if (!line.startsWith("- ") || !above) list.append(named(line));
      else (above.querySelector("ul") ?? above.appendChild(h("ul"))).append(named(line.slice(2)));
    }
    return list;
  };

  const update = async (state) => {
    current.controls.forEach(({ name, select }) => (select.value = state.query.get(name) ?? ""));
    const chosen = conditions(state.query);
    const left = await heedful.rows.select(current.run, chosen);
    current.count.textContent = left.length === current.run.n ? `All ${heedful.count(left.length)} instances.` : `${heedful.count(left.length)} of ${heedful.count(current.run.n)} instances.`;
    current.instances.setAttribute("href", heedful.route.link("instances", [current.run.key], { where: heedful.rows.where(chosen) }));
    current.boxes.forEach((box) => box.filter(chosen));
  };

  const show = async (main, state) => {
    const site = await heedful.store.site();
    const run = await heedful.store.run(heedful.runOf(site, state.parts[0]).key);
    const absent = run.charts.filter((chart) => chart.missing);
    const boxes = run.charts.filter((chart) => !chart.missing).map((chart) => heedful.chartBox(run, chart));
    const controls = filters(run);
    const count = h("p", { class: "quiet", "aria-live": "polite" });
    const instances = h("a", { href: heedful.route.link("instances", [run.key]) }, "See them in Instances");
    current = { run, boxes, controls, count, instances };
    main.append(...[
      h("div", { class: "page-head" }, h("h1", {}, heedful.printable(run.title)), site.runs.length > 1 && heedful.runSelect(site, run.key)),
      heedful.verdict.full(run),
      gallery(run),
      h("details", { class: "fold", "data-fold": "found" }, h("summary", {}, h("h2", { id: "found" }, "Details: what each test found")),
        words(run.words),
        run.missing.length > 0 && h("ul", { class: "missing" }, run.missing.map((sentence) => h("li", {}, sentence)))),
      h("section", { "aria-labelledby": "charts" }, h("h2", { id: "charts" }, "Charts"),
        h("div", { class: "tools", role: "group", "aria-label": "Filters of all charts" }, controls.map(({ element }) => element), count, instances),
        h("div", { class: "chart-grid" }, boxes.map(({ element }) => element)),
        absent.length > 0 && [h("h3", { class: "absent" }, "Not drawn"), h("ul", { class: "missing" }, absent.map((chart) => h("li", {}, `${chart.title}: ${chart.missing}`)))]),
      run.tables.length > 0 && h("section", { "aria-labelledby": "tables" }, h("h2", { id: "tables" }, "Tables"),
        run.tables.map((table) => heedful.foldedTable(table, { own: run.key }))),
      h("section", { "aria-labelledby": "model" }, h("h2", { id: "model" }, "The model"),
        h("div", { class: "columns" }, heedful.facts.metrics(run.metrics), heedful.facts.history(run.history)), heedful.facts.list(run.facts)),
    ].filter(Boolean));
    await update(state);
  };

  return { title: "Run", show, update };
})();
