// Where the reader is, in the hash of the address, so that a link leads to the same view:
// #/page/part/part?name=value&name=value
"use strict";

heedful.route = (() => {
  const parse = (hash) => {
    const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const [page, ...parts] = path.split("/").map(decode);
    return { page: page || "overview", parts, query: new Map(new URLSearchParams(query)) };
  };

  // A damaged link is read as it stands rather than refused.
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };

  // The hash of a view; values that are null, undefined or empty are left out.
  const link = (page, parts = [], query = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return `#/${[page, ...parts].map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
  };

  const now = () => parse(location.hash);

  // Go to a view; `replace` leaves no trace in the history, as for every step of a drag or a search.
  const go = (hash, { replace = false } = {}) => {
    if (hash === location.hash) return;
    if (replace) location.replace(hash);
    else location.hash = hash;
  };

  // The same view with some of its query changed.
  const change = (changes, options = { replace: true }) => {
    const { page, parts, query } = now();
    go(link(page, parts, { ...Object.fromEntries(query), ...changes }), options);
  };

  return { parse, link, now, go, change };
})();
