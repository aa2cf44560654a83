// The weights as bars that can be moved, like the sliders of an equaliser: by dragging, touching, or the arrow keys.
// A bar's length is the square root of its weight: small weights can be seen and moved, too.
"use strict";

heedful.equaliser = (() => {
  const { h } = heedful;
  const ALL = 90; // up to so many items all are shown
  const MOST = 60; // of longer texts, the most relevant
  const FEW = 3; // items between two shown ones that are shown, too
  const MORE = 120; // shown by one press on a gap

  const lengthOf = (weight) => Math.sqrt(Math.min(1, Math.max(0, weight)));
  const weightAt = (length) => Math.min(1, Math.max(0, length)) ** 2;

  // The items that say most about a text: those with most weight in any of the given attentions.
  const relevant = (count, attentions) => {
    if (count <= ALL) return new Set(Array(count).keys());
    const most = Float64Array.from({ length: count }, (_, item) => Math.max(...attentions.map((weights) => weights[item])));
    const shown = new Set([...most.keys()].sort((one, other) => most[other] - most[one] || one - other).slice(0, MOST));
    for (let item = 0, last = -1; item <= count; item += 1) { // a gap takes as much room as a few words
      if (item < count && !shown.has(item)) continue;
      for (let step = last + 1; item - last <= FEW && step < item; step += 1) shown.add(step);
      last = item;
    }
    return shown;
  };

  // options: tokens; lines (items are sentences, bars lie); own (T,); shown (Set); change(item, weight), begin(), end():
  // a gesture; pick(item): an item is looked at.
  const make = ({ tokens, lines = false, own, shown, change, begin, end, pick }) => {
    const element = h("div", { class: `equaliser${lines ? " equaliser-lines" : ""}`, role: "group", "aria-label": "Weights: up and down change, left and right go from item to item" });
    const parts = new Map(); // item -> its elements
    let weights = own;
    let current = 0;

    const bar = (item) => {
      const fill = h("span", { class: "eq-fill" });
      const value = h("span", { class: "eq-value" });
      const track = h("span", { class: "eq-track" }, fill, h("span", { class: "eq-own", style: { "--at": lengthOf(own[item]).toFixed(4) } }));
      const word = h("bdi", { class: "eq-word" }, heedful.heatmap.folded(tokens[item], lines ? 400 : 24));
      const slider = h("div", { class: "eq-item", role: "slider", tabindex: "-1", "data-item": item, "aria-label": heedful.heatmap.folded(tokens[item], lines ? 200 : 60),
        "aria-orientation": lines ? "horizontal" : "vertical", "aria-valuemin": 0, "aria-valuemax": 1 }, lines ? [value, track, word] : [track, word, value]);
      parts.set(item, { slider, fill, value, track });
      return slider;
    };

    const draw = () => {
      const focused = element.contains(document.activeElement);
      parts.clear();
      const children = [];
      for (let item = 0; item < tokens.length; ) {
        if (shown.has(item)) {
          children.push(bar(item));
          item += 1;
          continue;
        }
        const start = item;
        while (item < tokens.length && !shown.has(item)) item += 1;
        children.push(h("button", { type: "button", class: "eq-gap", "data-gap": start, "aria-label": `Show ${Math.min(MORE, item - start)} more`, onclick: () => {
          for (let step = start; step < Math.min(item, start + MORE); step += 1) shown.add(step);
          draw();
          focus(start);
        } }, `… ${heedful.count(item - start)} …`));
      }
      element.replaceChildren(...children);
      if (!parts.has(current)) current = parts.keys().next().value ?? 0;
      update(weights);
      mark(current);
      if (focused) parts.get(current)?.slider.focus();
    };

    const update = (given) => {
      weights = given;
      for (const [item, { slider, fill, value }] of parts) {
        const text = heedful.heatmap.number(weights[item]);
        if (value.textContent === text && slider.dataset.weight === String(weights[item])) continue;
        slider.dataset.weight = weights[item];
        fill.style.setProperty("--at", lengthOf(weights[item]).toFixed(4));
        value.textContent = text;
        slider.setAttribute("aria-valuenow", weights[item].toFixed(4));
        slider.setAttribute("aria-valuetext", `${text}; the model's own: ${heedful.heatmap.number(own[item])}`);
      }
    };

    // One of the sliders is reached by Tab; from it the arrow keys lead to the others.
    const mark = (item) => {
      parts.get(current)?.slider.classList.remove("eq-here");
      parts.get(current)?.slider.setAttribute("tabindex", "-1");
      current = item;
      parts.get(current)?.slider.classList.add("eq-here");
      parts.get(current)?.slider.setAttribute("tabindex", "0");
      pick(item);
    };
    const focus = (item) => {
      mark(item);
      parts.get(item)?.slider.focus();
    };
    const reveal = (item) => {
      if (item < tokens.length && !shown.has(item)) {
        shown.add(item);
        draw();
      }
    };

    const itemOf = (event) => {
      const slider = event.target.closest(".eq-item");
      return slider ? Number(slider.dataset.item) : null;
    };
    element.addEventListener("focusin", (event) => itemOf(event) !== null && itemOf(event) !== current && mark(itemOf(event)));

    let drag = null; // {item, from, length, size, moved}
    element.addEventListener("pointerdown", (event) => {
      const item = itemOf(event);
      if (item === null || event.button !== 0 || drag) return;
      const { slider, track } = parts.get(item);
      event.preventDefault(); // no selection of text on the way
      focus(item);
      slider.setPointerCapture(event.pointerId);
      const box = track.getBoundingClientRect();
      drag = { item, from: lines ? event.clientX : -event.clientY, length: lengthOf(weights[item]), size: Math.max(1, lines ? box.width : box.height), moved: false };
    });
    element.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const way = (lines ? event.clientX : -event.clientY) - drag.from;
      if (!drag.moved && Math.abs(way) < 2) return;
      if (!drag.moved) begin();
      drag.moved = true;
      change(drag.item, weightAt(drag.length + way / drag.size));
    });
    const drop = () => {
      if (drag?.moved) end();
      drag = null;
    };
    element.addEventListener("pointerup", drop);
    element.addEventListener("pointercancel", drop);

    element.addEventListener("keydown", (event) => {
      const item = itemOf(event);
      if (item === null || event.ctrlKey || event.metaKey || event.altKey) return;
      const step = event.shiftKey ? 0.1 : 0.01;
      const now = weights[item];
      const goals = { ArrowUp: now + step, ArrowDown: now - step, PageUp: now + 0.1, PageDown: now - 0.1, Home: 0, End: 1 };
      const order = [...parts.keys()];
      const ways = { ArrowRight: 1, ArrowLeft: -1 };
      if (event.key in goals) {
        begin({ item });
        change(item, goals[event.key]);
        end({ item });
      } else if (event.key in ways) {
        focus(order[Math.max(0, Math.min(order.length - 1, order.indexOf(item) + ways[event.key]))]);
      } else return;
      event.preventDefault();
    });

    draw();
    return { element, update, reveal, choose: mark, current: () => current };
  };

  return Object.assign(make, { relevant });
})();
