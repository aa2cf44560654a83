// The map that the story sets beside the model's own, and what it does to the decision: computed in the page where the
// evidence allows it, as the tests recorded it elsewhere.
"use strict";

heedful.otherMap = (() => {
  // What it is called, and how it was made.
  const kinds = {
    adversarial: { title: "Another map", made: "the most different weights that hardly move the output" },
    unattended: { title: "Without the top words", made: "no weight on the words that hold most of it" },
    uniform: { title: "All words alike", made: "every word gets the same weight" },
  };

  // told: of the story; known: the instance. {kind, title, made, own, weights, jsd, live, effect: {tvd, flipped, decision}}, or
  // null if there is none. What is unknown of the effect is null.
  const find = (told, known) => {
    const { maps, text, run } = known;
    const own = heedful.decode.renormalise(maps.weights);
    let weights = null;
    if (told.other === "adversarial" && maps.adversarial) weights = heedful.decode.renormalise(maps.adversarial);
    if (told.other === "unattended") weights = heedful.decode.removal(maps.weights, told.items);
    if (told.other === "uniform") weights = own.map(() => 1 / own.length);
    if (!weights || text.tokens.length < 2 || !weights.some((weight) => weight > 0)) return null;
    const live = heedful.decode.possible(maps, run);
    const decided = heedful.decode.decision(maps.output);
    const { title, made } = kinds[told.other];
    const words = (line) => (run.sentences ? line.replace("words", "sentences").replace("word", "sentence") : line);
    return { kind: told.other, title: words(title), made: words(made), own, weights, live, jsd: heedful.decode.jsd(own, weights),
      effect: live ? computed(known, own, weights) : { tvd: told.moved, decision: told.decision, flipped: told.decision === null ? null : told.decision !== decided } };
  };

  const computed = ({ maps, run }, own, weights) => {
    const [before, after] = [own, weights].map((map) => heedful.decode.output(maps, run, map));
    const decision = heedful.decode.decision(after);
    return { tvd: heedful.decode.tvd(before, after), decision, flipped: decision !== heedful.decode.decision(before) };
  };

  // Part of the way from one map to the other.
  const between = ({ own, weights }, share) => own.map((weight, item) => (1 - share) * weight + share * weights[item]);

  return { find, between };
})();
