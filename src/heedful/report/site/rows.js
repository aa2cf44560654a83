// Instances as rows of charts and lists: which ones there are, and their figures.
"use strict";

heedful.rows = (() => {
  // Conditions on columns, as in addresses: "jsd:0.1..0.4;wrong:1..1" <-> {jsd: [0.1, 0.4], wrong: [1, 1]}.
  const where = (conditions) => Object.entries(conditions).map(([name, [low, high]]) => `${name}:${low}..${high}`).join(";");

  // The instances, by index, that meet all conditions; what is undefined meets none.
  const select = async (run, conditions) => {
    const known = Object.entries(conditions).filter(([name]) => run.columns.some((column) => column.name === name));
    const columns = await Promise.all(known.map(([name]) => heedful.store.column(run.key, name)));
    const found = [];
    for (let index = 0; index < run.n; index += 1) {
      if (known.every(([, [low, high]], place) => columns[place][index] >= low && columns[place][index] <= high)) found.push(index);
    }
    return found;
  };

  // Rows for Vega: {id, decided, label_name, …columns}; undefined figures are null, flags true or false.
  const build = async (run, names, indices) => {
    const columns = run.columns.filter((column) => names.includes(column.name));
    const [ids, decision, label, ...figures] = await Promise.all([heedful.store.ids(run.key), heedful.store.column(run.key, "decision"),
      heedful.store.column(run.key, "label"), ...columns.map((column) => heedful.store.column(run.key, column.name))]);
    const value = (column, number) => (Number.isNaN(number) ? null : column.kind === "flag" ? number === 1 : number);
    return indices.map((index) => {
      const row = { id: ids[index], decided: run.classes[decision[index]] ?? null, label_name: run.classes[label[index]] ?? null };
      columns.forEach((column, place) => (row[column.name] = value(column, figures[place][index])));
      return row;
    });
  };

  return { where, select, build };
})();
