// A chart on a page, with its title, caption, files and region. It is drawn when the reader comes near it, and one at a time,
// so that the page answers in between.
"use strict";

heedful.inTurn = (() => {
  let last = Promise.resolve();
  // Does some work after all that was asked for before; one that fails stops no other.
  return (work) => {
    const done = last.then(() => new Promise((resolve) => setTimeout(resolve))).then(work);
    last = done.catch(() => {});
    return done;
  };
})();

heedful.chartBox = (run, chart) => {
  const { h } = heedful;
  const heading = h("h3", { id: `chart-${chart.name}` }, chart.title);
  const place = h("div", { class: "plot-place", "data-chart": chart.name }, h("p", { class: "quiet" }, "Drawing…"));
  let filters = {};
  let chosen = null;
  let drawn = null; // the chart, once it is drawn
  let stale = true; // whether it shows other rows than the filters ask for
  let near = false;

  const onBrush = (region) => {
    chosen = region;
    panel?.show(region, filters);
  };
  const work = async () => {
    if (!stale) return;
    stale = false;
    const rows = await heedful.rows.build(run, chart.columns, await heedful.rows.select(run, filters));
    if (!rows.length) {
      drawn = null;
      place.replaceChildren(h("p", { class: "quiet" }, "These filters leave no text to draw."));
    } else if (drawn) await drawn.feed(rows);
    else drawn = await heedful.charts.draw(place, chart, rows, { onBrush, classes: run.classes.map(heedful.printable) });
  };
  const draw = () => heedful.inTurn(work).catch((error) => place.replaceChildren(h("p", { class: "problem", role: "alert" }, error.message)));
  const panel = chart.brush && heedful.regionPanel(run, chart, { choose: async (region) => {
    await draw();
    await drawn?.choose(region);
  } });

  new IntersectionObserver((entries) => {
    near = entries.at(-1).isIntersecting;
    if (near) draw();
  }, { rootMargin: "300px" }).observe(place);
  panel?.show(null, filters);

  // The instances that the page's filters leave, as conditions on columns. Charts out of sight wait for the reader.
  const filter = (conditions) => {
    filters = conditions;
    stale = true;
    if (near) draw();
    panel?.show(chosen, filters);
  };

  const element = h("section", { class: "chart-box", "aria-labelledby": heading.id }, heading,
    h("figure", {}, place, h("figcaption", {}, chart.caption)),
    chart.files.length > 0 && h("p", { class: "downloads" }, "Download: ", heedful.saving.links(chart.files)),
    panel?.element);
  return { element, filter };
};
