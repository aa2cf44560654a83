// What if the model had attended to other words? The reader moves the weights; the output follows, computed exactly.
"use strict";

heedful.pages["what-if"] = (() => {
  const { h, route, store } = heedful;
  let view = null; // what is shown: run, instance, weights

  // Everything about the weights goes through here: text -> weights -> output -> page.
  const set = (page, text) => {
    page.state = heedful.weights.parse(text);
    page.text = heedful.weights.format(page.state);
    page.weights = heedful.weights.apply(page.state, page.own, page.known.maps.adversarial);
    page.asked ??= requestAnimationFrame(() => paint(page));
  };

  const paint = (page) => {
    page.asked = null;
    const output = heedful.decode.output(page.known.maps, page.run, page.weights);
    page.equaliser.update(page.weights);
    page.readout.show(output, page.weights, page.own);
    page.readout.element.dataset.weights = page.text;
    for (const button of page.buttons.querySelectorAll("[data-start]")) button.setAttribute("aria-pressed", String(page.text === button.dataset.start));
    page.undo.disabled = page.past.length === 0;
  };

  let writing = 0;
  const write = (page) => {
    clearTimeout(writing);
    writing = setTimeout(() => view === page && route.change({ w: page.text }), 200); // browsers refuse many changes of an address
  };

  // A step that can be undone; presses of a key on one item, one soon after the other, are one step.
  const begin = (page, { item = null } = {}) => {
    const now = performance.now();
    const goesOn = item !== null && page.last?.item === item && now - page.last.at < 800;
    if (!goesOn) page.past.push(page.text);
    page.last = { item, at: now };
  };

  const go = (page, text) => {
    if (text === page.text) return;
    begin(page);
    set(page, text);
    write(page);
    look(page);
  };

  // The item that the weights are about is the chosen one, and in sight.
  const look = (page) => {
    const item = Number(/^(?:only|without)\.(\d+)/.exec(page.text)?.[1] ?? Infinity);
    if (item >= page.own.length) return;
    page.equaliser.reveal(item);
    page.equaliser.choose(item);
  };

  const back = (page) => {
    if (!page.past.length) return;
    page.last = null;
    set(page, page.past.pop());
    write(page);
  };

  const buttonsOf = (page) => {
    const { maps, text } = page.known;
    const start = (words, name, meaning) => h("button", { type: "button", "data-start": name, title: meaning, onclick: () => go(page, name) }, words);
    const seed = () => Number(/^permuted\.(\d+)$/.exec(page.text)?.[1] ?? 0) + 1;
    const noun = page.run.sentences ? "sentence" : "word";
    page.named = h("bdi", { class: "picked" });
    page.undo = h("button", { type: "button", disabled: true, onclick: () => back(page) }, "Undo");
    return h("div", { class: "actions", role: "group", "aria-label": "Other attention" },
      start("Model's own", "own", "The weights the model gave."), start("All alike", "uniform", "The same weight for every item."),
      h("button", { type: "button", "data-do": "permute", title: "The model's weights in random order; press again for another one.", onclick: () => go(page, `permuted.${seed()}`) }, "Shuffle"),
      maps.adversarial && text.tokens.length > 1 ? start("Most different", "adversarial", "As different from the model's weights as possible with nearly the same output.") : null,
      h("button", { type: "button", "data-do": "only", onclick: () => go(page, `only.${page.equaliser.current()}`) }, `Only this ${noun}`),
      h("button", { type: "button", "data-do": "without", disabled: text.tokens.length < 2, onclick: () => go(page, `without.${page.equaliser.current()}`) }, `Without this ${noun}`),
      h("span", { class: "soft" }, `this ${noun}: `, page.named), page.undo);
  };

  // An invitation: a word that the model hardly attends to, and that decides alike if it has all the weight.
  const invitation = (page) => {
    const { maps, text } = page.known;
    const first = heedful.decode.output(maps, page.run, page.own);
    const items = [...page.own.keys()].sort((one, other) => page.own[one] - page.own[other]).slice(0, Math.min(300, page.own.length - 1));
    let best = null;
    for (const item of items) {
      const output = heedful.decode.output(maps, page.run, page.own.map((_, other) => Number(other === item)));
      const tvd = heedful.decode.tvd(first, output);
      const same = heedful.decode.decision(output) === heedful.decode.decision(first);
      if (!best || Number(same) > Number(best.same) || (same === best.same && tvd < best.tvd)) best = { item, tvd, same };
    }
    if (!best) return h("p", { class: "hint" }, "This text has a single item: there is no other attention.");
    const words = best.same ? ` The output moves by ${heedful.plain.points(best.tvd)}.` : " The decision flips: here attention matters.";
    return h("p", { class: "hint" }, "Try: put all weight on ",
      h("button", { type: "button", class: "link", "data-do": "try", onclick: () => go(page, `only.${best.item}`) }, h("bdi", {}, heedful.heatmap.itemName(text.tokens, best.item, page.run.sentences))),
      `, which has ${heedful.plain.chance(page.own[best.item])} of the attention now.${words}`);
  };

  const play = (page) => {
    const { maps, text } = page.known;
    page.own = heedful.decode.renormalise(maps.weights);
    page.readout = heedful.readout(page.run, heedful.decode.output(maps, page.run, page.own));
    page.buttons = buttonsOf(page);
    const state = heedful.weights.parse(page.begin);
    const shown = heedful.equaliser.relevant(text.tokens.length, [page.own, heedful.weights.apply(state, page.own, maps.adversarial), maps.adversarial ?? page.own]);
    for (const item of state.set.keys()) if (item < text.tokens.length) shown.add(item);
    page.equaliser = heedful.equaliser({ tokens: text.tokens, lines: page.run.sentences, own: page.own, shown,
      change: (item, weight) => set(page, heedful.weights.format(heedful.weights.change(page.state, page.weights, item, weight))),
      begin: (step) => begin(page, step), end: () => write(page),
      pick: (item) => page.named.replaceChildren(heedful.heatmap.itemName(text.tokens, item, page.run.sentences)) });
    page.equaliser.element.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      back(page);
    });
    const how = page.run.sentences ? "Drag a bar to the left or right" : "Drag a bar up or down";
    set(page, page.begin);
    look(page);
    paint(page);
    return [invitation(page), page.buttons, page.readout.element,
      h("p", { class: "soft how" }, `${how}, or use ↑ ↓ on a chosen one and ← → to choose; all others share the rest in proportion. The line is the model's own weight.`), page.equaliser.element];
  };

  const silent = (page) => [
    h("p", { class: "absent", role: "note" }, page.known.maps.whatif ?? "This run's evidence has neither scores nor features, so the effect of other attention is not available. These are the maps."),
    heedful.instance.mapsOf(page.known), heedful.instance.notes(page.known)];

  // The most striking instance, where none is asked for.
  const idOf = (page, state) => state.query.get("id") ?? page.run.story.texts[0]?.id ?? page.ids[0];

  const instanceOf = async (page, state) => {
    const id = idOf(page, state);
    const turn = (page.turn += 1);
    const index = page.ids.indexOf(id);
    if (index < 0) {
      Object.assign(page, { id, readout: null });
      page.place.replaceChildren(h("p", { role: "alert" }, `This run has no instance “${heedful.printable(id ?? "")}”; choose one under `, h("a", { href: route.link("instances", [page.key]) }, "Instances"), "."));
      return;
    }
    const known = await heedful.instance.load(page.key, index);
    if (view !== page || page.turn !== turn) return; // a later one was asked for in the meantime
    Object.assign(page, { known, id, past: [], last: null, asked: null, readout: null, begin: state.query.get("w") ?? "own" });
    const open = (other) => route.go(route.link("what-if", [page.key], { id: page.ids[other] }));
    const step = (words, label, other) => h("button", { type: "button", "aria-label": label, disabled: other < 0 || other >= page.ids.length, onclick: () => open(other) }, words);
    page.place.replaceChildren(
      h("div", { class: "instance-head" }, h("h2", {}, h("bdi", {}, heedful.heatmap.folded(id, 60))),
        h("div", { class: "steps" }, step("←", "Previous instance", index - 1), step("→", "Next instance", index + 1), step("Any", "Any instance", Math.floor(Math.random() * page.ids.length)),
          h("a", { class: "button", href: route.link("instances", [page.key], { id }) }, "All about it"), heedful.detail.copyButton())),
      heedful.instance.headline(known), heedful.instance.asked(known) ?? "",
      ...(heedful.decode.possible(known.maps, page.run) ? play(page) : silent(page)).flat(Infinity));
  };

  const show = async (main, state) => {
    const key = state.parts[0];
    const site = await store.site();
    heedful.runOf(site, key);
    const [run, ids] = await Promise.all([store.run(key), store.ids(key)]);
    const page = (view = { key, run, ids, turn: 0, place: h("div", { class: "whatif" }) });
    await instanceOf(page, state);
    main.append(h("div", { class: "page-head" }, h("h1", {}, "What if"), heedful.runSelect(site, key, (other) => route.go(route.link("what-if", [other])))), page.place);
  };

  // The address was changed: by this page (then nothing is new), by a link, or by going back.
  const update = async (state) => {
    const page = view;
    if (idOf(page, state) !== page.id) await instanceOf(page, state);
    else if (page.readout && heedful.weights.format(heedful.weights.parse(state.query.get("w"))) !== page.text) set(page, state.query.get("w"));
  };

  return { title: "What if", show, update, weights: () => Array.from(view.weights) };
})();
