// Figures in plain words: chances, places, how different two maps are. What the field calls them stands behind "details".
"use strict";

heedful.plain = (() => {
  const { h } = heedful;

  // A chance as people read it; what is nearly certain is not called certain.
  const chance = (p) => {
    const percent = 100 * p;
    if (percent > 0 && percent < 0.1) return "<\u00a00.1\u00a0%";
    if (percent < 100 && percent > 99.9) return ">\u00a099.9\u00a0%";
    return `${percent > 0 && (percent < 1 || percent > 99) && percent < 100 ? percent.toFixed(1) : Math.round(percent)}\u00a0%`;
  };

  // By how much an output has moved: total variation distance, in points of a percentage.
  const points = (tvd) => {
    const moved = 100 * tvd;
    if (moved < 0.05) return moved > 1e-9 ? "<\u00a00.1\u00a0points" : "0\u00a0points"; // rounding is no movement
    return `${moved.toFixed(moved < 10 ? 1 : 0)}\u00a0points`;
  };

  // How different two maps are, as a share of the largest possible difference: ln 2, between two distributions.
  const share = (jsd) => {
    const percent = (100 * jsd) / Math.LN2;
    if (percent > 99 && percent < 99.99) return "over 99\u00a0%";
    return percent > 0 && percent < 1 ? "under 1\u00a0%" : `${Math.round(percent)}\u00a0%`;
  };
  const apart = (jsd) => `${share(jsd)} of the largest possible difference`;

  const ordinal = (number) => {
    const tens = number % 100;
    const ending = tens > 10 && tens < 14 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" })[number % 10] ?? "th";
    return `${heedful.count(number)}${ending}`;
  };

  // The place of an item by the size of its value, from 1.
  const rank = (values, item) => 1 + Array.from(values).filter((value) => Math.abs(value) > Math.abs(values[item])).length;

  // The same in the terms of the field, for whoever wants them; rows are [term, figure, meaning]. Those that follow a bar
  // that is dragged are set anew.
  const liveTerms = () => {
    const list = h("dl");
    const set = (rows) => list.replaceChildren(...rows.map(([term, figure, meaning]) => h("div", {}, h("dt", {}, term, " ", h("strong", {}, figure)), h("dd", {}, meaning))));
    return { element: h("details", { class: "terms" }, h("summary", {}, "In the field’s terms"), list), set };
  };
  const terms = (rows) => {
    const { element, set } = liveTerms();
    set(rows);
    return element;
  };

  const jsdTerm = (jsd) => ["JSD", heedful.figure(jsd, 3), "Jensen-Shannon divergence of the two maps, in nats: 0 if they are the same, at most ln 2 = 0.693, when they share no weight."];
  const tvdTerm = (tvd) => ["TVD", heedful.figure(tvd, 3), "Total variation distance of the two outputs: 0 if they are the same, at most 1. 0.01 is one point of a percentage."];

  return { chance, points, share, apart, ordinal, rank, terms, liveTerms, jsdTerm, tvdTerm };
})();
