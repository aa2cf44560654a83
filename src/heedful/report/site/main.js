// Shows the page that the address names. A page is heedful.pages[name] = {title, show(main, state), update(state)?}:
// `show` builds it, `update` answers a change of the query alone (without it the page is built anew).
"use strict";

(() => {
  const { h } = heedful;
  const main = document.getElementById("main");
  let shown = null; // {page, parts}: what `main` holds

  const places = { overview: "Overview", run: "Run", instances: "Instances", "what-if": "What if", compare: "Compare" };

  const navigation = (site, state) => {
    const key = state.parts[0] ?? site.runs[0]?.key;
    const links = Object.entries(places).map(([page, title]) =>
      h("a", { href: heedful.route.link(page, page === "overview" ? [] : [key]), "aria-current": page === state.page && "page" }, title));
    document.getElementById("pages").replaceChildren(...links);
  };

  const problem = (error) => {
    console.warn(error);
    main.replaceChildren(h("section", { class: "problem", role: "alert" }, h("h1", {}, "This cannot be shown"), h("p", {}, error.message)));
  };

  const same = (state) => shown && shown.page === state.page && shown.parts.join("/") === state.parts.join("/");

  const show = async () => {
    const state = heedful.route.now();
    const page = heedful.pages[state.page];
    try {
      const site = await heedful.store.site();
      navigation(site, state);
      if (!page) throw new Error(`there is no page “${heedful.printable(state.page)}”; choose one above`);
      if (same(state) && page.update) {
        await page.update(state);
        return;
      }
      if (state.page !== "overview" && !state.parts.length && site.runs.length) {
        heedful.route.go(heedful.route.link(state.page, [site.runs[0].key]), { replace: true });
        return;
      }
      const begun = (shown = { page: state.page, parts: state.parts });
      const place = h("div", { class: `page page-${state.page}` });
      await page.show(place, state);
      if (shown !== begun) return; // the reader has gone elsewhere in the meantime
      document.title = `${page.title} · heedful`;
      main.replaceChildren(place);
    } catch (error) {
      shown = null;
      problem(error);
    }
  };

  heedful.theme.button(document.getElementById("theme"));
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the hash is the address of the view
    main.focus();
  });
  window.addEventListener("hashchange", show);
  show();
})();
