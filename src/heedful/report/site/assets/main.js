// Shows the page that the address names. A page is heedful.pages[name] = {title, show(main, state), update(state)?}:
// `show` builds it, `update` answers a change of the query alone (without it the page is built anew).
"use strict";

(() => {
  const { h } = heedful;
  const main = document.getElementById("main");
  let shown = null; // {page, parts, ready}: what `main` holds or will hold; ready: when it is built
  let visited = null; // the run that was looked at last: the links of the Overview lead back to it

  const places = { overview: "Overview", run: "Run", instances: "Instances", "what-if": "What if", compare: "Compare" };

  const aboutInstances = { instances: true, "what-if": true };

  const navigation = (site, state) => {
    const asked = state.page === "overview" ? state.query.get("of") : state.parts[0];
    const known = site.runs.some((run) => run.key === asked);
    if (known) visited = asked;
    const key = visited ?? site.runs[0]?.key;
    const id = known && state.page in aboutInstances ? state.query.get("id") : null; // the instance goes along
    const comparable = Boolean(heedful.compared.pairOf(site, key));
    const links = Object.entries(places).filter(([page]) => page !== "compare" || comparable || state.page === "compare").map(([page, title]) =>
      h("a", {
        href: heedful.route.link(page, page === "overview" || !key ? [] : [key], page in aboutInstances ? { id } : {}),
        "aria-current": page === state.page && "page",
      }, title));
    document.getElementById("pages").replaceChildren(...links);
  };

  const problem = (error) => {
    console.warn(error);
    document.title = "heedful";
    main.replaceChildren(h("section", { class: "problem", role: "alert" }, h("h1", {}, "Cannot show this page"), h("p", {}, error.message)));
  };

  const same = (state) => shown && shown.page === state.page && shown.parts.join("/") === state.parts.join("/");

  const titled = (state, page, site) => {
    const run = site.runs.find(({ key }) => key === state.parts[0]);
    return [run && heedful.printable(run.title), page.title, "heedful"].filter(Boolean).join(" · ");
  };

  const build = async (state, page, site) => {
    const place = h("div", { class: `page page-${state.page}` });
    const first = shown === null;
    const begun = (shown = { page: state.page, parts: state.parts });
    begun.ready = Promise.resolve(page.show(place, state));
    begun.ready.catch(() => {}); // whoever waits for it below tells
    await begun.ready;
    if (shown !== begun) return; // the reader has gone elsewhere in the meantime
    document.title = titled(state, page, site);
    main.replaceChildren(place);
    if (first) return;
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true }); // who hears the page, hears the new one
  };

  const show = async () => {
    const asked = location.hash;
    const state = heedful.route.now();
    const page = Object.hasOwn(heedful.pages, state.page) ? heedful.pages[state.page] : null;
    try {
      const site = await heedful.store.site();
      navigation(site, state);
      if (!page) throw new Error(`there is no page “${heedful.printable(state.page)}”; choose one above`);
      if (state.page !== "overview" && !state.parts.length) {
        if (!site.runs.length) throw new Error("this report holds no run");
        heedful.route.go(heedful.route.link(state.page, [site.runs[0].key]), { replace: true });
      } else if (same(state) && page.update) {
        await shown.ready;
        if (same(state)) await page.update(state);
      } else await build(state, page, site);
      main.dataset.address = asked; // what is shown by now; who waits for a view can tell
    } catch (error) {
      if (asked !== location.hash) return; // nobody waits for that page any more
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
