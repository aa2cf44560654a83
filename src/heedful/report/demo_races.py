"""How soon the decisions of the demo's models change when items are taken away: a table, and what it means."""

from typing import NamedTuple

import polars as pl
from rich.table import Table
from rich.text import Text

from heedful.experiments import erasure_scores, removal_scores
from heedful.report.numbers import percent

_REMOVED = {"attention": "attention", "gradient": "gradient", "random": "random", "optimal": "least"}
_ERASED = {"attention": "attention", "leave_one_out": "leave-1", "random": "random"}

Shares = dict[str, float | None]


class Race(NamedTuple):
    """The shares of one model's items, by ranking; a decision that never changes counts as all items."""

    texts: str
    model: str
    removed: Shares  # from what is attended
    erased: Shares  # from what is read


def removed_shares(frame: pl.DataFrame) -> Shares:
    """From the frame of `removal`; `optimal` is undefined where the decoder is not affine."""
    scores = removal_scores(frame, draws=0)
    known = dict(zip(scores["ranking"], scores["fraction_all"], strict=True))
    return {name: known.get(name) for name in _REMOVED}


def erased_shares(frame: pl.DataFrame) -> Shares:
    """From the frame of `erasure`, items deleted; over texts of several items, as for `removal`."""
    scores = erasure_scores(frame, draws=0).filter(pl.col("way") == "delete")
    return dict(zip(scores["ranking"], scores["fraction_all"], strict=True))


def races_table(races: list[Race]) -> Table:
    """One row a model."""
    table = Table(
        title="Items that must go until the decision changes, by the order they go in",
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column in ("texts", "model"):
        table.add_column(column, no_wrap=True)
    for place, names in (("zeroed:", _REMOVED), ("deleted:", _ERASED)):
        for index, name in enumerate(names.values()):
            table.add_column(f"{place if not index else ''}\n{name}", justify="right", overflow="fold")
    for race in races:
        cells = [percent(race.removed[name]) if race.removed[name] is not None else "" for name in _REMOVED]
        cells += [percent(race.erased[name]) for name in _ERASED]
        table.add_row(race.texts, race.model, *map(Text, cells))
    return table


def races_words(races: list[Race]) -> str:
    """What the columns mean, and the model whose attention wastes most."""
    words = (
        "\nzeroed: items lose their weight, the others share it; least: the smallest set that changes the decision, "
        "found exactly. deleted: items are taken out of the text, which the model reads again.\n"
    )
    known = [(race, *_pair(race.removed)) for race in races if race.removed["optimal"] is not None]
    if known:
        race, needed, least = max(known, key=lambda each: each[1] - each[2])
        words += (
            f"Going by attention, {race.model} must lose {percent(needed)} of its items on {race.texts} texts before "
            f"it decides otherwise, where {percent(least)} would do.\n"
        )
    return words


def _pair(removed: Shares) -> tuple[float, float]:
    return removed["attention"] or 0.0, removed["optimal"] or 0.0
