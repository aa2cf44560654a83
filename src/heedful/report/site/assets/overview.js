// The first page: the question, the answer of the models of this report, the matrix of runs, all tables.
"use strict";

heedful.pages.overview = (() => {
  const { h } = heedful;
  let current = null; // {site, matrix, count, controls} on the page

  const asked = (query) => ({ sort: query.get("sort") ?? "", corpus: query.get("corpus") ?? "", model: query.get("model") ?? "", text: query.get("q") ?? "" });
  const number = (count, one, many = `${one}s`) => `${heedful.count(count)} ${count === 1 ? one : many}`;

  const question = (site) => {
    const corpora = new Set(site.runs.map((run) => run.corpus_label)).size;
    return h("section", { class: "question" },
      h("h1", {}, "May attention be shown as an explanation?"),
      h("p", { class: "lead" }, "A model with attention gives a weight to every word that it reads. Such weights are often shown to people as the reason for a decision: ",
        h("em", {}, "it said so because of these words"), ". That is honest only if other weights would have led to another decision, and if the words with much weight are those that decide."),
      h("p", {}, `This report applies the tests of Jain & Wallace (2019) and Serrano & Smith (2019), and stricter ones, to ${number(site.runs.length, "trained model")} on ${number(corpora, "corpus", "corpora")}.`),
      h("p", { class: "striking", hidden: true }));
  };

  // For each criterion, in how many models it is met, and in how many not.
  const answer = (site) => {
    const part = (found, outcome) => {
      const count = found.filter((one) => one === outcome).length;
      const { mark, words } = heedful.verdict.outcomes[outcome];
      return count > 0 && h("span", { class: `share share-${heedful.verdict.name(outcome)}`, style: { "flex-grow": String(count) } }, `${mark} ${count} ${words}`);
    };
    return site.runs.length > 0 && h("section", { "aria-labelledby": "answer" }, h("h2", { id: "answer" }, "What the tests say"),
      h("p", { class: "quiet" }, "The criteria of the verdict, and how many models meet each of them."),
      h("dl", { class: "answer" }, heedful.verdict.byQuestion(site.runs).map(([question, found]) => h("div", {}, h("dt", {}, question),
        h("dd", {}, h("span", { class: "shares" }, Object.keys(heedful.verdict.outcomes).map((outcome) => part(found, outcome))))))));
  };

  const choice = (label, name, values) => {
    const select = h("select", { onchange: () => heedful.route.change({ [name]: select.value }) },
      h("option", { value: "" }, "all"), values.map((value) => h("option", { value }, heedful.printable(value))));
    return { name, input: select, element: h("label", { class: "choice" }, h("span", {}, label), select) };
  };

  const search = () => {
    const input = h("input", { type: "search", placeholder: "corpus, encoder, seed …", oninput: () => heedful.route.change({ q: input.value }) });
    return { name: "q", input, element: h("label", { class: "choice" }, h("span", {}, "Search"), input) };
  };

  // Which tables are open is part of the address.
  const toggled = () => {
    const open = [...current.main.querySelectorAll("details[data-table][open]")].map((one) => one.dataset.table);
    if (current.main.isConnected && heedful.route.now().page === "overview") heedful.route.change({ open: open.join(",") });
  };

  const tables = (site) => site.tables.length > 0 && h("section", { "aria-labelledby": "tables" }, h("h2", { id: "tables" }, "Tables"),
    h("p", { class: "quiet" }, "Over all runs, beside the papers’ figures where they know them; each to take away as CSV, Markdown and LaTeX."),
    site.tables.map((table) => heedful.foldedTable(table, { link: (key) => heedful.route.link("run", [key]) }, toggled)));

  const unfold = (names) => {
    for (const details of current.main.querySelectorAll("details[data-table]")) details.open = names.includes(details.dataset.table);
  };

  const notes = (site) => {
    const missing = [...heedful.groups(site.runs.flatMap((run) => run.missing.map((sentence) => ({ run, sentence }))), ({ sentence }) => sentence)];
    return [
      site.refused.length > 0 && h("section", { "aria-labelledby": "refused" }, h("h2", { id: "refused" }, "Left out"),
        h("p", {}, "These folders were named, but cannot be shown."),
        h("ul", { class: "missing" }, site.refused.map(({ folder, reason }) => h("li", {}, h("code", {}, heedful.printable(folder)), `: ${heedful.printable(reason)}`)))),
      missing.length > 0 && h("section", { "aria-labelledby": "missing" }, h("h2", { id: "missing" }, "Not performed"),
        h("ul", { class: "missing" }, missing.map(([sentence, where]) => h("li", {}, sentence, " ", h("span", { class: "quiet" }, number(where.length, "run")))))),
    ];
  };

  // One instance to begin with, from the run whose attention could differ most; the page does not wait for it.
  const striking = async (site, place) => {
    const furthest = heedful.sorting.sorted(site.runs.filter(({ figures }) => figures.jsd), ({ figures }) => figures.jsd.value, true);
    let run = null;
    for (const { key } of furthest.slice(0, 3)) { // a run need not have a gallery; to look further would take long
      run = await heedful.store.run(key);
      if (run.gallery.length) break;
    }
    const item = run?.gallery[0];
    if (!item) return;
    const { tokens } = await heedful.store.text(run.key, item.index);
    const words = `“${heedful.printable([...tokens.slice(0, 10).join(" ")].slice(0, 100).join(""))} …”`;
    place.append("Begin with one text: ", h("a", { href: heedful.route.link("instances", [run.key], { id: item.id }) }, words),
      " Next to the model’s attention is a very different one that gives nearly the same output.");
    place.hidden = false;
  };

  const update = (state) => {
    const wanted = asked(state.query);
    const box = current.matrix;
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.sort : null;
    box.firstElementChild.replaceChildren(heedful.matrix.table(current.site, wanted, (sort) => heedful.route.change({ sort })));
    if (focused) box.querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
    current.count.textContent = `${heedful.count(heedful.matrix.count(current.site, wanted))} of ${number(current.site.runs.length, "run")}`;
    for (const { name, input } of current.controls) if (input !== document.activeElement) input.value = state.query.get(name) ?? "";
    unfold((state.query.get("open") ?? "").split(","));
  };

  const show = async (main, state) => {
    const site = await heedful.store.site();
    const distinct = (name) => [...new Set(site.runs.map((run) => run[name]))];
    const controls = [choice("Corpus", "corpus", distinct("corpus_label")), choice("Model", "model", distinct("model_label")), search()];
    const count = h("p", { class: "quiet", "aria-live": "polite" });
    const matrix = h("div", {}, heedful.scroller("Runs", ""));
    current = { site, main, matrix, count, controls };
    const intro = question(site);
    main.append(...[intro, answer(site),
      h("section", { "aria-labelledby": "runs" }, h("h2", { id: "runs" }, "Runs"),
        site.runs.length > 0 ? [h("div", { class: "tools" }, controls.map(({ element }) => element), count), matrix, heedful.legend(site.figures)] : h("p", {}, "This report holds no run.")),
      tables(site), ...notes(site)].filter(Boolean));
    update(state);
    striking(site, intro.querySelector(".striking")).catch(() => {}); // a courtesy: the page is whole without
  };

  return { title: "Overview", show, update };
})();
