// Other attention, written so short that it fits into an address: where it begins, and which weights a person has set.
//   own  uniform  adversarial  permuted.<seed>  only.<item>  without.<item>    and then  ~<item>:<weight>~…
// Items that were not set share what is left in the proportions they began with. The text is the only truth: weights
// are always computed from it, so that a link gives the very same numbers.
"use strict";

heedful.weights = (() => {
  const starts = /^(own|uniform|adversarial|permuted\.\d{1,9}|only\.\d{1,9}|without\.\d{1,9})$/;

  // {start, set: Map(item -> weight)}; what cannot be read is the model's own attention.
  const parse = (text) => {
    const [start, ...changes] = (text ?? "").split("~");
    const set = new Map();
    for (const change of changes) {
      const [item, weight] = change.split(":").map(Number);
      if (Number.isInteger(item) && item >= 0 && weight >= 0 && weight <= 1) set.set(item, weight);
    }
    return { start: starts.test(start) ? start : "own", set };
  };

  const format = ({ start, set }) => [start, ...[...set].map(([item, weight]) => `${item}:${weight}`)].join("~");

  // A small generator of random numbers in [0, 1) (mulberry32): the same seed, the same order, in every browser.
  const random = (seed) => {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  };

  const shuffled = (weights, seed) => {
    const draw = random(seed);
    const order = Float64Array.from(weights);
    for (let last = order.length - 1; last > 0; last -= 1) {
      const other = Math.floor(draw() * (last + 1));
      [order[last], order[other]] = [order[other], order[last]];
    }
    return order;
  };

  // The weights a state begins with. `own` sums to one; an item that is not there changes nothing.
  const begin = (start, own, adversarial) => {
    const [kind, number] = start.split(".");
    const given = Number(number);
    if (kind === "uniform") return own.map(() => 1 / own.length);
    if (kind === "adversarial" && adversarial) return heedful.decode.renormalise(adversarial);
    if (kind === "permuted") return shuffled(own, given);
    if (kind === "only" && given < own.length) return own.map((_, item) => Number(item === given));
    if (kind === "without" && given < own.length) {
      const kept = heedful.decode.removal(own, [given]);
      return kept.some((weight) => weight > 0) ? kept : own;
    }
    return own;
  };

  // The weights (T,) of a state, which sum to one.
  const apply = ({ start, set }, own, adversarial) => {
    const weights = Float64Array.from(begin(start, own, adversarial));
    const free = [...weights.keys()].filter((item) => !set.has(item));
    let fixed = 0;
    for (const [item, weight] of set) {
      if (item >= weights.length) continue;
      weights[item] = weight;
      fixed += weight;
    }
    if (!free.length && fixed === 0) return own; // nothing is no attention
    const rest = Math.max(0, 1 - fixed);
    const mass = free.reduce((sum, item) => sum + weights[item], 0);
    for (const item of free) weights[item] = mass > 0 ? (weights[item] / mass) * rest : rest / free.length;
    return fixed > 1 || (!free.length && fixed !== 1) ? heedful.decode.renormalise(weights) : weights;
  };

  const short = (weight) => Number(weight.toPrecision(6)); // a thousandth of what anybody can see

  // The state in which an item has a weight and all others keep their proportions.
  const change = (state, weights, item, weight) => {
    if (weights.length < 2) return state; // one item has all the attention, always
    const value = short(Math.min(1, Math.max(0, weight)));
    const others = 1 - weights[item];
    const set = new Map();
    for (const [other] of state.set) {
      if (other === item || other >= weights.length) continue;
      set.set(other, short(others > 0 ? (weights[other] / others) * (1 - value) : 0));
    }
    set.set(item, value);
    if (set.size < weights.length) return { start: state.start, set };
    set.delete([...set.keys()].find((other) => other !== item)); // one is free, lest rounding leave a sum beside one
    return { start: state.start, set };
  };

  return { parse, format, apply, change };
})();
