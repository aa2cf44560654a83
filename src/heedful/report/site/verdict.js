// What the tests say of a run's attention, in words with a mark; colour only repeats it.
"use strict";

heedful.verdict = (() => {
  const { h } = heedful;
  const sides = {
    for: { mark: "✓", words: "speaks for it" },
    against: { mark: "✕", words: "speaks against it" },
    undecided: { mark: "≈", words: "undecided" },
    unknown: { mark: "–", words: "not known" },
  };

  // What each test asks, so that yes speaks for attention; where it says several things of a run, in their order.
  const questions = {
    permutation: ["Does it matter which item has which weight?"],
    substitution: ["Does the model need its own weights?"],
    removal: ["Do attended items decide sooner than random ones?", "Do they decide as soon as those that the gradient names?"],
    violation: ["Does the most attended item argue for the decision?"],
    correlation: ["Does attention rank items as importance does?"],
  };

  // What the runs' tests say, by question: [question, sides].
  const byQuestion = (runs) => {
    const said = runs.flatMap((run) => [...heedful.groups(run.verdict.speaks, ({ test }) => test)].flatMap(([test, signs]) =>
      signs.map(({ side }, index) => ({ question: questions[test]?.[index] ?? test.replaceAll("_", " "), side }))));
    return [...heedful.groups(said, ({ question }) => question)].map(([question, signs]) => [question, signs.map(({ side }) => side)]);
  };

  const sign = (side, text = sides[side].words) =>
    h("span", { class: `sign sign-${side}` }, h("span", { "aria-hidden": "true" }, `${sides[side].mark} `), text);

  // How many tests speak for and against the attention of a run: "3 against", "1 for".
  const tally = (run) => {
    const counts = heedful.groups(run.verdict.speaks, (said) => said.side);
    const told = Object.keys(sides).filter((side) => side !== "unknown" && counts.has(side));
    if (!told.length) return sign("unknown", "not tested");
    return h("span", { class: "signs", title: run.verdict.words }, told.map((side) => sign(side, `${counts.get(side).length} ${side}`)));
  };

  // One sentence, then each test's own.
  const full = (run) => h("div", { class: "verdict" },
    h("p", { class: "lead" }, run.verdict.words),
    h("ul", { class: "speaks" }, run.verdict.speaks.map((said) => h("li", {}, sign(said.side), h("span", {}, said.words)))));

  return { sides, byQuestion, sign, tally, full };
})();
