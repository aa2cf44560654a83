// Any attention, tried on the spot: bars to drag, whole maps to choose, and what the model decides.
"use strict";

heedful.trying = (() => {
  const { h, route } = heedful;
  const FEW = 8; // bars of the words with most weight

  // known: the instance; other: of othermap.js; to be used where outputs can be computed (other.live).
  const make = (known, other) => {
    const { run, text, maps } = known;
    const { own } = other;
    const outcome = heedful.outcome(run, heedful.decode.output(maps, run, own));
    const starts = { own: ["The model’s own", own], other: [other.title, other.weights], uniform: [run.sentences ? "All sentences alike" : "All words alike", own.map(() => 1 / own.length)] };
    if (other.kind === "uniform") delete starts.uniform;
    let state = { start: "own", set: new Map() };
    let begun = other.weights;
    let weights = begun;
    const show = () => {
      equaliser.update(weights);
      outcome.show(heedful.decode.output(maps, run, weights));
    };
    const change = (item, weight) => {
      state = heedful.weights.change(state, weights, item, weight);
      weights = heedful.weights.apply(state, begun, null);
      for (const button of buttons.children) button.setAttribute("aria-pressed", "false");
      show();
    };
    const weight = own.map((value, item) => Math.max(value, other.weights[item]));
    const shown = new Set([...weight.keys()].sort((one, next) => weight[next] - weight[one] || one - next).slice(0, FEW));
    const equaliser = heedful.equaliser({ tokens: text.tokens, lines: run.sentences, own, shown, change, begin: () => {}, end: () => {}, pick: () => {} });
    const start = (name) => {
      state = { start: "own", set: new Map() };
      begun = weights = starts[name][1];
      for (const button of buttons.children) button.setAttribute("aria-pressed", String(button.dataset.start === name));
      show();
    };
    const buttons = h("div", { class: "actions", role: "group", "aria-label": "Attention to begin with" },
      Object.entries(starts).map(([name, [title]]) => h("button", { type: "button", "data-start": name, "aria-pressed": String(name === "other"), onclick: () => start(name) }, title)));
    show();
    return h("div", { class: "trying" }, buttons, outcome.element, equaliser.element,
      h("p", {}, h("a", { href: route.link("what-if", [run.key], { id: known.id }) }, "More of this under What if")));
  };

  return make;
})();
