// The matrix of the Overview: one row a run, one column a key figure, by corpus or in the order of a figure.
"use strict";

heedful.matrix = (() => {
  const { h } = heedful;
  const format = (value, kind) => (kind === "percent" ? heedful.percent(value) : heedful.figure(value));

  // Bars of shares are of 1; those of other figures of the largest in their column.
  const scale = (runs, figure) => (figure.kind === "percent" ? 1 : Math.max(...runs.map((run) => Math.abs(run.figures[figure.name]?.value ?? 0))) || 1);

  const cell = (run, figure, most) => {
    const told = run.figures[figure.name];
    if (!told) return h("td", { class: "number none", title: `${figure.title}: not known` }, "–");
    const { value, low = null, high = null, n = null } = told;
    const interval = low !== null && high !== null;
    const range = interval ? `, 95 % interval ${format(low, figure.kind)} to ${format(high, figure.kind)}` : "";
    const ends = interval && value >= 0 ? { low: low / most, high: high / most } : {};
    return h("td", { class: "number bar-cell", title: `${figure.title} ${format(value, figure.kind)}${range}${n === null ? "" : `, ${heedful.count(n)} instances`}` },
      format(value, figure.kind), heedful.bar(value / most, ends));
  };

  const row = (run, figures, scales, { flat }) => h("tr", { "data-run": run.key },
    h("th", { scope: "row" }, h("a", { href: heedful.route.link("run", [run.key]) }, heedful.printable(run.model_label)),
      h("span", { class: "quiet under" }, [flat && heedful.printable(run.corpus_label), `${heedful.count(run.n)} texts`].filter(Boolean).join(" · "))),
    h("td", {}, heedful.verdict.tally(run)),
    figures.map((figure, place) => cell(run, figure, scales[place])));

  const matches = (run, { corpus, model, text }) => (!corpus || run.corpus_label === corpus) && (!model || run.model_label === model)
    && text.toLowerCase().split(/\s+/).every((word) => `${run.title} seed ${run.seed} ${run.preset}`.toLowerCase().includes(word));

  const value = (run, name) => (name === "model" ? `${run.model_label} ${run.corpus_label}` : name === "corpus" ? `${run.corpus_label} ${run.model_label}` : run.figures[name]?.value);

  // The runs that the reader asked for, in groups [corpus, runs]; one group without a name when a figure orders them.
  const arrange = (site, asked) => {
    const found = site.runs.filter((run) => matches(run, asked));
    const { name, descending } = heedful.sorting.parse(asked.sort);
    if (!name) return [...heedful.groups(found, (run) => run.corpus_label)];
    return [[null, heedful.sorting.sorted(found, (run) => value(run, name), descending)]];
  };

  // `asked` is {sort, corpus, model, text}; `choose` takes another order.
  const table = (site, asked, choose) => {
    const groups = arrange(site, asked);
    const scales = site.figures.map((figure) => scale(site.runs, figure));
    const head = (column, numeric) => heedful.sorting.header({ ...column, numeric }, asked.sort, choose);
    const bodies = groups.map(([corpus, runs]) => h("tbody", {},
      corpus !== null && h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: site.figures.length + 2 }, h("span", {}, heedful.printable(corpus)))),
      runs.map((run) => row(run, site.figures, scales, { flat: corpus === null }))));
    return h("table", { class: "matrix" }, h("caption", {}, "Runs by corpus; each figure is a mean over the test texts"),
      h("thead", {}, h("tr", {}, head({ name: "model", title: "model", meaning: "Kind, encoder and attention of the model." }, false),
        h("th", { scope: "col" }, "may be shown?"), site.figures.map((figure) => head(figure, true)))), bodies);
  };

  const count = (site, asked) => arrange(site, asked).reduce((sum, [, runs]) => sum + runs.length, 0);

  return { table, count };
})();
