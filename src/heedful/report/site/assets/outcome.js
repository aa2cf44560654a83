// What the model decides under some attention, in plain words: a bar for each likely class, and a sentence beside the
// model's own decision.
"use strict";

heedful.outcome = (() => {
  const { h, plain } = heedful;
  const MOST = 3; // classes with a bar
  const NEAR = 0.05; // an output that moves by less is nearly the same

  // own: the output under the model's own attention. Returns {element, show(output) -> {tvd, flipped}}.
  const make = (run, own) => {
    const before = heedful.decode.decision(own);
    const was = heedful.decode.chances(own);
    const bars = h("div", { class: "outcome-bars" });
    const words = h("p", { class: "outcome-words" });
    const name = (index) => h("bdi", {}, heedful.instance.className(run, index));
    const bar = (now, index, decision) => h("div", { class: `class-bar${index === decision ? " class-decided" : ""}`, "data-class": index },
      h("span", { class: "class-name" }, name(index)),
      h("span", { class: "class-track" }, h("span", { class: "class-fill", style: { "--at": now[index].toFixed(4) } }), h("span", { class: "class-own", style: { "--at": was[index].toFixed(4) } })),
      h("span", { class: "class-value" }, plain.chance(now[index])));
    const show = (output) => {
      const now = heedful.decode.chances(output);
      const decision = heedful.decode.decision(output);
      const tvd = heedful.decode.tvd(own, output);
      const most = now.map((chance, index) => Math.max(chance, was[index]));
      const shown = [...most.keys()].sort((one, other) => most[other] - most[one] || one - other).slice(0, MOST).sort((one, other) => one - other);
      bars.replaceChildren(...shown.map((index) => bar(now, index, decision)));
      const flipped = decision !== before;
      words.replaceChildren(...(flipped ? ["The decision changes: ", h("strong", {}, name(decision)), " instead of ", name(before), "."]
        : [tvd < NEAR ? "Still " : "Still, though with another certainty, ", h("strong", {}, name(decision)), tvd < 5e-4 ? `: the output ${tvd > 0 ? "hardly moves" : "is the same"}.` : `: the output moves by ${plain.points(tvd)}.`]));
      Object.assign(element.dataset, { tvd, decision, flipped });
      element.classList.toggle("flipped", flipped);
      return { tvd, flipped, decision, text: words.textContent };
    };
    const element = h("div", { class: "outcome" }, words, bars);
    return { element, show };
  };

  return Object.assign(make, { NEAR });
})();
