// The word that decides, as far as it is known: the items marked as the truth, or the item whose deletion moves the output
// most. It is outlined in maps.
"use strict";

heedful.deciding = (() => {
  // {items: Set, how: in words} or null.
  const find = ({ maps, text }) => {
    const known = maps.truth ? [...maps.truth.keys()].filter((item) => maps.truth[item]) : [];
    if (known.length && known.length < text.tokens.length) return { items: new Set(known), how: known.length === 1 ? "known to decide" : "known to decide together" };
    const deleted = maps.leave_one_out;
    if (!deleted || deleted.length < 2) return null;
    let most = 0;
    deleted.forEach((value, item) => { if (Math.abs(value) > Math.abs(deleted[most])) most = item; });
    return Math.abs(deleted[most]) > 0 ? { items: new Set([most]), how: "whose deletion moves the output most" } : null;
  };

  // What the outline means.
  const legend = (found, run) => found && heedful.h("p", { class: "quiet outline-legend" }, heedful.h("span", { class: "tok tok-deciding" }, "outlined"),
    ` the ${run.sentences ? "sentence" : "word"}${found.items.size > 1 ? "s" : ""} ${found.how}`);

  return { find, legend };
})();
