// What to show instead, or how to show it: advice that follows from the verdict, and the maps of one text to choose from.
"use strict";

heedful.instead = (() => {
  const { h, plain } = heedful;

  const name = (method) => method.replaceAll("_", " ").replace("gradient input", "gradient × input");

  const better = ({ verdict }) => verdict.better && ["Show ", h("strong", {}, name(verdict.better.method)), " instead: its top words matter more to the decision than those of attention",
    h("span", { class: "quiet" }, ` (gain over random words ${heedful.figure(verdict.better.by)} higher, 95 % interval ${heedful.figure(verdict.better.low)} to ${heedful.figure(verdict.better.high)})`), "."];

  // Heading and paragraphs by answer.
  const told = (run) => {
    const { verdict } = run;
    const noun = run.sentences ? "sentences" : "words";
    const known = Object.values(verdict.answers).reduce((sum, count) => sum + count, 0);
    const yes = verdict.answers.yes ?? 0;
    const caution = known > 0 && `Judged by itself, the map may be shown for ${heedful.count(yes)} of ${heedful.count(known)} tested texts.`;
    const none = ["No method that was tested finds the deciding ", noun, " clearly better. Show the decision and how sure the model is of it, but no heat-map as its reason."];
    const cases = {
      yes: ["So this map may be shown.", [`The highlighted ${noun} are those the decision rests on, and the model decides through their weights. This holds for this model and texts like these.`]],
      "with caution": ["Here is how to show it.", ["Show the map only where it holds for the text itself, and say that it is a hint, not the reason.", caution, better(run)]],
      no: [verdict.better ? "Here is what to show instead." : "Here is what to do instead.", ["Do not show this map as the reason for a decision.", better(run) ?? none]],
      "not determined": ["Here is what is missing.", [verdict.level === "attention" && run.audited ? `Audit the model itself: from an evidence file alone no ${noun} can be deleted from the texts.`
        : verdict.more && `About ${heedful.count(verdict.more)} more texts would tell.`, "Until it is known, do not show this map as the reason for a decision.", better(run)]],
    };
    const [title, lines] = cases[verdict.answer];
    return { title, lines: lines.filter(Boolean) };
  };

  // The maps of a text, one at a time; where the word that decides stands in each.
  const figure = (known, deciding) => {
    const { run, text } = known;
    const maps = heedful.instance.available(known).filter(({ name: one }) => !["adversarial", "difference"].includes(one));
    if (maps.length < 2) return null;
    const best = run.verdict.answer === "yes" ? null : run.verdict.better?.method;
    const first = maps.find((map) => map.name === best) ?? maps[run.verdict.answer === "yes" ? 0 : 1];
    const place = h("div");
    const ranked = (values) => {
      if (deciding?.items.size !== 1) return null;
      const [item] = deciding.items;
      return h("p", {}, h("bdi", { class: "tok tok-deciding" }, heedful.heatmap.itemName(text.tokens, item, run.sentences)), ` is ${plain.ordinal(plain.rank(values, item))} of ${heedful.count(text.tokens.length)} in this map.`);
    };
    const show = (map) => place.replaceChildren(...[ranked(map.values), heedful.instance.map(known, map, { marked: new Set(), deciding: deciding?.items })].filter(Boolean));
    const group = `instead-${known.index}`;
    const choice = h("fieldset", { class: "map-choice" }, h("legend", {}, "Map"), maps.map((map) => h("label", {},
      h("input", { type: "radio", name: group, value: map.name, checked: map === first, onchange: () => show(map) }), name(map.name))));
    show(first);
    return h("div", { class: "instead" }, choice, place);
  };

  return { told, figure, name };
})();
