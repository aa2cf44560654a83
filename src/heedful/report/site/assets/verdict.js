// The verdict on a run's attention: marks and words first, colour only repeats them.
"use strict";

heedful.verdict = (() => {
  const { h } = heedful;
  const outcomes = {
    met: { mark: "✓", words: "met" },
    "not met": { mark: "✕", words: "not met" },
    open: { mark: "≈", words: "inconclusive" },
    untested: { mark: "–", words: "not tested" },
  };
  const answers = { yes: "met", "with caution": "open", no: "not met" }; // each is coloured as an outcome

  const name = (outcome) => outcome.replace(" ", "-"); // in classes

  // The criteria of all runs: [question, outcomes].
  const byQuestion = (runs) => {
    const criteria = runs.flatMap((run) => run.verdict.criteria);
    return [...heedful.groups(criteria, (criterion) => criterion.name).values()].map((same) => [same[0].question, same.map(({ outcome }) => outcome)]);
  };

  const sign = (outcome, text = outcomes[outcome].words) =>
    h("span", { class: `sign sign-${name(outcome)}` }, h("span", { "aria-hidden": "true" }, `${outcomes[outcome].mark} `), text);

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

  // The answer in words, then each criterion.
  const full = (run) => h("div", { class: "verdict" },
    h("p", { class: "lead" }, run.verdict.words),
    h("ul", { class: "criteria" }, run.verdict.criteria.map(criterion)));

  return { outcomes, name, byQuestion, sign, tally, full };
})();
