// Charts in the site's colours: a Vega configuration made of the variables of style.css.
"use strict";

heedful.chartConfig = () => {
  const { colour } = heedful.theme;
  const [ink, soft, line, accent] = ["ink", "ink-soft", "line", "accent"].map(colour);
  const quiet = { labelColor: soft, titleColor: soft, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    background: "transparent",
    font: colour("sans"),
    title: { color: ink, subtitleColor: soft },
    axis: { ...quiet, gridColor: line, domainColor: line, tickColor: line },
    legend: quiet,
    header: quiet,
    view: { stroke: line },
    mark: { color: accent },
    text: { color: ink },
    rule: { color: soft },
    range: {
      category: [1, 2, 3, 4, 5, 6].map((number) => colour(`series-${number}`)),
      ramp: [colour("wash"), accent],
      heatmap: [colour("wash"), accent],
      diverging: [colour("cool"), colour("panel"), colour("warm")],
    },
  };
};
