// What the weights as they are now do to the decision: classes, distances, and a sentence. Figures in full precision
// stand in data attributes, for whoever wants to check them.
"use strict";

heedful.readout = (() => {
  const { h, plain } = heedful;
  const FEW = 6; // classes that are shown

  // A bar for a distance, from 0 to `most`; `told` says it in words.
  const scale = (label, meaning, most, told) => {
    const fill = h("span", { class: "scale-fill" });
    const value = h("strong", { class: "scale-value" });
    const element = h("div", { class: "scale", title: meaning }, h("span", { class: "scale-name" }, label), h("span", { class: "scale-track" }, fill), value);
    const set = (number) => {
      fill.style.setProperty("--at", Math.min(1, number / most).toFixed(4));
      value.textContent = told(number);
    };
    return { element, set };
  };

  // own: the output under the model's own attention.
  const make = (run, own) => {
    const before = heedful.decode.decision(own);
    const chances = heedful.decode.chances(own);
    const tvd = scale("output moved", "By how many points of a percentage the chances of the classes have moved.", 1, plain.points);
    const jsd = scale("map changed", "How far it is from the model's map: 100 % is the largest possible difference.", Math.LN2, plain.share);
    const terms = plain.liveTerms();
    const verdict = h("p", { class: "verdict-now" });
    const spoken = h("p", { class: "visually-hidden", role: "status" });
    const classes = h("div", { class: "class-bars" });
    const element = h("section", { class: "readout", "aria-label": "What the model says now" }, verdict,
      h("div", { class: "readout-bars" }, classes, h("div", { class: "scales" }, jsd.element, tvd.element, terms.element)), spoken);
    const name = (index) => h("bdi", {}, heedful.instance.className(run, index));
    let bars = null; // {shown, rows}

    // Of many classes, those that are or were likely.
    const likely = (now) => {
      const most = now.map((chance, index) => Math.max(chance, chances[index]));
      return [...most.keys()].sort((one, other) => most[other] - most[one] || one - other).slice(0, FEW).sort((one, other) => one - other);
    };
    const drawBars = (shown) => {
      const rows = shown.map((index) => {
        const fill = h("span", { class: "class-fill" });
        const value = h("span", { class: "class-value" });
        const row = h("div", { class: `class-bar${index === before ? " class-before" : ""}`, "data-class": index }, h("span", { class: "class-name" }, name(index)),
          h("span", { class: "class-track" }, fill, h("span", { class: "class-own", style: { "--at": chances[index].toFixed(4) } })), value);
        return { index, row, fill, value };
      });
      const hidden = chances.length - shown.length;
      classes.replaceChildren(...rows.map(({ row }) => row), hidden ? h("p", { class: "soft class-rest" }, `and ${hidden} less likely classes`) : "");
      bars = { key: shown.join(), rows };
    };

    let speaking = 0;
    // Returns the figures: {tvd, jsd, decision, flipped}.
    const show = (output, weights, ownWeights) => {
      const now = heedful.decode.chances(output);
      const decision = heedful.decode.decision(output);
      const figures = { tvd: heedful.decode.tvd(own, output), jsd: heedful.decode.jsd(ownWeights, weights), decision, flipped: decision !== before };
      const shown = likely(now);
      if (bars?.key !== shown.join()) drawBars(shown);
      for (const { index, row, fill, value } of bars.rows) {
        fill.style.setProperty("--at", now[index].toFixed(4));
        value.textContent = `${heedful.figure(now[index], 3)}`;
        row.classList.toggle("class-decided", index === decision);
      }
      tvd.set(figures.tvd);
      jsd.set(figures.jsd);
      terms.set([plain.jsdTerm(figures.jsd), plain.tvdTerm(figures.tvd)]);
      element.classList.toggle("flipped", figures.flipped);
      const p = (index, list) => ` (p = ${heedful.figure(list[index], 3)})`;
      if (figures.flipped) verdict.replaceChildren(h("strong", { class: "loud" }, "The decision flipped: ", name(decision)), `${p(decision, now)} instead of `, name(before), `${p(before, chances)}.`);
      else if (figures.jsd < 1e-12) verdict.replaceChildren("The model's own attention: it decides ", h("strong", {}, name(before)), `${p(before, chances)}.`);
      else verdict.replaceChildren("Still ", h("strong", {}, name(decision)), `${p(decision, now)}${words(figures)}`);
      Object.assign(element.dataset, { tvd: figures.tvd, jsd: figures.jsd, decision, flipped: figures.flipped, output: JSON.stringify(Array.from(output)) });
      clearTimeout(speaking);
      speaking = setTimeout(() => (spoken.textContent = `${verdict.textContent} The output moved by ${plain.points(figures.tvd)}; the map is ${plain.apart(figures.jsd)} away.`), 400);
      return figures;
    };

    return { element, show };
  };

  // What it means when attention has moved far and the prediction has not, or the other way round.
  const words = ({ tvd, jsd }) => {
    if (jsd > 0.1 && tvd < 0.05) return ": another map, and the model hardly cares.";
    if (tvd > 0.2) return ": less sure or surer than it was, but no other decision.";
    return ".";
  };

  return make;
})();
