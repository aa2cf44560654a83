// What a model would have decided under other attention, exactly as heedful.evidence and heedful.measures say it:
// everything else held fixed, the output is a function of the weights alone. All arithmetic is in double precision.
"use strict";

heedful.decode = (() => {
  const decoders = new WeakMap(); // of runs: their decoder, unpacked once

  const decoderOf = (run) => {
    if (!decoders.has(run)) {
      const { weight, bias, features } = run.decoder;
      decoders.set(run, { weight: heedful.store.unpack(weight), bias: heedful.store.unpack(bias), features });
    }
    return decoders.get(run);
  };

  // Whether outputs under other attention can be told of an instance.
  const possible = (maps, run) => Boolean((maps.scores && maps.bias) || (maps.features && maps.context && run.decoder));

  // The weighted sum of rows (T, width), begun at `start` (width).
  const mix = (weights, rows, start) => {
    const sum = Float64Array.from(start);
    const width = sum.length;
    for (let item = 0; item < weights.length; item += 1) {
      const weight = weights[item];
      if (weight === 0) continue;
      for (let column = 0; column < width; column += 1) sum[column] += weight * rows[item * width + column];
    }
    return sum;
  };

  const tanhLogits = (maps, run, weights) => {
    const { weight, bias, features } = decoderOf(run);
    const hidden = mix(weights, maps.features, maps.context).map(Math.tanh);
    const allowed = maps.candidates && new Set(maps.candidates);
    return Float64Array.from(bias, (begin, output) => {
      if (allowed && !allowed.has(output)) return -Infinity;
      let logit = begin;
      for (let feature = 0; feature < features; feature += 1) logit += weight[output * features + feature] * hidden[feature];
      return logit;
    });
  };

  const logits = (maps, run, weights) => (maps.scores ? mix(weights, maps.scores, maps.bias) : tanhLogits(maps, run, weights));

  // One logit is a sigmoid (the probability of the second class), several are a softmax.
  const probabilities = (given) => {
    if (given.length === 1) return Float64Array.of(1 / (1 + Math.exp(-given[0])));
    const highest = given.reduce((one, other) => Math.max(one, other));
    const powers = given.map((logit) => Math.exp(logit - highest));
    const total = powers.reduce((one, other) => one + other);
    return powers.map((power) => power / total);
  };

  const output = (maps, run, weights) => probabilities(logits(maps, run, weights));

  // The decided class: the lowest index on ties; a sigmoid decides for the second class only above one half.
  const decision = (given) => (given.length === 1 ? Number(given[0] > 0.5) : given.indexOf(Math.max(...given)));

  // Probabilities of all classes: a sigmoid says only that of the second.
  const chances = (given) => (given.length === 1 ? [1 - given[0], given[0]] : Array.from(given));

  // Total variation distance of outputs, in [0, 1].
  const tvd = (first, second) => {
    let total = 0;
    for (let index = 0; index < first.length; index += 1) total += Math.abs(first[index] - second[index]);
    return first.length === 1 ? total : total / 2;
  };

  const xlogx = (x) => (x > 0 ? x * Math.log(x) : 0);

  // Jensen-Shannon divergence of two distributions, natural logarithm, in [0, ln 2].
  const jsd = (first, second) => {
    let total = 0;
    for (let index = 0; index < first.length; index += 1) {
      const middle = (first[index] + second[index]) / 2;
      total += (xlogx(first[index]) + xlogx(second[index])) / 2 - xlogx(middle);
    }
    return Math.min(Math.LN2, Math.max(0, total)); // rounding may leave -1e-17
  };

  // Weights that sum to one; nothing at all stays nothing.
  const renormalise = (weights) => {
    const doubles = Float64Array.from(weights);
    const total = doubles.reduce((one, other) => one + other, 0);
    return total > 0 ? doubles.map((weight) => weight / total) : doubles;
  };

  // What is attended to when some items are taken away; with all of them gone, nothing is.
  const removal = (weights, items) => {
    const kept = Float64Array.from(weights);
    for (const item of items) kept[item] = 0;
    return renormalise(kept);
  };

  return { possible, output, decision, chances, tvd, jsd, renormalise, removal };
})();
