// Data on demand. Pages opened from disk cannot fetch, but can load scripts: each shard of data is one, which calls
// heedful.store.add(name, value) with its own name. Arrays of numbers travel as base64 of their bytes.
"use strict";

heedful.store = (() => {
  const waiting = new Map(); // name -> {promise, resolve}

  const entry = (name) => {
    if (!waiting.has(name)) {
      const made = {};
      made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
      waiting.set(name, made);
    }
    return waiting.get(name);
  };

  const add = (name, value) => entry(name).resolve(value);

  // The value of a shard, loaded once: get("planted-bilstm/run") loads data/planted-bilstm/run.js.
  const get = (name) => {
    const known = entry(name);
    if (!known.asked) {
      known.asked = true;
      const script = document.createElement("script");
      script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
      script.addEventListener("error", () => {
        waiting.delete(name); // so that another try loads it again
        known.reject(new Error(`data/${name}.js is not there: the report is incomplete; write it again`));
      });
      script.addEventListener("load", () => script.remove());
      document.head.append(script);
    }
    return known.promise;
  };

  const kinds = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u8: Uint8Array };

  // Numbers of a packed array {kind, data}; bytes are little-endian, as on every machine with a browser.
  const unpack = ({ kind, data }) => {
    const text = atob(data);
    const bytes = new Uint8Array(text.length);
    for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
    return new kinds[kind](bytes.buffer);
  };

  // What stands for an undefined figure in arrays that know no NaN.
  const undefinedAs = { i32: -2147483648, u8: 255 };

  const figures = (packed) => {
    const numbers = unpack(packed);
    if (!(packed.kind in undefinedAs)) return numbers;
    return Float64Array.from(numbers, (number) => (number === undefinedAs[packed.kind] ? NaN : number));
  };

  const site = () => get("site");
  const run = (key) => get(`${key}/run`);
  const ids = (key) => get(`${key}/ids`);

  const columns = new Map();
  // One figure of every instance of a run, as an array of numbers (NaN: undefined).
  const column = (key, name) => {
    const place = `${key}/column-${name}`;
    if (!columns.has(place)) {
      columns.set(place, get(place).then(figures));
      columns.get(place).catch(() => columns.delete(place)); // so that another try loads it again
    }
    return columns.get(place);
  };

  // The shard that holds an instance: `starts` are the first instances of each, in order.
  const shardOf = (starts, index) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  // The text of an instance: {tokens, query, sentences}.
  const text = async (key, index) => {
    const { shards } = await run(key);
    const shard = shardOf(shards.texts, index);
    return (await get(`${key}/texts-${shard}`))[index - shards.texts[shard]];
  };

  // What the tests know of an instance: its weights, scores and so on, unpacked.
  const maps = async (key, index) => {
    const { shards } = await run(key);
    const shard = shardOf(shards.maps, index);
    const packed = (await get(`${key}/maps-${shard}`))[index - shards.maps[shard]];
    const unpacked = {};
    for (const [name, value] of Object.entries(packed)) {
      unpacked[name] = value && typeof value === "object" && value.kind ? unpack(value) : value;
    }
    return unpacked;
  };

  return { add, get, unpack, site, run, ids, column, shardOf, text, maps };
})();
