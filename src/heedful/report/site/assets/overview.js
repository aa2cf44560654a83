// The first page: the answer, the story of one run, then all models, all figures and all tables.
"use strict";

heedful.pages.overview = (() => {
  const { h } = heedful;
  const FIGURES = "figures"; // what the fold of all figures is called in addresses
  let current = null; // {site, matrix, count, controls, story, told} on the page

  const asked = (query) => ({ sort: query.get("sort") ?? "", corpus: query.get("corpus") ?? "", model: query.get("model") ?? "", text: query.get("q") ?? "" });
  const FOLDS = "details[data-table], details[data-fold]";
  const nameOf = ({ dataset }) => dataset.table ?? dataset.fold;
  const number = (count, one, many = `${one}s`) => `${heedful.count(count)} ${count === 1 ? one : many}`;

  // What a reader who comes from elsewhere needs to know.
  const about = (site) => {
    const corpora = new Set(site.runs.map((run) => run.corpus_label)).size;
    return h("section", { class: "about", "aria-labelledby": "about" }, h("h2", { id: "about" }, "What was tested"),
      h("p", {}, "A model with attention gives a weight to every word that it reads. Such weights are often shown to people as the reason for a decision: ",
        h("em", {}, "it said so because of these words"), ". That is honest only if the highlighted words are those the decision rests on, and if the model decides through their weights."),
      h("p", {}, `This report applies the tests of Jain & Wallace (2019) and Serrano & Smith (2019), and stricter ones, to ${number(site.runs.length, "model")} on ${number(corpora, "corpus", "corpora")}.`));
  };

  // The models with their answers, in words; one model has its answer above.
  const models = (site) => site.runs.length > 1 && h("section", { "aria-labelledby": "models" }, h("h2", { id: "models" }, "All models in this report"),
    h("ul", { class: "model-list" }, site.runs.map((run) => h("li", {}, h("p", { class: "model-answer" }, heedful.verdict.answerSign(run)),
      h("div", {}, h("p", { class: "model-title" }, h("a", { href: heedful.route.link("overview", [], { of: run.key }) }, heedful.printable(run.title))), h("p", { class: "quiet" }, heedful.printable(run.verdict.reason)))))));

  const choice = (label, name, values) => {
    const select = h("select", { onchange: () => heedful.route.change({ [name]: select.value }) },
      h("option", { value: "" }, "all"), values.map((value) => h("option", { value }, heedful.printable(value))));
    return { name, input: select, element: h("label", { class: "choice" }, h("span", {}, label), select) };
  };

  const search = () => {
    const input = h("input", { type: "search", placeholder: "corpus, encoder, seed …", oninput: () => heedful.route.change({ q: input.value }) });
    return { name: "q", input, element: h("label", { class: "choice" }, h("span", {}, "Search"), input) };
  };

  // What is unfolded is part of the address.
  const toggled = () => {
    const open = [...current.main.querySelectorAll(FOLDS)].filter((one) => one.open).map(nameOf);
    if (current.main.isConnected && heedful.route.now().page === "overview") heedful.route.change({ open: open.join(",") });
  };

  const tables = (site) => site.tables.length > 0 && h("section", { "aria-labelledby": "tables" }, h("h2", { id: "tables" }, "Tables"),
    h("p", { class: "quiet" }, "Over all runs, beside the papers’ figures where they know them; each to take away as CSV, Markdown and LaTeX."),
    site.tables.map((table) => heedful.foldedTable(table, { link: (key) => heedful.route.link("run", [key]) }, toggled)));

  const unfold = (names) => {
    for (const details of current.main.querySelectorAll(FOLDS)) details.open = names.includes(nameOf(details));
  };

  const notes = (site) => {
    const missing = [...heedful.groups(site.runs.flatMap((run) => run.missing.map((sentence) => ({ run, sentence }))), ({ sentence }) => sentence)];
    return [
      site.refused.length > 0 && h("section", { "aria-labelledby": "refused" }, h("h2", { id: "refused" }, "Left out"),
        h("p", {}, "These folders were named, but cannot be shown."),
        h("ul", { class: "missing" }, site.refused.map(({ folder, reason }) => h("li", {}, h("code", {}, heedful.printable(folder)), `: ${heedful.printable(reason)}`)))),
      missing.length > 0 && h("section", { "aria-labelledby": "missing" }, h("h2", { id: "missing" }, "Not performed"),
        h("ul", { class: "missing" }, missing.map(([sentence, where]) => h("li", {}, sentence, " ", h("span", { class: "quiet" }, `(${number(where.length, "run")})`))))),
    ];
  };

  // The figures of all runs, for whoever knows what tau and JSD are.
  const figures = (site, controls, count, matrix) => h("details", { class: "fold", "data-fold": FIGURES, ontoggle: toggled },
    h("summary", {}, h("h2", { id: "runs" }, "All figures")),
    site.runs.length > 0 ? [h("div", { class: "tools" }, controls.map(({ element }) => element), count), matrix, heedful.legend(site.figures)] : h("p", {}, "This report holds no run."));

  // The answer and the story of one run, and of one of its texts.
  const tell = async (state) => {
    const { site, story } = current;
    if (!site.runs.length) return;
    const run = site.runs.find(({ key }) => key === state.query.get("of")) ?? heedful.answer.first(site);
    const last = Math.max(0, run.story.texts.length - 1);
    const place = Math.min(last, Math.max(0, Number.parseInt(state.query.get("text") ?? "0", 10) || 0));
    const told = `${run.key}/${place}`;
    if (current.told === told) return;
    current.told = told;
    const found = await heedful.story.load(run, place).catch(() => null); // the answer stands without a text
    if (current.told !== told) return; // another one was asked for in the meantime
    const focused = story.contains(document.activeElement) ? document.activeElement.dataset.do : null;
    story.replaceChildren(heedful.answer.hero(site, run, found, place), h("div", { class: "steps-of-story" }, heedful.story.steps(run, found)));
    if (focused) story.querySelector(`[data-do="${focused}"]`)?.focus();
  };

  const update = async (state) => {
    const wanted = asked(state.query);
    const box = current.matrix;
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
    box.firstElementChild.replaceChildren(heedful.matrix.table(current.site, wanted, (sort) => heedful.route.change({ sort })));
    if (focused) box.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
    current.count.textContent = `${heedful.count(heedful.matrix.count(current.site, wanted))} of ${number(current.site.runs.length, "run")}`;
    for (const { name, input } of current.controls) if (input !== document.activeElement) input.value = state.query.get(name) ?? "";
    const open = (state.query.get("open") ?? "").split(",");
    unfold(Object.values(wanted).some(Boolean) ? [...open, FIGURES] : open);
    await tell(state);
  };

  const show = async (main, state) => {
    const site = await heedful.store.site();
    const distinct = (name) => [...new Set(site.runs.map((run) => run[name]))];
    const controls = [choice("Corpus", "corpus", distinct("corpus_label")), choice("Model", "model", distinct("model_label")), search()];
    const count = h("p", { class: "quiet", "aria-live": "polite" });
    const matrix = h("div", {}, heedful.scroller("Runs", ""));
    const story = h("div", { class: "story" });
    current = { site, main, matrix, count, controls, story, told: null };
    main.append(...[site.runs.length > 0 ? story : h("h1", {}, "This report holds no run."),
      models(site), figures(site, controls, count, matrix), tables(site), about(site), ...notes(site)].filter(Boolean));
    await update(state);
  };

  return { title: "Overview", show, update };
})();
