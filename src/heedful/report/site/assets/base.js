// The one global of the site: every script adds its part to it.
"use strict";

const heedful = { pages: {} };

// An element with attributes and children. Text is data: it becomes text nodes, never markup.
// Attributes that begin with "on" are listeners; false, null and undefined are left out; `style` is an object.
heedful.h = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, text]) => element.style.setProperty(key, text));
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

// Numbers as people read them; what is undefined is called so.
heedful.figure = (value, digits = 2) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = value.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text; // never -0.00
};
heedful.percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(100 * share)} %`);
heedful.count = (number) => (number === null || number === undefined ? "–" : number.toLocaleString("en"));

// A figure of an instance by the kind of its column; undefined figures are NaN in columns of numbers.
heedful.cell = (value, column, run) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (column.kind === "class") return run.classes[value];
  if (column.kind === "flag") return value ? "yes" : "no";
  return column.kind === "count" ? heedful.count(value) : heedful.figure(value, 3);
};

// Control characters and marks that turn the writing direction as visible escapes, as in the terminal.
heedful.printable = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (letter) => {
    if (letter === "\u200d" || letter === "\u200c") return letter; // they join emoji and letters
    const code = letter.codePointAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });

// Values in groups, by what `name` says of each, in order of first appearance: Map of name -> values.
heedful.groups = (values, name) => {
  const found = new Map();
  for (const value of values) {
    if (!found.has(name(value))) found.set(name(value), []);
    found.get(name(value)).push(value);
  }
  return found;
};

// A thin bar below a number, from 0 to `share` of its cell; with the ends of an interval, if there is one, as a lighter part.
heedful.bar = (share, { low = null, high = null } = {}) => {
  const percent = (value) => `${(100 * Math.min(Math.max(value, 0), 1)).toFixed(1)}%`;
  const { h } = heedful;
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { class: "bar-fill", style: { width: percent(share) } }),
    low !== null && h("span", { class: "bar-range", style: { left: percent(low), width: percent(high - low) } }));
};
