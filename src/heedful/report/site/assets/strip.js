// A text on shaded ground, small enough for a card and quick enough to follow a bar that is dragged. Long texts are cut to
// what the maps are about; the words with most weight are named below, so that colour never stands alone.
"use strict";

heedful.strip = (() => {
  const { h } = heedful;
  const NAMED = 3;
  const LETTERS = { word: 40, sentence: 160 };

  // The items that are shown, in order: those with most weight in any map, those that decide, and their neighbours.
  const shownOf = (count, maps, deciding, most) => {
    if (count <= most) return [...Array(count).keys()];
    const weight = Float64Array.from({ length: count }, (_, item) => Math.max(...maps.map((map) => Math.abs(map[item]))) + (deciding.has(item) ? 1e9 : 0));
    const order = [...weight.keys()].sort((one, other) => weight[other] - weight[one] || one - other);
    const chosen = new Set();
    for (const item of order) {
      for (let near = Math.max(0, item - 2); near <= Math.min(count - 1, item + 2) && chosen.size < most; near += 1) chosen.add(near);
      if (chosen.size >= most) break;
    }
    return [...chosen].sort((one, other) => one - other);
  };

  // text: {tokens}; options: maps, between which it will be drawn (they set the scale); lines: items are sentences;
  // deciding: Set of items; most: items that are shown. Returns {element, update(values)}.
  const make = ({ tokens }, { maps, lines = false, deciding = new Set(), most = 60, named = true }) => {
    const largest = maps.reduce((top, map) => map.reduce((one, other) => Math.max(one, Math.abs(other)), top), 0) || 1;
    const items = shownOf(tokens.length, maps, deciding, most);
    const words = new Map(items.map((item) => [item, h("bdi", { class: `tok${deciding.has(item) ? " tok-deciding" : ""}`, "data-item": item }, heedful.heatmap.folded(tokens[item], lines ? LETTERS.sentence : LETTERS.word))]));
    const children = items.flatMap((item, place) => [item - (place ? items[place - 1] : -1) > 1 && "… ", lines ? h("span", { class: "strip-line" }, words.get(item)) : words.get(item), " "]);
    const top = named && h("p", { class: "strip-top quiet" });
    const update = (values) => {
      for (const [item, word] of words) word.style.setProperty("--share", Math.min(1, Math.abs(values[item]) / largest).toFixed(3));
      if (!top) return;
      const order = [...values.keys()].sort((one, other) => values[other] - values[one] || one - other).slice(0, NAMED).filter((item) => values[item] > 0);
      top.replaceChildren("most: ", ...order.flatMap((item, place) => [place ? ", " : "", h("bdi", {}, heedful.heatmap.itemName(tokens, item, lines)), ` ${heedful.plain.chance(values[item])}`]));
    };
    update(maps[0]);
    return { element: h("div", { class: "strip" }, h("p", { class: "strip-text" }, ...children.filter(Boolean), items.at(-1) < tokens.length - 1 ? "…" : ""), top), update };
  };

  return make;
})();
