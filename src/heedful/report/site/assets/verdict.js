// The verdict on a run's attention: marks and words first, colour only repeats them.
"use strict";

heedful.verdict = (() => {
  const { h } = heedful;
  const outcomes = {
    met: { mark: "✓", words: "met" },
    "not met": { mark: "✕", words: "not met" },
    "at least between": { mark: "≈", words: "met or in between" },
    between: { mark: "≈", words: "in between" },
    "at most between": { mark: "≈", words: "in between or not met" },
    open: { mark: "?", words: "not determined" },
    moot: { mark: "–", words: "nothing to win" },
    untested: { mark: "–", words: "not tested" },
  };
  const answers = { yes: "met", "with caution": "between", no: "not met", "not determined": "open" }; // each is coloured as an outcome

  const kindOf = (answer) => name(answers[answer]);
  const name = (outcome) => outcome.replaceAll(" ", "-"); // in classes

  const sign = (outcome, text = outcomes[outcome].words) =>
    h("span", { class: `sign sign-${name(outcome)}` }, h("span", { "aria-hidden": "true" }, `${outcomes[outcome].mark} `), text);

  const answerSign = ({ verdict }) => (verdict.tested ? sign(answers[verdict.answer], verdict.answer) : sign("untested"));

  // The answer for a run, and how many criteria are met and not met.
  const tally = (run) => {
    if (!run.verdict.tested) return sign("untested");
    const counts = heedful.groups(run.verdict.criteria, ({ outcome }) => outcome);
    const known = Object.keys(outcomes).filter((outcome) => counts.has(outcome));
    return h("span", { class: "signs", title: run.verdict.words }, sign(answers[run.verdict.answer], run.verdict.answer),
      h("span", { class: "quiet under" }, known.map((outcome) => `${counts.get(outcome).length} ${outcomes[outcome].words}`).join(", ")));
  };

  const criterion = ({ outcome, question, value, interval, threshold, decisive, words }) => h("li", { title: words }, sign(outcome),
    h("span", {}, question, decisive && h("span", { class: "quiet" }, " (decisive)"), h("br"),
      h("strong", {}, value), h("span", { class: "quiet" }, interval && ` (95 % interval ${interval})`, `; threshold: ${threshold}`)));

  // The answer in words, the criteria of each question, and the answer for each class.
  const full = (run) => h("div", { class: "verdict" },
    h("p", { class: `lead lead-${kindOf(run.verdict.answer)}` }, heedful.printable(run.verdict.words)),
    h("p", { class: "answer-links" }, h("a", { class: "button", href: heedful.route.link("overview", [], { of: run.key }) }, "See it on one text"),
      run.card && h("a", { class: "button", href: run.card.split("/").map(encodeURIComponent).join("/"), target: "_blank", rel: "noopener" }, "Printable card")),
    run.verdict.questions.filter(([, criteria]) => criteria.length).map(([question, criteria]) => [h("h2", {}, question), h("ul", { class: "criteria" }, criteria.map(criterion))]),
    run.verdict.classes.length > 0 && [h("h2", {}, "Class by class"), h("ul", { class: "class-answers" }, run.verdict.classes.map((each) =>
      h("li", {}, sign(answers[each.answer], each.answer), h("span", {}, "Texts decided ", h("strong", {}, h("bdi", {}, heedful.printable(each.name))), h("span", { class: "quiet" }, `: ${heedful.printable(each.words)}`)))))]);

  return { kindOf, answerSign, tally, full };
})();
