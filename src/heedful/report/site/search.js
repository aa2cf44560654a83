// Search over full texts: tokens, queries and ids. Texts come in shards, are made lower-case once, and are looked
// through in slices, so that typing and scrolling are never held up.
"use strict";

heedful.search = (() => {
  const SLICE = 12; // milliseconds of work before the browser may draw
  const indices = new Map(); // key of a run -> its texts, as far as they were needed

  // A pause that is as short as possible: a timer would wait for milliseconds, and a hidden page has no frames.
  const pause = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    });

  // Words as they are searched for: lower-case, any white space as one blank.
  const plain = (text) => text.replace(/\s+/g, " ").toLowerCase();
  const whole = (text, id) => [id, text.tokens.join(" "), text.query?.join(" ") ?? ""].map(plain).join("\n");

  // Makes the texts of a run searchable, shard by shard; `told(done, all)` hears of each.
  const ready = (key, told) => {
    const known = indices.get(key) ?? indices.set(key, { texts: [], done: 0, listeners: new Set() }).get(key);
    known.listeners.add(told);
    known.work ??= (async () => {
      const [run, ids] = await Promise.all([heedful.store.run(key), heedful.store.ids(key)]);
      known.all = run.shards.texts.length;
      for (let shard = 0; shard < known.all; shard += 1) {
        const texts = await heedful.store.get(`${key}/texts-${shard}`);
        let begun = performance.now();
        for (const text of texts) {
          known.texts.push(whole(text, ids[known.texts.length]));
          if (performance.now() - begun < SLICE) continue;
          await pause();
          begun = performance.now();
        }
        known.done = shard + 1;
        known.listeners.forEach((listener) => listener(known.done, known.all));
      }
      return known.texts;
    })();
    known.work.catch(() => indices.delete(key)); // another search tries again
    return known.work.finally(() => known.listeners.delete(told));
  };

  // A flag for each instance: whether its text holds the words as they are written, in any case. `still()` says
  // whether the answer is still wanted; null if not. Narrowing a search looks only at what it had found.
  const last = new Map(); // key -> {words, found}
  const find = async (key, asked, { progress = () => {}, still = () => true } = {}) => {
    const words = plain(asked.trim());
    const texts = await ready(key, progress);
    if (!still()) return null;
    const before = last.get(key);
    const among = before && words.includes(before.words) ? before.found : null;
    const found = new Uint8Array(texts.length);
    let begun = performance.now();
    for (let index = 0; index < texts.length; index += 1) {
      found[index] = Number((!among || among[index] === 1) && texts[index].includes(words));
      if (index % 64 || performance.now() - begun < SLICE) continue;
      await pause();
      if (!still()) return null;
      begun = performance.now();
    }
    last.set(key, { words, found });
    return found;
  };

  return { find };
})();
