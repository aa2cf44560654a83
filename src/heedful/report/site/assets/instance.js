// One instance: what was decided, which items the model attended to, what the tests say of them.
"use strict";

heedful.instance = (() => {
  const { h, plain } = heedful;
  const NAMED = 12; // items of a flip set that are named before the rest is counted
  const measures = {
    attention: "the model's own weights",
    adversarial: "other weights that give nearly the same output",
    difference: "adversarial minus own: + more weight, − less",
    gradient: "how fast the output moves with each item",
    leave_one_out: "how far the output moves without each item",
    gradient_through_attention: "the gradient, the attention moving along",
    integrated_gradients: "the gradient along a path from nothing to the text",
  };
  const title = (name) => ({ adversarial: "adversarial attention" })[name] ?? name.replaceAll("_", " ");
  const usual = ["attention", "adversarial", "gradient"];
  let chosen = null; // which maps the reader wants to see, from instance to instance

  // All that is known of an instance: {run, index, id, text, maps, values (of the columns)}.
  const load = async (key, index) => {
    const [run, ids, text, maps] = await Promise.all([heedful.store.run(key), heedful.store.ids(key), heedful.store.text(key, index), heedful.store.maps(key, index)]);
    const columns = await Promise.all(run.columns.map((column) => heedful.store.column(key, column.name)));
    const values = Object.fromEntries(run.columns.map((column, place) => [column.name, columns[place][index]]));
    return { run, index, id: ids[index], text, maps, values };
  };

  const className = (run, value) => heedful.printable(run.classes[value] ?? "–");

  // What was decided, and whether it is correct.
  const headline = ({ run, maps, values }) => {
    const decided = heedful.decode.decision(maps.output);
    const p = heedful.decode.chances(maps.output)[decided];
    const known = values.label !== undefined && !Number.isNaN(values.label);
    const right = values.label === decided;
    return h("p", { class: "headline" }, "decided ", h("strong", {}, h("bdi", {}, className(run, decided))), ` (p = ${heedful.figure(p, 3)})`,
      known ? h("span", { class: right ? "right" : "wrong" }, right ? ", correct ✓" : [", but it is ", h("bdi", {}, className(run, values.label)), " ✗"]) : null);
  };

  const asked = ({ text }) =>
    text.query ? h("p", { class: "asked" }, "asked: ", h("bdi", {}, heedful.heatmap.folded(text.query.join(" "), 1500))) : null;

  // What the adversarial attention changes: the map, not the output.
  const comparison = ({ run, text, maps, values }) => {
    if (!maps.adversarial) return null;
    if (text.tokens.length === 1) return "With a single item there is no other attention.";
    const own = heedful.decode.renormalise(maps.weights);
    const other = heedful.decode.renormalise(maps.adversarial);
    const jsd = heedful.decode.jsd(own, other);
    const upper = values.jsd_upper;
    const best = upper > jsd + 1e-6 ? `no map more than ${plain.share(upper)} away is possible` : "this is the most different map possible";
    const known = heedful.decode.possible(maps, run);
    const output = known ? heedful.decode.output(maps, run, other) : null;
    const decided = known ? heedful.decode.decision(output) : maps.adversary_decision;
    const p = known ? ` (p = ${heedful.figure(heedful.decode.chances(output)[decided], 3)})` : "";
    const tvd = known ? heedful.decode.tvd(heedful.decode.output(maps, run, own), output) : values.adversary_tvd;
    const allowed = run.epsilon ? `, of at most ${plain.points(run.epsilon)} allowed` : "";
    return ["Adversarial attention: decided ", h("bdi", {}, className(run, decided)), `${p}; the output moves by ${plain.points(tvd)}${allowed}. The map is ${plain.apart(jsd)} away; ${best}.`,
      plain.terms([plain.jsdTerm(jsd), plain.tvdTerm(tvd)])];
  };

  // What it takes to change the decision: the items marked in the map.
  const without = ({ run, text, maps }) => {
    const asked = maps.scores && run.columns.some(({ experiment }) => experiment === "removal"); // exact only with scores
    if (!maps.flip_set?.length) return asked ? "Zeroing attention never flips the decision." : null;
    const left = heedful.decode.removal(maps.weights, maps.flip_set);
    const instead = heedful.decode.possible(maps, run) ? className(run, heedful.decode.decision(heedful.decode.output(maps, run, left))) : "another class";
    if (maps.flip_set.length === text.tokens.length) return ["Only zeroing all attention flips the decision to ", h("bdi", {}, instead), "."];
    const named = maps.flip_set.slice(0, NAMED).flatMap((item, place) => [place ? ", " : "", h("bdi", { class: "tok tok-marked" }, heedful.heatmap.itemName(text.tokens, item, run.sentences))]);
    const more = maps.flip_set.length > NAMED ? ` and ${maps.flip_set.length - NAMED} more` : "";
    return ["Zeroing the attention of ", ...named, `${more} (marked; ${maps.flip_set.length} of ${text.tokens.length} items, the minimum) flips the decision to `, h("bdi", {}, instead), "."];
  };

  const deciding = ({ run, text, maps }) => {
    if (!maps.truth) return null;
    const items = [...maps.truth.keys()].filter((item) => maps.truth[item]);
    if (!items.length) return "No item is known to decide.";
    const named = items.slice(0, NAMED).flatMap((item, place) => [place ? ", " : "", h("bdi", { class: "tok tok-truth" }, heedful.heatmap.itemName(text.tokens, item, run.sentences))]);
    const more = items.length > NAMED ? ` and ${items.length - NAMED} more` : "";
    const mass = items.reduce((sum, item) => sum + maps.weights[item], 0);
    return ["Known to decide: ", ...named, `${more} (attention on them: ${heedful.figure(mass, 3)}).`];
  };

  // The maps an instance has: [{name, values}].
  const available = ({ run, text, maps }) => {
    const shown = [{ name: "attention", values: maps.weights }];
    if (maps.adversarial && text.tokens.length > 1) {
      const own = heedful.decode.renormalise(maps.weights);
      shown.push({ name: "adversarial", values: maps.adversarial });
      shown.push({ name: "difference", values: maps.adversarial.map((weight, item) => weight - own[item]), signed: true });
    }
    for (const name of run.measures) if (maps[name]) shown.push({ name, values: maps[name], signed: maps[name].some((value) => value < 0) });
    return shown;
  };

  const map = (known, { name, values, signed }, options = {}) => {
    const { run, text, maps } = known;
    const all = maps.flip_set?.length === text.tokens.length; // a mark on everything says nothing
    return heedful.heatmap(text.tokens, values, { title: title(name), note: measures[name], signed, lines: run.sentences, sentences: text.sentences,
      marked: new Set(name === "attention" && !all ? maps.flip_set ?? [] : []), truth: name === "attention" ? maps.truth : null, ...options });
  };

  // The maps with a choice of which are shown.
  const mapsOf = (known, options) => {
    const there = available(known);
    chosen ??= new Set(usual);
    const place = h("div", { class: "heat-maps" });
    const draw = () => place.replaceChildren(...there.filter(({ name }) => chosen.has(name)).map((one) => map(known, one, options)));
    const choice = h("fieldset", { class: "map-choice" }, h("legend", {}, "Maps"), there.map(({ name }) =>
      h("label", { title: measures[name] }, h("input", { type: "checkbox", checked: chosen.has(name), "data-choice": name, onchange: (event) => {
        if (event.target.checked) chosen.add(name);
        else chosen.delete(name);
        draw();
      } }), title(name))));
    draw();
    return [choice, place];
  };

  const notes = (known) => [comparison(known), without(known), deciding(known)].filter(Boolean).map((words) => h("div", { class: "note" }, words));

  return { load, headline, asked, notes, mapsOf, map, available, className };
})();
