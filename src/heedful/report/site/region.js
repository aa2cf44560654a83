// What lies in a region of a chart: how many instances, the first of them, and the way to all. The region can be drawn
// with the mouse or given in numbers.
"use strict";

heedful.regionPanel = (run, chart, { choose }) => {
  const { h } = heedful;
  const first = 8; // instances that are listed
  const columns = chart.brush.flatMap((name) => run.columns.filter((column) => column.name === name));
  const count = h("p", { class: "region-count", "aria-live": "polite" });
  const list = h("ol", { class: "region-list" });
  let asked = 0; // the newest question: answers to older ones are dropped

  const number = (column, end) => h("input", { type: "number", step: "any", inputmode: "decimal", "data-column": column.name, "aria-label": `${column.title}, ${end}` });
  const inputs = columns.map((column) => ({ column, low: number(column, "from"), high: number(column, "to") }));
  const clear = h("button", { type: "button", hidden: true, onclick: () => choose(null) }, "Clear the region");

  const given = () => {
    const chosen = {};
    for (const { column, low, high } of inputs) {
      if (low.value === "" || high.value === "") continue;
      chosen[column.name] = [low.valueAsNumber, high.valueAsNumber].sort((a, b) => a - b);
    }
    choose(Object.keys(chosen).length ? chosen : null);
  };
  const form = h("form", { class: "region-form", onsubmit: (event) => {
    event.preventDefault();
    given();
  } }, inputs.map(({ column, low, high }) => h("fieldset", {}, h("legend", {}, column.title), low, " to ", high)), h("button", { type: "submit" }, "Choose"));

  const line = (index, id, figures) => {
    const words = h("span", { class: "quiet excerpt" });
    heedful.store.text(run.key, index).then(({ tokens }) => (words.textContent = heedful.printable(tokens.slice(0, 40).join(" "))), () => {});
    return h("li", {}, h("a", { href: heedful.route.link("instances", [run.key], { id }) }, heedful.printable(id)), " ",
      h("span", { class: "values" }, columns.map((column, place) => `${column.title} ${heedful.cell(figures[place][index], column, run)}`).join(", ")), words);
  };

  // Shows the instances of a region among those that the filters leave; without a region only how to make one.
  const show = async (chosen, filters) => {
    const question = (asked += 1);
    clear.hidden = !chosen;
    for (const { column, low, high } of inputs) {
      [low.value, high.value] = chosen?.[column.name] ?? ["", ""];
    }
    if (!chosen) {
      count.replaceChildren("Draw a rectangle in the chart to see the instances in it.");
      list.replaceChildren();
      return;
    }
    const conditions = { ...chart.within, ...filters, ...chosen };
    const found = await heedful.rows.select(run, conditions);
    const ids = await heedful.store.ids(run.key);
    const figures = await Promise.all(columns.map((column) => heedful.store.column(run.key, column.name)));
    if (question !== asked) return;
    const all = heedful.route.link("instances", [run.key], { where: heedful.rows.where(conditions) });
    const noun = found.length === 1 ? "instance" : "instances";
    const decided = chosen.decision ? `, decided ${heedful.printable(run.classes[chosen.decision[0]])}` : "";
    count.replaceChildren(found.length ? h("strong", {}, `${heedful.count(found.length)} ${noun} in the region${decided}. `) : "No instance in the region.",
      found.length ? h("a", { href: all }, `All ${heedful.count(found.length)} in Instances`) : "");
    list.replaceChildren(...found.slice(0, first).map((index) => line(index, ids[index], figures)));
  };

  const element = h("div", { class: "region" }, count, list, clear,
    h("details", {}, h("summary", {}, "Choose the region by numbers"), form));
  return { element, show };
};
