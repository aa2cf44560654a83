"""Layout: a table that runs have yet to fill."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heedful.report.labels import labels
from heedful.report.tables.columns import CORPUS, MODEL
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column, Table, Value
from heedful.runs.directory import Run

DRAWS = 1000  # bootstrap draws of an interval
SEED = 0

Cells = Mapping[str, Value]


@dataclass(frozen=True)
class Layout:
    """Columns, and how the rows of one run are made; called with runs, it is their table."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]  # beside corpus and model, which stand first
    rows: Callable[[Source], Iterable[Cells]]  # of one run
    needs: tuple[str, ...]  # the stages without which a run has no rows
    better: tuple[str, ...] = ()  # stages without which rows have gaps
    every: Callable[[Sequence[Run]], str] = field(default=lambda runs: "")  # what is to be said of these runs

    def __call__(self, runs: Sequence[Run]) -> Table:
        """The table of these runs."""
        return fill([self], runs)[0]


def fill(layouts: Sequence[Layout], runs: Sequence[Run]) -> list[Table]:
    """The tables of runs; the results of one run are in memory at a time."""
    rows: dict[str, list[tuple[Value, ...]]] = {layout.name: [] for layout in layouts}
    positions: dict[str, list[int]] = {layout.name: [] for layout in layouts}
    missing: dict[str, list[str]] = {layout.name: [] for layout in layouts}
    for position, (run, (corpus, model)) in enumerate(zip(runs, labels(runs), strict=True)):
        source = Source(run)
        for layout in layouts:
            reasons = {stage: source.lack(stage) for stage in (*layout.needs, *layout.better)}
            told = dict.fromkeys(reason for reason in reasons.values() if reason)
            missing[layout.name] += [f"{corpus}, {model}: {reason}" for reason in told]
            if any(reasons[stage] for stage in layout.needs):
                continue
            for cells in layout.rows(source):
                values = (_plain(cells[column.key]) for column in layout.columns)
                rows[layout.name].append((corpus, model, *values))
                positions[layout.name].append(position)
    return [
        Table(
            name=layout.name,
            title=layout.title,
            caption=" ".join(filter(None, [layout.caption, _intervals(layout), layout.every(runs)])),
            columns=(CORPUS, MODEL, *layout.columns),
            rows=tuple(rows[layout.name]),
            missing=tuple(missing[layout.name]),
            runs=tuple(runs[position].folder.name for position in positions[layout.name]),
            positions=tuple(positions[layout.name]),
        )
        for layout in layouts
    ]


def _plain(value: Value) -> Value:
    """Undefined is None."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _intervals(layout: Layout) -> str:
    if not any(column.part == "low" for column in layout.columns):
        return ""
    return f"In brackets 95 % intervals: percentiles of {DRAWS:,} bootstrap draws of instances."
