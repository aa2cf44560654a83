// A chart on a page, with its title, caption, files and region. It is drawn when the reader comes near it.
"use strict";

heedful.chartBox = (run, chart) => {
  const { h } = heedful;
  const heading = h("h3", { id: `chart-${chart.name}` }, chart.title);
  const place = h("div", { class: "plot-place", "data-chart": chart.name }, h("p", { class: "quiet" }, "Drawing…"));
  let drawn = null; // promise of the chart, once begun
  let filters = {};
  let chosen = null;

  const rows = async () => heedful.rows.build(run, chart.columns, await heedful.rows.select(run, filters));
  const panel = chart.brush && heedful.regionPanel(run, chart, { choose: async (region) => (await draw()).choose(region) });
  const onBrush = (region) => {
    chosen = region;
    panel?.show(region, filters);
  };
  const draw = () => {
    drawn ??= rows().then((given) => heedful.charts.draw(place, chart, given, { onBrush, classes: run.classes.map(heedful.printable) }));
    drawn.catch((error) => place.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message)));
    return drawn;
  };

  const near = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    near.disconnect();
    draw();
  }, { rootMargin: "600px" });
  near.observe(place);
  panel?.show(null, filters);

  // The instances that the page's filters leave, as conditions on columns.
  const filter = async (conditions) => {
    filters = conditions;
    if (!drawn) return;
    await (await drawn).feed(await rows());
    panel?.show(chosen, filters);
  };

  const element = h("section", { class: "chart-box", "aria-labelledby": heading.id }, heading,
    h("figure", {}, place, h("figcaption", {}, chart.caption)),
    chart.files.length > 0 && h("p", { class: "downloads" }, "Take away: ", heedful.saving.links(chart.files)),
    panel?.element);
  return { element, filter };
};
