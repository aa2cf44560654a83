// Cards of striking instances: two small heat-maps of one text, the model's own and the other that gives nearly the same
// output. Texts come after the page, when the reader comes near them.
"use strict";

heedful.cards = (() => {
  const { h, plain } = heedful;
  const ITEMS = 26; // that fit on a card

  const title = (run, { rank, decision }) => {
    const of = decision === null ? "" : `, decided ${heedful.printable(run.classes[decision])}`;
    return rank === "largest" ? `Most replaceable${of}` : `Least replaceable${of}`;
  };

  const maps = async (place, run, index) => {
    const [text, known] = await Promise.all([heedful.store.text(run.key, index), heedful.store.maps(run.key, index)]);
    const own = heedful.decode.renormalise(known.weights);
    const other = known.adversarial && heedful.decode.renormalise(known.adversarial);
    const deciding = heedful.deciding.find({ maps: known, text })?.items;
    const drawn = (name, values) => {
      const strip = heedful.strip(text, { maps: other ? [own, other] : [own], lines: run.sentences, deciding, most: run.sentences ? 4 : ITEMS, named: false });
      strip.update(values);
      return h("figure", { class: "card-map", "data-card-map": name }, h("figcaption", {}, name), strip.element);
    };
    place.replaceChildren(...[drawn("attention", own), other && drawn("another map, nearly the same output", other)].filter(Boolean));
  };

  const card = (run, item, near) => {
    const place = h("div", { class: "card-maps" });
    near.set(place, () => maps(place, run, item.index).catch(() => {})); // a courtesy: the link works without
    return h("li", { class: "card" },
      h("h3", {}, h("a", { href: heedful.route.link("instances", [run.key], { id: item.id }) }, title(run, item))),
      h("p", { class: "quiet" }, `The other map is ${plain.apart(item.jsd)} away.`), place,
      item.files.length > 0 && h("p", { class: "downloads" }, "Download: ", heedful.saving.links(item.files)));
  };

  // A list of cards; each is filled once, when it comes near the window.
  const list = (run, items) => {
    const near = new Map();
    const element = h("ul", { class: "cards" }, items.map((item) => card(run, item, near)));
    const watch = new IntersectionObserver((entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => {
      watch.unobserve(target);
      near.get(target)();
    }), { rootMargin: "400px" });
    for (const place of near.keys()) watch.observe(place);
    return element;
  };

  return { list };
})();
