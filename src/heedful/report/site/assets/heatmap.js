// A heat-map: tokens on a background as strong as their share of the heaviest, so that flat attention on a long text
// can still be seen. Colour never stands alone: numbers come on hover and by the arrow keys, what is marked has
// brackets, what is negative a minus, and the heaviest are named below.
"use strict";

heedful.heatmap = (() => {
  const { h } = heedful;
  const LONGEST = 60; // letters of a word that are shown; a sentence may have more
  const LONGEST_SENTENCE = 1500;
  const AT_ONCE = 800; // tokens drawn before the first frame; the others follow a frame at a time
  const NAMED = 5;

  // A text of which a person sees the beginning and the end, and how long it is.
  const folded = (text, longest) => {
    const shown = heedful.printable(text.length > 4 * longest ? text.slice(0, 2 * longest) + text.slice(-longest) : text);
    if (text.length <= longest && shown.length <= 4 * longest) return shown;
    const letters = [...shown];
    const end = Math.min(12, Math.floor(longest / 5));
    return `${letters.slice(0, longest - end).join("")}…${letters.slice(-end).join("")} (${heedful.count(text.length)} letters)`;
  };

  // An item in a sentence about it: a word itself, a sentence by its number.
  const name = (tokens, item, lines) => (lines ? `sentence ${item + 1}` : folded(tokens[item], LONGEST));

  // Items by falling size, and the rank of each.
  const ranking = (values) => {
    const order = Uint32Array.from(values.keys()).sort((one, other) => Math.abs(values[other]) - Math.abs(values[one]) || one - other);
    const rank = new Uint32Array(order.length);
    order.forEach((item, place) => (rank[item] = place));
    return { order, rank };
  };

  // Weights as people read them: very small ones are not called zero.
  const number = (value) => (value !== 0 && Math.abs(value) < 0.0005 ? value.toExponential(1) : heedful.figure(value, 3));

  // Where the tokens stand: sentences are blocks of their own, a text without sentences is one.
  const blocks = (count, sentences) => {
    const cuts = [0];
    for (const length of sentences ?? []) cuts.push(cuts[cuts.length - 1] + length);
    if (cuts[cuts.length - 1] !== count || count === 0) return [[0, count]];
    return cuts.slice(1).map((end, index) => [cuts[index], end]);
  };

  // tokens and values (T,); options: title, note, sentences (lengths, in words), lines (items are sentences),
  // marked (Set of items: the flip set), deciding (Set of items, outlined), truth (T,), signed, onPick(item).
  const draw = (tokens, values, { title, note, sentences, lines = false, marked = new Set(), deciding = new Set(), truth, signed = false, onPick } = {}) => {
    const heaviest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const { order, rank } = ranking(values);
    const items = new Array(tokens.length); // the elements of those drawn so far
    const tip = h("output", { class: "heat-tip", role: "status", hidden: true });
    const map = h("div", { class: `heat${lines ? " heat-lines" : ""}`, tabindex: "0", role: "group",
      "aria-label": `${title}: ${tokens.length} items; left and right read them in order, up and down by size` });

    const token = (item) => {
      const value = values[item];
      const share = heaviest > 0 ? Math.abs(value) / heaviest : 0;
      const kinds = ["tok", value < 0 && "tok-minus", signed && value > 0 && "tok-plus", marked.has(item) && "tok-marked", deciding.has(item) && "tok-deciding", truth?.[item] && "tok-truth"];
      const text = folded(tokens[item], lines ? LONGEST_SENTENCE : LONGEST);
      const element = h("bdi", { class: kinds.filter(Boolean).join(" "), "data-item": item, style: { "--share": share.toFixed(3) } }, text);
      return (items[item] = element);
    };

    const line = (item) =>
      h("div", { class: "heat-line" }, h("span", { class: "heat-number" }, `${item + 1}`), h("span", { class: "heat-number" }, number(values[item])), h("span", {}, token(item)));

    const block = ([start, end]) => {
      if (lines) return Array.from({ length: end - start }, (_, step) => line(start + step));
      const place = h(sentences ? "p" : "span", {});
      for (let item = start; item < end; item += 1) place.append(token(item), " ");
      return [place];
    };

    // Long texts: what is far below the first screen may come later.
    const waiting = blocks(tokens.length, lines ? null : sentences).flatMap(([start, end]) =>
      Array.from({ length: Math.max(1, Math.ceil((end - start) / AT_ONCE)) }, (_, part) => [start + part * AT_ONCE, Math.min(end, start + (part + 1) * AT_ONCE)]));
    const more = () => {
      for (let drawn = 0; drawn < AT_ONCE && waiting.length; ) {
        const [start, end] = waiting.shift();
        map.append(...block([start, end]));
        drawn += end - start;
      }
      if (waiting.length) requestAnimationFrame(more);
    };
    more();

    const words = (item) => {
      const marks = [marked.has(item) && "of the flip set", deciding.has(item) && "decides", truth?.[item] && "really decides"].filter(Boolean);
      return `${name(tokens, item, lines)}: ${number(values[item])}, ${rank[item] + 1} of ${tokens.length}${marks.map((mark) => `, ${mark}`).join("")}`;
    };

    let here = null;
    const tell = (item) => {
      if (here !== null) items[here]?.classList.remove("tok-here");
      here = item;
      tip.hidden = item === null || !items[item];
      if (tip.hidden) return;
      items[item].classList.add("tok-here");
      tip.textContent = words(item);
      const within = tip.offsetParent?.getBoundingClientRect() ?? { left: 0, top: 0 };
      const box = items[item].getClientRects()[0] ?? within; // the first line of a sentence
      const right = map.clientWidth - tip.offsetWidth;
      tip.style.setProperty("left", `${Math.max(0, Math.min(right, box.left - within.left))}px`);
      tip.style.setProperty("top", `${box.top - within.top - tip.offsetHeight - 4}px`);
    };

    const itemOf = (event) => {
      const item = event.target.closest?.("[data-item]")?.dataset.item;
      return item === undefined ? null : Number(item);
    };
    map.addEventListener("pointerover", (event) => tell(itemOf(event)));
    map.addEventListener("pointerleave", () => tell(null));
    map.addEventListener("blur", () => tell(null));
    if (onPick) map.addEventListener("click", (event) => itemOf(event) !== null && onPick(itemOf(event)));
    map.addEventListener("keydown", (event) => {
      const last = tokens.length - 1;
      const moves = { ArrowRight: () => Math.min(last, here + 1), ArrowLeft: () => Math.max(0, here - 1), Home: () => 0, End: () => last,
        ArrowDown: () => order[Math.min(last, rank[here] + 1)], ArrowUp: () => order[Math.max(0, rank[here] - 1)] };
      if (event.key === "Enter" && here !== null) onPick?.(here);
      if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      tell(here === null ? (event.key.startsWith("Arrow") ? order[0] : moves[event.key]()) : moves[event.key]());
      items[here]?.scrollIntoView({ block: "nearest" });
    });

    const top = [...order.slice(0, NAMED)].filter((item) => values[item] !== 0);
    const named = top.flatMap((item, index) => [index ? ", " : "", h("bdi", {}, name(tokens, item, lines)), ` ${number(values[item])}`]);
    return h("figure", { class: "heat-map", "data-map": title },
      h("figcaption", {}, h("strong", {}, title), note ? h("span", { class: "soft" }, ` ${note}`) : null),
      h("div", { class: "heat-frame" }, map, tip),
      h("p", { class: "heat-top soft" }, named.length ? ["most: ", ...named] : "all are zero"));
  };

  return Object.assign(draw, { folded, itemName: name, number });
})();
