// What a run is: its facts, its scores, how it was trained.
"use strict";

heedful.facts = (() => {
  const { h } = heedful;

  const list = (facts) => h("dl", { class: "facts" }, facts.map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, heedful.printable(String(text))))));

  const scores = { accuracy: "Accuracy", macro_f1: "Macro F1", roc_auc: "ROC AUC", average_precision: "Average precision" };
  const splits = { train: "training", dev: "dev", test: "test" };

  // Scores by split, as far as they are known.
  const metrics = (told) => {
    const known = Object.keys(splits).filter((split) => told[split]);
    const rows = Object.entries(scores).filter(([name]) => known.some((split) => Number.isFinite(told[split][name])));
    return heedful.scroller("Scores", h("table", { class: "small" }, h("caption", {}, "Model performance"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "score"), known.map((split) => h("th", { scope: "col", class: "number" }, splits[split])))),
      h("tbody", {}, rows.map(([name, title]) => h("tr", {}, h("th", { scope: "row" }, title),
        known.map((split) => h("td", { class: "number" }, heedful.figure(told[split][name] ?? null, 3))))))));
  };

  // Figures of an epoch, those of the dev texts among them, by name.
  const flat = (epoch) => ({ ...epoch, ...epoch.dev });

  // One row an epoch with a bar for the loss, so that its fall is seen.
  const history = (epochs) => {
    if (!epochs.length) return h("p", { class: "quiet" }, "Training was not recorded.");
    const told = epochs.map(flat);
    const most = Math.max(...told.map((epoch) => epoch.loss ?? 0)) || 1;
    const columns = Object.entries(scores).filter(([name]) => told.some((epoch) => Number.isFinite(epoch[name])));
    const number = (value) => h("td", { class: "number" }, heedful.figure(value ?? null, 3));
    return heedful.scroller("Training", h("table", { class: "small" }, h("caption", {}, "Training by epoch, with dev scores"),
      h("thead", {}, h("tr", {}, ["epoch", "loss", ...columns.map(([, title]) => title.toLowerCase())].map((title) => h("th", { scope: "col", class: "number" }, title)))),
      h("tbody", {}, told.map((epoch) => h("tr", {}, h("th", { scope: "row", class: "number" }, String(epoch.epoch)),
        h("td", { class: "number bar-cell" }, heedful.figure(epoch.loss ?? null, 3), heedful.bar((epoch.loss ?? 0) / most)), columns.map(([name]) => number(epoch[name])))))));
  };

  return { list, metrics, history };
})();
