// Instances as rows of charts and lists: which ones there are, and their figures.
"use strict";

heedful.rows = (() => {
  // Conditions are {column: [low, high]}; ends that are null are open. In addresses: "jsd:0.1..0.4;wrong:1..1".
  const ranges = (conditions) => Object.entries(conditions).map(([name, [low, high]]) => ({ name, low: low ?? -Infinity, high: high ?? Infinity }));
  const where = (conditions) => heedful.select.format(ranges(conditions));

  // The instances, by index, that meet all conditions; what is undefined meets none.
  const select = async (run, conditions) => {
    const known = ranges(conditions).filter(({ name }) => run.columns.some((column) => column.name === name));
    const tests = await Promise.all(known.map(async ({ name, low, high }) => ({ values: await heedful.store.column(run.key, name), low, high })));
    return Array.from(heedful.select.positions(run.n, { tests }));
  };

  // Rows for Vega: {id, decided, label_name, …columns}; undefined figures are null, flags true or false.
  const build = async (run, names, indices) => {
    const columns = run.columns.filter((column) => names.includes(column.name));
    const labelled = run.columns.some(({ name }) => name === "label");
    const [ids, decision, label, ...figures] = await Promise.all([heedful.store.ids(run.key), heedful.store.column(run.key, "decision"),
      labelled ? heedful.store.column(run.key, "label") : [], ...columns.map((column) => heedful.store.column(run.key, column.name))]);
    const classes = run.classes.map(heedful.printable); // as the charts know them
    const value = (column, number) => (Number.isNaN(number) ? null : column.kind === "flag" ? number === 1 : number);
    return indices.map((index) => {
      const row = { id: ids[index], decided: classes[decision[index]] ?? null, label_name: classes[label[index]] ?? null };
      columns.forEach((column, place) => (row[column.name] = value(column, figures[place][index])));
      return row;
    });
  };

  return { where, select, build };
})();
