// Light or dark: as the system wishes until the reader chooses. Stands in the head, so that nothing flashes.
"use strict";

heedful.theme = (() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const place = "heedful-theme"; // in the browser's storage, and the event's name

  // Some browsers keep nothing for pages from disk; then the choice lasts as long as the page.
  const kept = () => {
    try {
      return localStorage.getItem(place);
    } catch {
      return null;
    }
  };
  const keep = (name) => {
    try {
      localStorage.setItem(place, name);
    } catch {
      // the page works without
    }
  };

  let chosen = ["light", "dark"].includes(kept()) ? kept() : null;
  const now = () => root.dataset.theme;
  const apply = () => {
    root.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
    window.dispatchEvent(new Event(place));
  };
  const choose = (name) => {
    chosen = name;
    keep(name);
    apply();
  };
  system.addEventListener("change", apply);
  apply();

  // The value of a colour of style.css, such as colour("accent"), for what is painted by script.
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  // The button that offers the other theme.
  const button = (element) => {
    const label = () => {
      const other = now() === "dark" ? "light" : "dark";
      element.textContent = other === "dark" ? "☾ Dark" : "☀ Light";
      element.setAttribute("aria-label", `Show the site in ${other} colours`);
    };
    element.addEventListener("click", () => choose(now() === "dark" ? "light" : "dark"));
    window.addEventListener(place, label);
    label();
  };

  return { now, choose, colour, button };
})();
