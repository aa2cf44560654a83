// The answer above everything else: the question, one word, a sentence, and one text on which to see it.
"use strict";

heedful.answer = (() => {
  const { h, route } = heedful;
  const QUESTION = "May this attention be shown as an explanation?";
  const words = { yes: "Yes.", "with caution": "With caution.", no: "No.", "not determined": "Not determined." };
  const severity = ["no", "with caution", "yes", "not determined"];
  const kind = (answer) => answer.replace(" ", "-");

  // Runs by answer, worst first.
  const byAnswer = (site) => severity.map((answer) => [answer, site.runs.filter((run) => run.verdict.answer === answer)]).filter(([, runs]) => runs.length);

  // The run that a report begins with: the first of those with the most frequent answer, a determined one if there is any.
  const first = (site) => {
    const known = byAnswer(site);
    const determined = known.filter(([answer]) => answer !== "not determined");
    return (determined.length ? determined : known).reduce((most, one) => (one[1].length > most[1].length ? one : most))[1][0];
  };

  // Which answers there are when a report is about several models, and the choice of one of them.
  const others = (site, run) => site.runs.length > 1 && h("div", { class: "models" },
    heedful.runSelect(site, run.key, (key) => route.change({ of: key, text: null }), { label: `One of ${heedful.count(site.runs.length)} models in this report` }),
    h("p", { class: "tally" }, byAnswer(site).map(([answer, runs]) => h("a", { class: `sign sign-${heedful.verdict.kindOf(answer)}`, href: route.link("overview", [], { of: runs[0].key }), "aria-current": answer === run.verdict.answer && "true" },
      `${words[answer].slice(0, -1)}: ${heedful.count(runs.length)}`))));

  const links = (run) => h("p", { class: "answer-links" }, h("a", { class: "button", href: route.link("run", [run.key]) }, "Why: all criteria"),
    run.card && h("a", { class: "button", href: run.card.split("/").map(encodeURIComponent).join("/"), target: "_blank", rel: "noopener" }, "Printable card"));

  // What the heading of a run's answer says.
  const heading = (run) => h("h1", { class: "answer-head" }, h("span", { class: "answer-question" }, QUESTION), " ",
    h("span", { class: `answer-word answer-${kind(run.verdict.answer)}` }, words[run.verdict.answer]));

  // place: which text of the story is shown.
  const hero = (site, run, found, place) => {
    const count = run.story.texts.length;
    const next = count > 1 && h("button", { type: "button", "data-do": "next-text", onclick: () => route.change({ text: String((place + 1) % count) }) }, "Another text");
    return h("section", { class: "hero", "aria-label": "The answer" },
      h("div", { class: "hero-words" }, heading(run), h("p", { class: "lead hero-reason" }, heedful.printable(run.verdict.reason)),
        h("p", { class: "quiet hero-about" }, heedful.printable(run.title), ` · ${heedful.count(run.n)} texts`), links(run), others(site, run)),
      h("div", { class: "hero-figure" }, found ? [heedful.pair(found.known, found.other, found.deciding), next] : h("p", { class: "quiet" }, "This run has no texts to show.")));
  };

  return { first, hero };
})();
