// What can be said of two runs as a whole: whether they can be compared, their key figures, how often they decide alike.
"use strict";

heedful.compared = (() => {
  const { h, route, store } = heedful;

  // The two runs to begin with: the named one and one that has read the same texts, or else the first two that have. Null
  // where there are none.
  const pairOf = (site, key) => {
    const fitting = (run) => site.runs.find((other) => other.texts === run.texts && other.key !== run.key);
    const named = site.runs.find((run) => run.key === key);
    const first = named && fitting(named) ? named : site.runs.find(fitting);
    return first ? [first, fitting(first)] : null;
  };

  // Which runs have read the same texts as this one, as links.
  const partners = (site, run) => {
    const others = site.runs.filter((other) => other.texts === run.texts && other.key !== run.key);
    if (!others.length) return h("p", {}, "No other run in this report was tested on the texts of ", h("strong", {}, heedful.printable(run.title)), ". Runs can be compared when they are of one corpus, with the same test texts.");
    return [h("p", {}, "Comparable with ", h("strong", {}, heedful.printable(run.title)), ":"),
      h("ul", { class: "partners" }, others.map((other) => h("li", {}, h("a", { href: route.link("compare", [run.key, other.key]) }, heedful.printable(other.title)))))];
  };

  // Why two runs cannot be compared, or null.
  const obstacle = (site, first, second) => {
    if (first.key === second.key) return ["A run is not compared with itself. Choose another second run.", partners(site, first)];
    if (first.texts === second.texts) return null;
    const why = first.corpus === second.corpus ? "Same corpus, but different test texts (another subset, split or version)" : `One is of ${first.corpus_label}, the other of ${second.corpus_label}`;
    return [`${heedful.printable(why)}: there is no instance that both have read, so nothing can be compared one by one.`, partners(site, first), partners(site, second)];
  };

  const keyFigures = (site, runs) => {
    const number = (figure) => figure?.mean ?? figure?.value ?? null;
    const cell = (value, kind) => (kind === "percent" ? heedful.percent(value) : heedful.figure(value));
    const rows = site.figures.filter(({ name }) => runs.some((run) => run.figures[name])).map(({ name, title, meaning, kind }) => {
      const [first, second] = runs.map((run) => number(run.figures[name]));
      const apart = first === null || second === null ? null : second - first;
      const size = kind === "percent" ? `${Math.round(100 * Math.abs(apart))} points` : heedful.figure(Math.abs(apart));
      const signed = apart === null ? "–" : `${Number.parseFloat(size) === 0 ? "" : apart > 0 ? "+" : "−"}${size}`;
      return h("tr", { "data-figure": name }, h("th", { scope: "row", title: meaning }, title), h("td", { class: "number" }, cell(first, kind)), h("td", { class: "number" }, cell(second, kind)), h("td", { class: "number" }, signed));
    });
    return heedful.scroller("Key figures", h("table", { class: "key-figures" }, h("caption", {}, "Key figures"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "figure"), runs.map((run, place) => h("th", { scope: "col", class: "number", title: run.title }, `${"AB"[place]}: ${heedful.printable(run.model_label)}`)), h("th", { scope: "col", class: "number" }, "B − A"))), h("tbody", {}, rows)));
  };

  // How often the runs decide alike, and who is right where they do not.
  const agreement = async (page) => {
    const [a, b] = await Promise.all(page.runs.map((run) => store.column(run.key, "decision")));
    const label = page.runs[0].columns.some(({ name }) => name === "label") ? await store.column(page.runs[0].key, "label") : null;
    const [names, others] = page.runs.map((run) => run.classes);
    const counts = { alike: 0, first: 0, second: 0, neither: 0 };
    for (let index = 0; index < a.length; index += 1) {
      const [one, other] = [names[a[index]], others[b[page.match[index]]]];
      if (one === other) counts.alike += 1;
      else if (label && names[label[index]] === one) counts.first += 1;
      else if (label && names[label[index]] === other) counts.second += 1;
      else counts.neither += 1;
    }
    const rest = a.length - counts.alike;
    const who = label && rest ? ` Where they differ, A is right in ${heedful.count(counts.first)}, B in ${heedful.count(counts.second)}, neither in ${heedful.count(counts.neither)}.` : "";
    return h("p", { class: "agreement", "data-alike": counts.alike, "data-first": counts.first, "data-second": counts.second },
      "Same decision in ", h("strong", {}, heedful.percent(a.length ? counts.alike / a.length : null)), ` of the instances (${heedful.count(counts.alike)} of ${heedful.count(a.length)}).${who}`);
  };

  // The chart of one figure against another, its axes named after the figure.
  const chart = (given, { title, meaning }) => {
    const axes = { a: `A: ${title}`, b: `B: ${title}` };
    const named = (part) => {
      if (Array.isArray(part)) return part.map(named);
      if (part === null || typeof part !== "object") return part;
      const copy = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, named(value)]));
      return copy.field in axes && copy.type === "quantitative" ? { ...copy, title: axes[copy.field] } : copy;
    };
    return { ...given, title: `${title}: A against B`, caption: meaning, spec: named(given.spec) };
  };

  return { pairOf, obstacle, keyFigures, agreement, chart };
})();
