// Two maps of one text and a bar to drag from one to the other; the decision follows.
"use strict";

heedful.pair = (() => {
  const { h, plain } = heedful;
  const STEPS = 100;

  const labelled = (title, note, strip) => h("figure", { class: "pair-map" }, h("figcaption", {}, h("strong", {}, title), note && [" ", note]), strip);

  const recorded = ({ run }, other) => {
    const { tvd, flipped, decision } = other.effect;
    if (tvd === null) return null;
    const what = other.kind === "unattended" ? `the decision’s probability falls by ${plain.points(tvd)}` : `the output moves by ${plain.points(tvd)}`;
    return h("p", { class: "outcome-words" }, flipped === null ? `With this map ${what}.`
      : [flipped ? "With this map the decision changes: " : "With this map the decision stays ", h("bdi", {}, h("strong", {}, heedful.instance.className(run, decision))), `; ${what}.`],
      h("span", { class: "quiet" }, " Measured when the model was tested: this report cannot compute maps in between."));
  };

  const recordedTerms = ({ jsd, kind, effect }) => plain.terms([plain.jsdTerm(jsd), ...(effect.tvd === null || kind === "unattended" ? [] : [plain.tvdTerm(effect.tvd)])]);

  const decided = ({ run, maps }) => {
    const index = heedful.decode.decision(maps.output);
    return h("p", { class: "pair-decided" }, "The model decided ", h("strong", {}, h("bdi", {}, heedful.instance.className(run, index))), ` (${plain.chance(heedful.decode.chances(maps.output)[index])}).`);
  };

  // known: the instance; other: of othermap.js, or null.
  const make = (known, other, deciding) => {
    const { text, maps, run } = known;
    const own = heedful.decode.renormalise(maps.weights);
    const options = { lines: run.sentences, deciding: deciding?.items, maps: other ? [own, other.weights] : [own] };
    const first = heedful.strip(text, options);
    const top = [decided(known), heedful.instance.asked(known), labelled("The model’s attention", null, first.element)];
    if (!other) return h("div", { class: "two-maps" }, top, heedful.deciding.legend(deciding, run), h("p", { class: "quiet" }, text.tokens.length < 2 ? "This text has a single item: there is no other attention." : "No other attention was tested on this text."));
    const second = heedful.strip(text, options);
    second.update(other.weights);
    const title = h("strong", {}, other.title);
    const apart = h("span", { class: "quiet" });
    const far = (jsd) => (apart.textContent = `· ${plain.apart(jsd)}`);
    far(other.jsd);
    const parts = [...top, h("figure", { class: "pair-map" }, h("figcaption", {}, title, " ", apart), second.element)];
    if (!other.live) return h("div", { class: "two-maps" }, parts, recorded(known, other), heedful.deciding.legend(deciding, run), recordedTerms(other));
    const outcome = heedful.outcome(run, heedful.decode.output(maps, run, own));
    const terms = plain.liveTerms();
    const bar = h("input", { type: "range", class: "pair-bar", min: 0, max: STEPS, value: STEPS, "aria-label": "From the model’s attention to the other map" });
    const show = () => {
      const share = Number(bar.value) / STEPS;
      const weights = heedful.otherMap.between(other, share);
      second.update(weights);
      const jsd = heedful.decode.jsd(own, weights);
      far(jsd);
      title.textContent = share === 1 ? other.title : share === 0 ? "The model’s own" : "In between";
      const { text: words, tvd } = outcome.show(heedful.decode.output(maps, run, weights));
      terms.set([plain.jsdTerm(jsd), plain.tvdTerm(tvd)]);
      bar.style.setProperty("--at", `${100 * share}%`);
      bar.setAttribute("aria-valuetext", `${Math.round(100 * share)} % of the way. ${words}`);
    };
    bar.addEventListener("input", show);
    show();
    return h("div", { class: "two-maps" }, parts,
      h("div", { class: "pair-slide" }, h("span", { "aria-hidden": "true" }, "model’s own"), bar, h("span", { "aria-hidden": "true" }, "other map")),
      outcome.element, heedful.deciding.legend(deciding, run), terms.element);
  };

  return make;
})();
