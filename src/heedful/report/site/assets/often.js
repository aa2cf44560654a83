// How often it is so, over all texts: a hundred squares for the texts, a choice of what is changed, and the way to them.
"use strict";

heedful.often = (() => {
  const { h } = heedful;
  const CELLS = 100;
  const changes = {
    top: ["the top word’s attention is taken away", "the top sentence’s attention is taken away"],
    uniform: ["every word gets the same attention", "every sentence gets the same attention"],
    shuffled: ["the attention is shuffled, however often we tried", "the attention is shuffled, however often we tried"],
    any: ["the attention is any other at all (exact)", "the attention is any other at all (exact)"],
  };
  const answers = { yes: "yes", "with caution": "with caution", no: "no", "not determined": "not determined" };

  // What can be asked: {name, label, parts: [{kind, words, count, where}], n, lead}.
  const questions = (run) => {
    const noun = run.sentences ? 1 : 0;
    const found = run.story.changes.map(({ name, kept, n, column }) => ({ name, n, label: `when ${changes[name][noun]}`,
      lead: [`The decision stays the same in `, kept, `, when ${changes[name][noun]}.`],
      parts: [{ kind: "kept", words: "same decision", count: kept, where: { [column]: [0, 0] } }, { kind: "changed", words: "another decision", count: n - kept, where: { [column]: [name === "shuffled" ? 1e-9 : 1, 1] } }] }));
    const each = Object.entries(run.verdict.answers).filter(([, count]) => count > 0);
    const n = each.reduce((sum, [, count]) => sum + count, 0);
    const own = n > 0 && { name: "each", n, label: "each tested text, judged by itself", lead: ["Judged by itself, the map may be shown in ", run.verdict.answers.yes ?? 0, "."],
      parts: each.map(([answer, count]) => ({ kind: answer.replace(" ", "-"), words: answers[answer] ?? answer, count, where: null })) };
    return [...(own && run.verdict.answer === "yes" ? [own] : []), ...found.sort((one, other) => other.kept / other.n - one.kept / one.n), ...(own && run.verdict.answer !== "yes" ? [own] : [])];
  };

  // So many of a hundred squares for each part: the largest remainders are rounded up, and what is there has one at least.
  const cellsOf = (parts, n) => {
    const exact = parts.map(({ count }) => (CELLS * count) / n);
    const cells = exact.map((value, place) => Math.max(Math.floor(value), parts[place].count ? 1 : 0));
    const rest = [...exact.keys()].sort((one, other) => (exact[other] % 1) - (exact[one] % 1));
    for (let step = 0; cells.reduce((sum, value) => sum + value, 0) < CELLS; step += 1) cells[rest[step % rest.length]] += 1;
    while (cells.reduce((sum, value) => sum + value, 0) > CELLS) cells[cells.indexOf(Math.max(...cells))] -= 1;
    return cells;
  };

  const share = (count, n) => h("strong", {}, `${heedful.percent(count / n)} of the texts`);

  const figure = (run, { parts, n, lead: [before, count, after] }) => {
    const cells = cellsOf(parts, n);
    const link = ({ where }) => where && h("a", { href: heedful.route.link("instances", [run.key], { where: heedful.rows.where(where) }) }, "see them");
    return [h("p", { class: "often-lead" }, before, share(count, n), after),
      h("div", { class: "waffle", "aria-hidden": "true" }, parts.flatMap(({ kind }, place) => Array.from({ length: cells[place] }, () => h("span", { class: `cell-${kind}` })))),
      h("ul", { class: "waffle-legend" }, parts.map((part) => h("li", {}, h("span", { class: `waffle-key cell-${part.kind}`, "aria-hidden": "true" }),
        `${part.words}: ${heedful.count(part.count)} of ${heedful.count(n)} `, part.count > 0 && link(part))))];
  };

  // The figure with its choice, or null where nothing was counted.
  const make = (run) => {
    const asked = questions(run);
    if (!asked.length) return null;
    const place = h("div", { "aria-live": "polite" });
    const show = (name) => place.replaceChildren(...figure(run, asked.find((one) => one.name === name)).flat());
    const choice = h("label", { class: "choice" }, h("span", {}, "What happens"), h("select", { onchange: (event) => show(event.target.value) },
      asked.map(({ name, label }) => h("option", { value: name }, label))));
    show(asked[0].name);
    return h("div", { class: "often" }, asked.length > 1 && choice, place);
  };

  return Object.assign(make, { questions, cellsOf });
})();
