// Draws the report's charts. Each is one Vega-Lite specification, the same that made its files for print; the page only
// feeds it the rows of the instances, and gives it its colours and width.
"use strict";

heedful.charts = (() => {
  const { h } = heedful;

  let library = null;
  // Vega is far larger than the rest of the site together: it is loaded with the first chart.
  const load = () => {
    library ??= new Promise((resolve, reject) => {
      const script = h("script", { src: "assets/vega.js" });
      script.addEventListener("load", () => resolve());
      script.addEventListener("error", () => {
        library = null;
        reject(new Error("assets/vega.js is not there: the report is incomplete; write it again"));
      });
      document.head.append(script);
    });
    return library;
  };

  const parts = (spec) => [...(spec.layer ?? []), ...(spec.hconcat ?? []), ...(spec.vconcat ?? []), ...(spec.concat ?? []), ...(spec.spec ? [spec.spec] : [])];

  // The interval that the reader can draw in a chart; in layered charts it may belong to one of the layers.
  const interval = (spec) =>
    (spec.params ?? []).find((param) => (param.select?.type ?? param.select) === "interval") ?? parts(spec).map(interval).find(Boolean) ?? null;

  // Whether it is made of small multiples: these cannot be fitted to a width.
  const small = (spec) => Boolean(spec.facet || spec.spec);

  // Least and greatest figure of a column, if there is any.
  const extent = (rows, column) => rows.reduce((ends, { [column]: value }) =>
    (value === null ? ends : [Math.min(ends?.[0] ?? value, value), Math.max(ends?.[1] ?? value, value)]), null) ?? [0, 1];

  // A region as a brush has it, by axis; a side that is not limited is as long as its figures reach.
  const brushed = ({ brush }, chosen, rows) => Object.fromEntries(["x", "y"].slice(0, brush.length).map((side, index) =>
    [side, chosen[brush[index]] ?? extent(rows, brush[index])]));

  // The specification in the theme's colours, as wide as its place, with the region that is chosen as of now.
  const dressed = (chart, width, chosen, rows) => {
    const spec = heedful.chartMarks(structuredClone(chart.spec));
    spec.config = heedful.chartConfig(width);
    delete spec.title; // it tells how many are drawn of all instances: here filters change that
    if (small(spec)) spec.config.view.continuousWidth = Math.max(width - 80, 160); // the axis beside it needs some
    else spec.width = width;
    const brush = interval(spec);
    if (brush && chosen) brush.value = brushed(chart, chosen, rows);
    return spec;
  };

  // What Vega would announce without a name, such as the brush, is not announced; bars have names of their own.
  const silent = (part) => {
    for (const kind of ["marks", "axes", "legends"]) for (const one of part[kind] ?? []) silent(Object.assign(one, { aria: false }));
    return part;
  };

  // Four figures are as exact as a hand with a mouse, make short addresses, and count the same on every page.
  const rounded = (ends) => ends.map((end) => Number(end.toPrecision(4))).sort((a, b) => a - b);

  // The brush as {column: [low, high]}, or null if there is none. In a chart of small multiples, class by class, it lies in
  // one class: that is a condition, too.
  const region = (view, name, { brush: columns, spec }, classes) => {
    const [tuple] = view.data(`${name}_store`);
    const found = {};
    const cell = spec.facet?.row?.field === "decided" ? classes.indexOf(/__facet_row_(.*)$/s.exec(tuple?.unit)?.[1]) : -1;
    if (cell >= 0) found.decision = [cell, cell];
    (tuple?.fields ?? []).forEach(({ channel, type }, index) => {
      const column = columns[channel === "y" ? 1 : 0];
      if (column && type.startsWith("R")) found[column] = rounded([...tuple.values[index]]);
    });
    return Object.keys(found).length ? found : null;
  };

  const MOST = 10_000; // rows of a chart that sums them up: more would keep the reader waiting for seconds

  // Every k-th of too many rows: the same rows every time.
  const sample = (rows, most) => (rows.length <= most ? rows : Array.from({ length: most }, (_, index) => rows[Math.floor((index * rows.length) / most)]));

  const told = (drawn, all, { points, files }) => {
    if (drawn === all) return "";
    const shown = `${heedful.count(drawn)} of ${heedful.count(all)} instances`;
    return points ? `${shown} are drawn.` : `Drawn from ${shown}${files?.length ? "; the files have all" : ""}.`;
  };

  // Draws a chart into `place`; `onBrush` is told each region, or null; `classes` are the names of the classes, as in the
  // rows. Returns {feed(rows), choose(region)}.
  const draw = async (place, chart, rows, { onBrush = () => {}, classes = [] } = {}) => {
    await load();
    const note = h("p", { class: "quiet chart-note" });
    const plot = h("div");
    const image = h("div", { class: "plot", role: "img", "aria-label": `${chart.title}. ${chart.caption}` }, plot); // Vega names its own
    const brush = chart.brush && interval(chart.spec);
    let chosen = null;
    let embedded = null;
    let width = 0;
    place.replaceChildren(image, note);

    const feed = async (given) => {
      rows = given;
      const some = sample(rows, chart.points ?? MOST);
      note.textContent = told(some.length, rows.length, chart);
      await embedded.view.data("rows", some.map((row) => ({ ...row }))).resize().runAsync(); // Vega writes into its rows
    };

    let waiting = 0;
    const dragged = () => { // a drag tells many regions: one a frame is enough
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => {
        chosen = region(embedded.view, brush.name, chart, classes);
        onBrush(chosen);
      });
    };

    const paint = async () => {
      embedded?.finalize();
      width = place.clientWidth;
      embedded = await window.vegaEmbed(plot, dressed(chart, width, chosen, rows), {
        ast: true, // no code is made from text: the page forbids it
        actions: false,
        patch: (whole) => (small(chart.spec) ? silent(whole) : { ...silent(whole), autosize: { type: "fit-x", contains: "padding" } }),
        logLevel: 1, // errors: a chart without rows, as before the first feeding, is none
        renderer: chart.points ? "canvas" : "svg",
        tooltip: { theme: heedful.theme.now() },
      });
      await feed(rows);
      if (brush) embedded.view.addSignalListener(brush.name, dragged);
    };

    let last = Promise.resolve(); // paintings follow each other; one that failed stops no other
    const repaint = () => {
      const painted = last.then(() => place.isConnected && paint());
      last = painted.catch(() => {});
      return painted;
    };
    await paint();

    const themed = () => (place.isConnected ? repaint() : window.removeEventListener("heedful-theme", themed));
    window.addEventListener("heedful-theme", themed);
    let resizing = 0;
    new ResizeObserver(() => {
      clearTimeout(resizing);
      resizing = setTimeout(() => Math.abs(place.clientWidth - width) > 4 && repaint(), 150);
    }).observe(place);

    const choose = async (wanted) => {
      chosen = wanted;
      await repaint();
      onBrush(chosen);
    };
    return { feed: async (given) => (await last, feed(given)), choose };
  };

  return { draw };
})();
