// A list of any length of which only the visible rows exist: rows are reused as the reader scrolls, so that a frame
// costs the same for a hundred instances and for a million.
"use strict";

heedful.list = (() => {
  const { h } = heedful;
  const TALLEST = 8e6; // pixels: browsers cannot make elements of any height; beyond it scrolling is scaled
  const SPARE = 4; // rows drawn above and below what is seen
  let lists = 0;

  // options: label; rowHeight; columns (header cells, elements with role columnheader); template (CSS grid columns);
  // fill(row, position): put what stands at a position into a row; onPick(position, byPerson); settled(first, last).
  const make = ({ label, rowHeight = 38, fill, onPick, settled }) => {
    const id = `list-${(lists += 1)}`;
    let count = 0;
    let active = -1;
    let selected = -1;
    let waiting = false;
    let rest = 0;
    const pool = new Map(); // position -> row
    const idle = []; // rows that show nothing now

    const header = h("div", { class: "list-header", role: "row", "aria-rowindex": 1 });
    const space = h("div", { class: "list-space", role: "rowgroup" });
    const grid = h("div", { class: "list", role: "grid", tabindex: "0", "aria-label": label, "aria-rowcount": 1 },
      h("div", { class: "list-head", role: "rowgroup" }, header), space);

    const view = () => Math.max(rowHeight, grid.clientHeight - header.offsetHeight);
    const total = () => count * rowHeight;
    const height = () => Math.min(total(), TALLEST);
    // How many pixels of the whole list are above the window: more than was scrolled where scrolling is scaled.
    const offset = () => {
      const room = height() - view();
      return room > 0 ? (Math.min(grid.scrollTop, room) / room) * (total() - view()) : 0;
    };

    const draw = () => {
      waiting = false;
      const above = offset();
      const first = Math.max(0, Math.floor(above / rowHeight) - SPARE);
      const last = Math.min(count - 1, Math.ceil((above + view()) / rowHeight) + SPARE);
      for (const [position, row] of pool) {
        if (position >= first && position <= last) continue;
        pool.delete(position);
        idle.push(row);
      }
      const shift = grid.scrollTop - above; // zero unless scaled
      for (let position = first; position <= last; position += 1) {
        const known = pool.get(position);
        const row = known ?? idle.pop() ?? space.appendChild(h("div", { class: "list-row", role: "row" }));
        if (!known) {
          pool.set(position, row);
          row.id = `${id}-${position}`;
          row.hidden = false;
          row.setAttribute("aria-rowindex", position + 2);
          fill(row, position);
        }
        row.style.setProperty("transform", `translateY(${position * rowHeight + shift}px)`);
        row.setAttribute("aria-selected", String(position === selected));
        row.classList.toggle("list-active", position === active);
      }
      for (const row of idle) row.hidden = true;
      if (pool.has(active)) grid.setAttribute("aria-activedescendant", `${id}-${active}`);
      else grid.removeAttribute("aria-activedescendant");
      clearTimeout(rest);
      rest = setTimeout(() => settled?.(first, last), 60);
    };

    const ask = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(draw);
    };

    // Draw every visible row anew: what they show has changed.
    const refresh = () => {
      for (const [position, row] of pool) fill(row, position);
      ask();
    };

    const reveal = (position) => {
      const above = offset();
      const start = position * rowHeight;
      const slack = total() > TALLEST ? total() / TALLEST : 0; // what a pixel of scaled scrolling may miss
      let goal = above;
      if (start < above) goal = Math.max(0, start - slack);
      else if (start + rowHeight > above + view()) goal = Math.min(total() - view(), start + rowHeight - view() + slack);
      const room = height() - view();
      if (goal !== above && room > 0) grid.scrollTop = (goal / (total() - view())) * room;
    };

    const move = (position) => {
      active = Math.max(0, Math.min(count - 1, position));
      reveal(active);
      ask();
    };

    // So many rows, all of them new. `chosen` is selected and brought into view, if it is there.
    const reset = (size, chosen = -1) => {
      count = size;
      for (const row of pool.values()) idle.push(row);
      pool.clear();
      active = selected = chosen;
      space.style.setProperty("height", `${height()}px`);
      grid.setAttribute("aria-rowcount", count + 1);
      if (chosen >= 0) reveal(chosen);
      else grid.scrollTop = 0;
      ask();
    };

    const select = (position) => {
      selected = active = position;
      if (position >= 0) reveal(position);
      ask();
    };

    grid.addEventListener("scroll", ask, { passive: true });
    space.addEventListener("click", (event) => {
      const row = event.target.closest(".list-row");
      for (const [position, known] of pool) if (known === row) onPick(position);
    });
    grid.addEventListener("keydown", (event) => {
      if (event.target !== grid || event.ctrlKey || event.metaKey || event.altKey || !count) return;
      const page = Math.max(1, Math.floor(view() / rowHeight) - 1);
      const moves = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: count - 1 };
      if (event.key in moves) move(moves[event.key]);
      else if ((event.key === "Enter" || event.key === " ") && active >= 0) onPick(active);
      else return;
      event.preventDefault();
    });
    // The list is built before it has a place; rows wait until its height is known.
    let seen = 0;
    new ResizeObserver(() => {
      if (!seen && grid.clientHeight && selected >= 0) reveal(selected);
      seen = grid.clientHeight;
      ask();
    }).observe(grid);

    return { element: grid, header, reset, refresh, select, count: () => count };
  };

  return make;
})();
