// Which instances a list shows, and in which order: ranges of figures as in an address (where=jsd:0.1..0.4;wrong:1..1),
// a sort, and what a search has found. The answer is an array of positions; no instance is ever copied.
"use strict";

heedful.select = (() => {
  // [{name, low, high}]; an end that is left out is open, what cannot be read is left out.
  const parse = (text) =>
    (text ?? "").split(";").flatMap((part) => {
      const found = /^([a-z_]+):(-?[\d.eE+-]*?)\.\.(-?[\d.eE+-]*)$/.exec(part);
      if (!found) return [];
      const low = found[2] === "" ? -Infinity : Number(found[2]);
      const high = found[3] === "" ? Infinity : Number(found[3]);
      return Number.isNaN(low) || Number.isNaN(high) ? [] : [{ name: found[1], low, high }];
    });

  const end = (value) => (Number.isFinite(value) ? String(value) : "");
  const format = (ranges) => ranges.map(({ name, low, high }) => `${name}:${end(low)}..${end(high)}`).join(";");

  // A range in words: "wrong: yes", "τ gradient from 0.1 to 0.4".
  const words = ({ name, low, high }, run) => {
    const column = run.columns.find((one) => one.name === name);
    if (!column) return `${name} (this run has none)`;
    const told = (value) => (column.kind === "figure" ? String(Number(value.toPrecision(4))) : heedful.cell(value, column, run));
    if (low === high) return `${column.title}: ${told(low) ?? low}`;
    if (!Number.isFinite(low)) return `${column.title} at most ${told(high)}`;
    return Number.isFinite(high) ? `${column.title} from ${told(low)} to ${told(high)}` : `${column.title} at least ${told(low)}`;
  };

  const sorts = new WeakMap(); // of columns: their orders, found once

  // All positions by rising or falling figures; equal ones in the order of the corpus, undefined ones at the end.
  const order = (values, falling) => {
    const known = sorts.get(values) ?? sorts.set(values, {}).get(values);
    const sign = falling ? -1 : 1;
    known[sign] ??= Uint32Array.from(values.keys()).sort((one, other) => {
      const [first, second] = [values[one], values[other]];
      if (first === second) return one - other;
      if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) - Number.isNaN(second) || one - other;
      return sign * (first - second);
    });
    return known[sign];
  };

  // size: of all; tests: [{values, low, high}]; found: null or a flag each; sorted: {values, falling} or null;
  // backwards: the order of the corpus, reversed.
  const positions = (size, { tests = [], found = null, sorted = null, backwards = false }) => {
    const all = sorted ? order(sorted.values, sorted.falling) : null;
    const kept = new Uint32Array(size);
    let count = 0;
    for (let place = 0; place < size; place += 1) {
      const index = all ? all[place] : backwards ? size - 1 - place : place;
      if (found && !found[index]) continue;
      if (tests.every(({ values, low, high }) => values[index] >= low && values[index] <= high)) kept[count++] = index;
    }
    return kept.subarray(0, count);
  };

  return { parse, format, words, positions };
})();
