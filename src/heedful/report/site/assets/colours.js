// Charts in the site's colours: a Vega configuration made of the variables of style.css. What a chart means stands in its
// specification; only what surrounds the marks is said here. `width` is what there is for the chart.
"use strict";

heedful.chartConfig = (width) => {
  const { colour } = heedful.theme;
  const [ink, soft, line, edge] = ["ink", "ink-soft", "line", "edge"].map(colour);
  const words = { labelColor: ink, titleColor: ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    background: "transparent",
    font: colour("sans"),
    padding: 4,
    view: { stroke: null, continuousHeight: 240 },
    axis: { ...words, labelColor: soft, domainColor: edge, tickColor: edge, gridColor: line, titlePadding: 8 },
    axisX: { titleLimit: Math.max(width - 60, 120), labelOverlap: true },
    header: { ...words, labelFontWeight: "bold" },
    legend: { ...words, symbolStrokeWidth: 2 },
    title: { color: soft, fontSize: 11, fontWeight: "normal", anchor: "start" },
    rule: { color: ink },
    tick: { color: ink },
    text: { color: ink, fontSize: 11 },
  };
};

// The marks of a chart in the colours of the theme, and opaque, so that they stand out from the ground as much as they
// should; `spec` is changed. The first colours are those of the files for print, as report/charts/marks.py has them.
heedful.chartMarks = (spec) => {
  const printed = ["#0072b2", "#d98200", "#009378"];
  const shown = printed.map((_, index) => heedful.theme.colour(`mark-${index + 1}`));
  const own = (value) => (printed.includes(value) ? shown[printed.indexOf(value)] : value);
  const walk = (part) => {
    for (const [name, value] of Object.entries(part)) {
      if (value && typeof value === "object") {
        if (name !== "params") walk(value); // a brush is to be seen through
      } else if (name === "opacity" || name === "fillOpacity") part[name] = 1;
      else part[name] = own(value);
    }
    return part;
  };
  return walk(spec);
};
