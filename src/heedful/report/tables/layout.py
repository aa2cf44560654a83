"""Layout: a table that runs have yet to fill."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heedful.experiments import EXPERIMENT_NAMES, Estimate
from heedful.findings.labels import labels
from heedful.findings.source import Source
from heedful.report.tables.table import Column, Kind, Table, Value
from heedful.runs.directory import Run

CORPUS = Column("corpus", "corpus", meaning="The corpus; (subset): a part of the official data.")
MODEL = Column("model", "model", meaning="Kind, encoder and attention; what else is needed to tell runs apart.")


def number(key: str, title: str, meaning: str) -> Column:
    """How many."""
    return Column(key, title, "count", meaning=meaning)


def estimate(
    key: str, title: str, meaning: str, *, kind: Kind = "figure", digits: int = 2, std: bool = False
) -> tuple[Column, ...]:
    """A mean, its standard deviation if asked for, and the ends of its interval."""
    parts = ((("std", "standard deviation"),) if std else ()) + (("low", "from"), ("high", "to"))
    return (
        Column(key, title, kind, digits, meaning),
        *(
            Column(f"{key}_{part}", f"{title}, {name}", kind, digits, f"{_PARTS[part]}: {meaning}", part=part, of=key)  # type: ignore[arg-type]
            for part, name in parts
        ),
    )


def share(key: str, title: str, meaning: str) -> tuple[Column, ...]:
    """A share of instances and the ends of its interval."""
    return estimate(key, title, meaning, kind="percent", digits=1)


def published(key: str, meaning: str, *, kind: Kind = "figure", digits: int = 2) -> Column:
    """The figure of the paper that stands beside ours, under `paper_` and the key of ours."""
    return Column(f"paper_{key}", "in the paper", kind, digits, meaning, published=True, beside=key)


def told(key: str, found: Estimate, *, std: bool = False) -> dict[str, Value]:
    """The cells of an estimate."""
    spread = {f"{key}_std": found.std} if std else {}
    return {key: found.mean, **spread, f"{key}_low": found.low, f"{key}_high": found.high}


_PARTS = {"std": "Standard deviation over instances", "low": "Lower end, 95 %", "high": "Upper end, 95 %"}


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


def _missing_rows(source: Source) -> Iterable[Cells]:
    if not source.run.done("evidence"):
        yield {"open": "all, and the model itself", "impossible": ""}
        return
    lacking = [name for name in EXPERIMENT_NAMES if not source.run.done(name)]
    reasons = source.unsupported()
    open_ = ", ".join(name for name in lacking if name not in reasons)
    impossible = "; ".join(f"{name} {reasons[name]}" for name in lacking if name in reasons)
    if open_ or impossible:
        yield {"open": open_, "impossible": impossible}


MISSING = Layout(
    name="missing",
    title="What could not be told",
    caption=(
        "Experiments that were not performed: `heedful run` with the same options and --experiments with these names "
        "performs them, and repeats nothing; an audit performs all that it can. "
        "Where an experiment is not possible, its reason stands beside."
    ),
    columns=(
        Column("open", "not performed", meaning="Experiments of which there are no results yet."),
        Column(
            "impossible", "not possible", meaning="Experiments that need what this run does not have, and what that is."
        ),
    ),
    rows=_missing_rows,
    needs=(),
)
