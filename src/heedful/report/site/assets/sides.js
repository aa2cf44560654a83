// One instance as two runs see it: their maps side by side, and how far apart their attention is.
"use strict";

heedful.sides = (() => {
  const { h } = heedful;

  const sameItems = (one, other) => one.length === other.length && one.every((token, item) => token === other[item]);

  // How far apart the attention of two runs is, in words; only over the same items can it be said.
  const distance = (first, second) => {
    if (!sameItems(first.text.tokens, second.text.tokens)) {
      return h("p", { class: "note", "data-apart": "other items" }, "One run attends to sentences, the other to words, so their attention cannot be compared. Each is shown on its own items.");
    }
    const apart = heedful.decode.jsd(heedful.decode.renormalise(first.maps.weights), heedful.decode.renormalise(second.maps.weights));
    const alike = heedful.decode.decision(first.maps.output) === heedful.decode.decision(second.maps.output);
    return h("div", { class: "note", "data-apart": apart }, "Their maps are ", h("strong", {}, heedful.plain.apart(apart)), ` apart, and they decide ${alike ? "alike" : "differently"}.`,
      apart > 0.1 && alike ? " Two explanations of one decision." : "", heedful.plain.terms([heedful.plain.jsdTerm(apart)]));
  };

  const side = (known) => {
    const { run, id, maps } = known;
    return h("section", { class: "compared", "data-key": run.key }, h("h4", {}, heedful.printable(run.title)), heedful.instance.headline(known),
      heedful.instance.map(known, { name: "attention", values: maps.weights }),
      h("p", { class: "actions" }, h("a", { href: heedful.route.link("instances", [run.key], { id }) }, "All about it"), h("a", { href: heedful.route.link("what-if", [run.key], { id }) }, "What if …")));
  };

  const draw = (first, second) =>
    h("article", { class: "instance", "data-id": first.id }, h("h3", {}, h("bdi", {}, heedful.heatmap.folded(first.id, 60))), heedful.instance.asked(first),
      distance(first, second), h("div", { class: "sides" }, side(first), side(second)));

  return draw;
})();
