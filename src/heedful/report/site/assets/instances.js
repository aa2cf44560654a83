// The list of a run's instances: search, filter, sort, and one of them beside it. The address is the state: controls
// change it, and the page follows it.
"use strict";

heedful.pages.instances = (() => {
  const { h, route, store } = heedful;
  const usual = ["label", "decision", "wrong", "confidence", "tau_gradient", "tau_leave_one_out", "permuted_tvd", "jsd", "flip_set"];
  const DEBOUNCE = 120; // milliseconds after the last letter
  const kept = new Map(); // key of a run -> names of the columns its reader has chosen
  let view = null; // the page that is shown

  const visible = (run) => kept.get(run.key) ?? run.columns.map(({ name }) => name).filter((name) => usual.includes(name));

  // Brings the list to what the address says. Loading may take a while: only the latest state is shown.
  const follow = async (state) => {
    const page = view;
    const turn = (page.turn += 1);
    const { run, key } = page;
    const still = () => view === page && page.turn === turn;
    const query = (state.query.get("q") ?? "").trim();
    const ranges = heedful.select.parse(state.query.get("where"));
    const sort = state.query.get("sort") ?? "";
    const sorted = sort.replace(/^-/, "");
    const known = new Set(run.columns.map(({ name }) => name));
    const wanted = `${query}\n${state.query.get("where") ?? ""}\n${sort}`;
    heedful.controls.update(page, { query, ranges, sort });
    if (wanted !== page.wanted) {
      const [tests, order, found] = await Promise.all([
        Promise.all(ranges.filter(({ name }) => known.has(name)).map(async (range) => ({ ...range, values: await store.column(key, range.name) }))),
        known.has(sorted) ? store.column(key, sorted) : null,
        query ? heedful.search.find(key, query, { still, progress: (done, all) => still() && page.tell(`Reading texts: ${done} of ${all} parts …`, done / all) }) : null,
      ]);
      if (!still()) return;
      page.positions = heedful.select.positions(run.n, { tests, found, sorted: order && { values: order, falling: sort.startsWith("-") }, backwards: sort === "-id" });
      page.places = null;
      page.query = query.toLowerCase();
      page.wanted = wanted;
      page.empty.hidden = page.positions.length > 0;
      page.list.reset(page.positions.length, place(page, state.query.get("id")));
    }
    // Also where nothing is new: a search that was given up has left its progress there.
    page.tell(page.positions.length === run.n ? `${heedful.count(run.n)} instances` : `${heedful.count(page.positions.length)} of ${heedful.count(run.n)} instances`);
    await choose(page, state.query.get("id") ?? null, still);
  };

  // Where an instance stands in the list now, or -1.
  const place = (page, id) => {
    const index = id === undefined || id === null ? undefined : page.indexOf.get(id);
    return index === undefined ? -1 : page.positions.indexOf(index);
  };

  const choose = async (page, id, still) => {
    const position = place(page, id);
    const shown = `${id}\n${position}\n${page.positions.length}`;
    if (shown === page.shown) return;
    page.shown = shown;
    page.list.select(position);
    if (id === null) {
      page.side.replaceChildren(h("p", { class: "soft invitation" }, "Choose an instance to see what its model attended to."));
      return;
    }
    const index = page.indexOf.get(id);
    if (index === undefined) {
      page.side.replaceChildren(h("p", { role: "alert" }, `This run has no instance “${heedful.printable(id)}”; choose one in the list.`));
      return;
    }
    const known = await heedful.instance.load(page.key, index);
    if (!still()) return;
    const go = (offset) => route.change({ id: page.ids[page.positions[position + offset]] });
    page.side.replaceChildren(heedful.detail(page.site, known, { position, count: page.positions.length, go }));
    page.side.scrollTop = 0;
    if (page.picked && getComputedStyle(page.side).position === "static" && innerWidth < 1100) page.side.scrollIntoView({ block: "start" });
    page.picked = false;
  };

  const show = async (main, state) => {
    const key = state.parts[0];
    const site = await store.site();
    heedful.runOf(site, key);
    const [run, ids] = await Promise.all([store.run(key), store.ids(key)]);
    const page = { key, site, run, ids, turn: 0, positions: new Uint32Array(0), indexOf: new Map(ids.map((id, index) => [id, index])), columns: visible(run) };
    view = page;
    page.list = heedful.list({ label: "Instances", fill: (row, position) => heedful.listRows.fill(page, row, position), settled: (first, last) => heedful.listRows.texts(page, first, last),
      onPick: (position) => {
        page.picked = true;
        route.change({ id: ids[page.positions[position]] }, { replace: false });
      } });
    page.status = h("p", { class: "status", role: "status" });
    page.bar = h("progress", { max: 1, hidden: true, "aria-label": "Texts read" });
    page.tell = (words, share = null) => {
      page.status.textContent = words;
      page.bar.hidden = share === null;
      if (share !== null) page.bar.value = share;
    };
    page.empty = h("p", { class: "empty", hidden: true }, "No matches. Remove a filter or shorten the search.");
    page.side = h("div", { class: "side" });
    page.choose = (names) => {
      kept.set(key, names);
      page.columns = names;
      heedful.listRows.header(page, route.now().query.get("sort") ?? "");
      page.list.refresh();
    };
    main.append(
      h("div", { class: "page-head" }, h("h1", {}, "Instances"), heedful.runSelect(site, key, (other) => route.go(route.link("instances", [other])))),
      heedful.controls.build(page, DEBOUNCE), h("div", { class: "status-line" }, page.status, page.bar),
      h("div", { class: "beside" }, h("div", { class: "list-place" }, page.list.element, page.empty), page.side));
    await heedful.listRows.load(page);
    await follow(state);
  };

  return { title: "Instances", show, update: follow };
})();
