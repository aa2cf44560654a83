// The page of one instance beside the list: headline, maps, notes, all its figures, and what to do with it.
"use strict";

heedful.detail = (() => {
  const { h } = heedful;

  const figures = ({ run, values }) => {
    const experiments = [...new Set(run.columns.map((column) => column.experiment))];
    const rows = (experiment) => run.columns.filter((column) => column.experiment === experiment).map((column) =>
      h("tr", { "data-figure": column.name }, h("th", { scope: "row" }, column.title),
        h("td", { class: "number" }, h("bdi", {}, heedful.printable(heedful.cell(values[column.name], column, run)))), h("td", { class: "soft" }, column.meaning)));
    return h("details", { class: "all-figures" }, h("summary", {}, `All figures (${run.columns.length})`),
      experiments.map((experiment) => h("table", {}, h("caption", {}, experiment.replaceAll("_", " ")), h("tbody", {}, rows(experiment)))));
  };

  // One line an item, all maps as columns.
  const csv = ({ run, text, maps }) => {
    const names = ["weights", "adversarial", ...run.measures, "truth"].filter((name) => maps[name]);
    const flips = new Set(maps.flip_set ?? []);
    const rows = text.tokens.map((token, item) => [item, token, ...names.map((name) => maps[name][item]), ...(maps.flip_set ? [Number(flips.has(item))] : [])]);
    return heedful.saving.csv(["item", "token", ...names, ...(maps.flip_set ? ["flip_set"] : [])], rows);
  };

  const fileName = (id) => `${id.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80)}.csv`;

  // The address of what is seen. Without leave to write to the clipboard it is shown, to be copied by hand.
  const copyLink = async (button) => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy link"), 1500);
    } catch {
      const field = h("input", { class: "link", readonly: true, value: location.href, "aria-label": "Link to this view" });
      button.replaceWith(field);
      field.select();
    }
  };

  const copyButton = () => h("button", { type: "button", onclick: (event) => copyLink(event.currentTarget) }, "Copy link");

  // Links to the same instance on other pages; Compare needs a second run over the same texts.
  const links = (site, { run, id }) => {
    const other = site.runs.find((one) => one.texts === run.texts && one.key !== run.key);
    return [
      h("a", { class: "button primary", href: heedful.route.link("what-if", [run.key], { id }) }, "What if …"),
      other ? h("a", { class: "button", href: heedful.route.link("compare", [run.key, other.key], { id }) }, "Compare") : null,
    ];
  };

  // step: {position, count, go(offset)}: where the instance stands in the list.
  const draw = (site, known, step) => {
    const title = h("h2", { tabindex: "-1" }, h("bdi", {}, heedful.heatmap.folded(known.id, 60)));
    return h("article", { class: "instance", "aria-label": `Instance ${heedful.printable(known.id)}`, "data-id": known.id },
      h("div", { class: "instance-head" }, title,
        h("div", { class: "steps" },
          h("button", { type: "button", "aria-label": "Previous instance", disabled: step.position <= 0, onclick: () => step.go(-1) }, "←"),
          h("span", { class: "soft" }, step.position < 0 ? "not in this list" : `${heedful.count(step.position + 1)} of ${heedful.count(step.count)}`),
          h("button", { type: "button", "aria-label": "Next instance", disabled: step.position < 0 || step.position >= step.count - 1, onclick: () => step.go(1) }, "→"))),
      heedful.instance.headline(known), heedful.instance.asked(known),
      h("div", { class: "actions" }, links(site, known), copyButton(),
        heedful.saving.button("Download CSV", fileName(known.id), () => csv(known))),
      heedful.instance.mapsOf(known), heedful.instance.notes(known), figures(known));
  };

  return Object.assign(draw, { copyButton });
})();
