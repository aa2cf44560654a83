// The story of a run, step by step, on its own texts: here is the map, here is another, what the model makes of it, how
// often, what to show instead. Every heading says what the figure below it shows, whatever the verdict is.
"use strict";

heedful.story = (() => {
  const { h, plain } = heedful;

  // What is needed of a text of the story. Columns are left out: with many texts they are large.
  const load = async (run, place) => {
    const told = run.story.texts[place] ?? run.story.texts[0];
    if (!told) return null;
    const data = await heedful.store.run(run.key);
    const [text, maps] = await Promise.all([heedful.store.text(run.key, told.index), heedful.store.maps(run.key, told.index)]);
    const known = { run: data, index: told.index, id: told.id, text, maps, values: {} };
    return { known, other: heedful.otherMap.find(told, known), deciding: heedful.deciding.find(known) };
  };

  const step = (title, words, figure) => h("section", { class: "step" }, h("div", { class: "step-words" }, h("h2", {}, title), words.filter(Boolean).map((line) => h("p", {}, line))),
    figure && h("div", { class: "step-figure" }, figure));

  const word = ({ run, text }, item) => h("bdi", { class: "tok" }, heedful.heatmap.itemName(text.tokens, item, run.sentences));
  const topOf = (values) => values.reduce((top, value, item) => (value > values[top] ? item : top), 0);
  const noun = (run) => (run.sentences ? "sentence" : "word");

  // Where the item that decides stands in a map, if it is a single one and not the first.
  const missed = ({ run, text }, deciding, values) => {
    if (deciding?.items.size !== 1) return null;
    const [item] = deciding.items;
    const rank = plain.rank(values, item);
    return rank > 1 && [word({ run, text }, item), `, the ${noun(run)} ${deciding.how}, comes ${plain.ordinal(rank)} of ${heedful.count(values.length)}.`];
  };

  const theMap = ({ known, deciding }) => {
    const { run, maps } = known;
    const own = heedful.decode.renormalise(maps.weights);
    const top = topOf(own);
    return step("Here is the map.", [
      `This is what a product would show: the darker a ${noun(run)}, the more attention the model paid to it.`,
      ["Most went to ", word(known, top), ` (${plain.chance(own[top])}).`],
      missed(known, deciding, own),
    ], heedful.instance.map(known, { name: "attention", values: maps.weights }, { marked: new Set(), truth: null, deciding: deciding?.items }));
  };

  const another = ({ known, other, deciding }) => {
    const { run } = known;
    const top = topOf(other.weights);
    const maps = { own: ["The model’s", other.own], other: ["The other", other.weights], difference: ["The difference", other.weights.map((weight, item) => weight - other.own[item])] };
    const place = h("div");
    const show = (name) => place.replaceChildren(heedful.heatmap(known.text.tokens, maps[name][1], { title: maps[name][0], signed: name === "difference", lines: run.sentences, sentences: known.text.sentences, deciding: deciding?.items }));
    const choice = h("fieldset", { class: "map-choice" }, h("legend", {}, "Map"), Object.entries(maps).map(([name, [title]]) => h("label", {},
      h("input", { type: "radio", name: `another-${known.index}`, value: name, checked: name === "other", onchange: () => show(name) }), title)));
    show("other");
    return step("Here is another.", [
      ["It was made to have ", other.made, `. Most of it is on `, word(known, top), ` (${plain.chance(other.weights[top])}).`],
      `It is ${plain.apart(other.jsd)} away from the first.`,
    ], [choice, place]);
  };

  const cares = ({ known, other }) => {
    const { tvd, flipped, decision } = other.effect;
    if (tvd === null) return null;
    const name = h("strong", {}, h("bdi", {}, heedful.instance.className(known.run, decision ?? heedful.decode.decision(known.maps.output))));
    const small = tvd < heedful.outcome.NEAR;
    const title = flipped ? "The model changes its mind." : small ? "The model does not care." : "The model notices.";
    const moved = other.kind === "unattended" && !other.live ? `The decision’s probability falls by ${plain.points(tvd)}.` : `The output moves by ${plain.points(tvd)}.`;
    const words = flipped ? ["With the other map it decides ", name, ". ", moved] : flipped === null ? moved : ["With either map it decides ", name, ". ", moved];
    const meaning = flipped || !small ? "Here the weights matter: they are part of how the model decides." : "Two very different explanations, one decision: so the weights alone cannot be its reason.";
    const near = !flipped && small && other.jsd < Math.LN2 / 10;
    return step(title, [words, near ? "The two maps are much alike, so this says little." : meaning, other.live && "Try any other: drag a bar."], other.live ? heedful.trying(known, other) : null);
  };

  const often = (run) => {
    const figure = heedful.often(run);
    return figure && step("Here is how often.", ["One text proves little. These are all texts that were tested."], figure);
  };

  const instead = (run, known, deciding) => {
    const { title, lines } = heedful.instead.told(run);
    return step(title, lines, known && heedful.instead.figure(known, deciding));
  };

  // The steps of a run whose text was loaded; `run` as the site knows it.
  const steps = (run, found) => [
    found && theMap(found),
    found?.other && another(found),
    found?.other && cares(found),
    often(run),
    instead(run, found?.known, found?.deciding),
  ].filter(Boolean);

  return { load, steps };
})();
