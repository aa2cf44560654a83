// Draws the report's charts. Each is one Vega-Lite specification, the same that made its files for print; the page only
// feeds it the rows of the instances and puts it in the colours of the theme.
"use strict";

heedful.charts = (() => {
  const { h } = heedful;
  const drawn = new Set(); // what is on the page, to be drawn anew when the theme changes

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

  // The interval that the reader can draw in a chart; in layered charts it belongs to one of the layers.
  const interval = (spec) => {
    const own = (spec.params ?? []).find((param) => (param.select?.type ?? param.select) === "interval");
    if (own) return own;
    for (const part of [...(spec.layer ?? []), ...(spec.concat ?? []), ...(spec.hconcat ?? []), ...(spec.vconcat ?? []), ...(spec.spec ? [spec.spec] : [])]) {
      const found = interval(part);
      if (found) return found;
    }
    return null;
  };

  // Four figures are as exact as a hand with a mouse, make short addresses, and count the same on every page.
  const rounded = (ends) => ends.map((end) => Number(end.toPrecision(4))).sort((a, b) => a - b);

  // The brush as {column: [low, high]}, or null if there is none.
  const region = (view, name, columns) => {
    const [tuple] = view.data(`${name}_store`);
    if (!tuple) return null;
    const found = {};
    tuple.fields.forEach(({ channel, type }, index) => {
      const column = columns[channel === "y" ? 1 : 0];
      if (column && type.startsWith("R")) found[column] = rounded([...tuple.values[index]]);
    });
    return Object.keys(found).length ? found : null;
  };

  // The specification in the theme's colours, with the region that is chosen as of now.
  const specification = (chart, chosen) => {
    const spec = structuredClone(chart.spec);
    spec.config = window.vega.mergeConfig(spec.config ?? {}, heedful.chartConfig());
    const brush = interval(spec);
    if (brush && chart.brush && chosen) {
      brush.value = Object.fromEntries(["x", "y"].flatMap((channel, index) => (chosen[chart.brush[index]] ? [[channel, chosen[chart.brush[index]]]] : [])));
    }
    return spec;
  };

  // Every k-th of too many rows: the same rows every time. `note` says how many are shown.
  const sample = (rows, most) => {
    if (!most || rows.length <= most) return rows;
    return Array.from({ length: most }, (_, index) => rows[Math.floor((index * rows.length) / most)]);
  };

  // Draws a chart into `place`. Returns {feed(rows), choose(region)}; `onBrush` is told each region, or null.
  const draw = async (place, chart, rows, { onBrush = () => {} } = {}) => {
    await load();
    const own = { place, chosen: null, rows, result: null };
    const note = h("p", { class: "quiet chart-note" });
    const canvas = h("div", { class: "plot", role: "img", "aria-label": `${chart.title}. ${chart.caption}` });
    place.replaceChildren(canvas, note);

    own.feed = async (given) => {
      own.rows = given;
      const some = sample(given, chart.points);
      note.textContent = some.length < given.length ? `${heedful.count(some.length)} of ${heedful.count(given.length)} instances are drawn.` : "";
      await own.result?.view.data("rows", some.map((row) => ({ ...row }))).resize().runAsync();
    };

    own.paint = async () => {
      own.result?.finalize();
      own.result = await window.vegaEmbed(canvas, specification(chart, own.chosen), {
        ast: true, // no code is made from text: the page forbids it
        actions: false,
        renderer: chart.points ? "canvas" : "svg",
        tooltip: { theme: heedful.theme.now() },
      });
      await own.feed(own.rows);
      const brush = chart.brush && interval(chart.spec);
      if (brush) own.listen(own.result.view, brush.name);
    };

    own.listen = (view, name) => {
      let waiting = 0;
      view.addSignalListener(name, () => { // a drag tells many regions: one a frame is enough
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(() => {
          own.chosen = region(view, name, chart.brush);
          onBrush(own.chosen);
        });
      });
    };

    own.choose = async (chosen) => {
      own.chosen = chosen;
      await own.paint();
      onBrush(chosen);
    };

    await own.paint();
    drawn.add(own);
    return own;
  };

  window.addEventListener("heedful-theme", () => {
    for (const own of drawn) {
      if (own.place.isConnected) own.paint();
      else drawn.delete(own);
    }
  });

  return { draw, sample };
})();
