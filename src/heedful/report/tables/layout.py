"""Layout: the columns of a table and where its rows come from; filled with runs it becomes a `Table`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heedful.findings.labels import labels
from heedful.findings.run_facts import RunFrames, why_missing
from heedful.findings.table_rows import DRAWS, missing_rows
from heedful.report.tables.table import Column, Kind, Table, Value
from heedful.runs.directory import Run

CORPUS = Column("corpus", "corpus", meaning="The corpus; (subset): a part of the official data.")
MODEL = Column("model", "model", meaning="Model, encoder and attention, and whatever else tells these runs apart.")

_PARTS = {"std": "Standard deviation over instances", "low": "Lower end, 95 %", "high": "Upper end, 95 %"}


@dataclass(frozen=True)
class Layout:
    """A table to be filled; called with runs, it returns their `Table`."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]  # after corpus and model
    rows: Callable[[RunFrames], Iterable[Mapping[str, Value]]]  # of one run, by the keys of the columns
    needs: tuple[str, ...]  # stages without which a run has no rows
    better: tuple[str, ...] = ()  # stages without which rows have gaps
    every: Callable[[Sequence[Run]], str] = field(default=lambda runs: "")  # caveats about these runs

    def __call__(self, runs: Sequence[Run]) -> Table:
        """The table of these runs."""
        return fill([self], runs)[0]


def fill(layouts: Sequence[Layout], runs: Sequence[Run]) -> list[Table]:
    """The tables of runs; the results of one run are in memory at a time."""
    rows: dict[str, list[tuple[Value, ...]]] = {layout.name: [] for layout in layouts}
    positions: dict[str, list[int]] = {layout.name: [] for layout in layouts}
    missing: dict[str, list[str]] = {layout.name: [] for layout in layouts}
    for position, (run, (corpus, model)) in enumerate(zip(runs, labels(runs), strict=True)):
        frames = RunFrames(run)
        for layout in layouts:
            reasons = {stage: why_missing(run, stage) for stage in (*layout.needs, *layout.better)}
            distinct = dict.fromkeys(reason for reason in reasons.values() if reason)
            missing[layout.name] += [f"{corpus}, {model}: {reason}" for reason in distinct]
            if any(reasons[stage] for stage in layout.needs):
                continue
            for cells in layout.rows(frames):
                rows[layout.name].append((corpus, model, *(cells[column.key] for column in layout.columns)))
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


def number(key: str, title: str, meaning: str) -> Column:
    """A count."""
    return Column(key, title, "count", meaning=meaning)


def estimate(
    key: str, title: str, meaning: str, *, kind: Kind = "figure", digits: int = 2, std: bool = False
) -> tuple[Column, ...]:
    """A mean, its standard deviation (if `std`), and its interval."""
    parts = ((("std", "standard deviation"),) if std else ()) + (("low", "from"), ("high", "to"))
    return (
        Column(key, title, kind, digits, meaning),
        *(
            Column(f"{key}_{part}", f"{title}, {name}", kind, digits, f"{_PARTS[part]}: {meaning}", part=part, of=key)  # type: ignore[arg-type]
            for part, name in parts
        ),
    )


def share(key: str, title: str, meaning: str) -> tuple[Column, ...]:
    """A share of instances and its interval."""
    return estimate(key, title, meaning, kind="percent", digits=1)


def published(key: str, meaning: str, *, kind: Kind = "figure", digits: int = 2) -> Column:
    """The paper's figure beside ours, under `paper_` and the key of ours."""
    return Column(f"paper_{key}", "in the paper", kind, digits, meaning, published=True, beside=key)


def published_std(key: str, title: str, meaning: str) -> Column:
    """The standard deviation that the paper gives with its figure."""
    name = f"{title}, standard deviation"
    return Column(f"{key}_std", name, "figure", 2, meaning, published=True, part="std", of=key)


def _intervals(layout: Layout) -> str:
    if not any(column.part == "low" for column in layout.columns):
        return ""
    return f"Brackets: 95 % intervals over instances ({DRAWS:,} bootstrap draws)."


MISSING = Layout(
    name="missing",
    title="Not available",
    caption="Experiments without results. To run those not performed, repeat `heedful run` with the same options and "
    "--experiments with their names; nothing is computed twice. An audit runs every test it can.",
    columns=(
        Column("open", "not performed", meaning="Experiments that have no results yet."),
        Column("impossible", "not possible", meaning="Experiments that need what this run does not have, and why."),
    ),
    rows=missing_rows,
    needs=(),
)
