// Which run a page is about, and how to change it: the selector that stands on every page of a run.
"use strict";

// A labelled select element of all runs (`without` one), grouped by corpus; of a single run the title. Without `onChange` the
// same page opens for the other run.
heedful.runSelect = (site, key, onChange, { label = "Run", without = null } = {}) => {
  const { h } = heedful;
  if (site.runs.length < 2) return h("p", { class: "quiet" }, heedful.printable(heedful.runOf(site, key).title));
  const groups = heedful.groups(site.runs.filter((run) => run.key !== without || run.key === key), (run) => run.corpus_label);
  const option = (run) => h("option", { value: run.key, selected: run.key === key }, heedful.printable(run.title));
  const choose = onChange ?? ((chosen) => heedful.route.go(heedful.route.link(heedful.route.now().page, [chosen])));
  return h("label", { class: "choice run-select" }, h("span", {}, label),
    h("select", { onchange: (event) => choose(event.target.value) },
      [...groups].map(([corpus, runs]) => h("optgroup", { label: heedful.printable(corpus) }, runs.map(option)))));
};

// The run of the site with a key; a link to a run that is not in the report says so.
heedful.runOf = (site, key) => {
  const found = site.runs.find((run) => run.key === key);
  if (!found) throw new Error(`this report has no run “${heedful.printable(key ?? "")}”; choose one on the Overview`);
  return found;
};
