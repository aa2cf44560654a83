"""What erasing items from the text found, in the terminal."""

import polars as pl
from rich.table import Table
from rich.text import Text

from heedful.report.numbers import figure, percent

_WAYS = {"delete": "deleted", "unknown": "unknown"}


def erasure_table(frame: pl.DataFrame) -> Table:
    """One row a ranking: how much of a text goes before the decision changes, and what the first items are worth.

    Texts of one item say nothing about an order and are left out.
    """
    frame = frame.filter(pl.col("items") > 1)
    table = Table(
        title=f"Share of items erased from {len(frame):,} texts until the decision changes (never: all)",
        title_justify="left",
        box=None,
    )
    table.add_column("ranking", no_wrap=True)
    for way in _WAYS.values():
        for index, column in enumerate(("items", "compr.", "suff.")):
            table.add_column(f"{'' if index else way}\n{column}", justify="right", overflow="fold")
    for ranking in rankings_of(frame):
        cells = []
        for way in _WAYS:
            share, without, alone = frame.select(
                pl.col(f"{way}_{ranking}_fraction").fill_null(1.0).mean(),
                pl.col(f"{way}_{ranking}_comprehensiveness").mean(),
                pl.col(f"{way}_{ranking}_sufficiency").mean().alias("alone"),
            ).row(0)
            cells += [percent(share), figure(without), figure(alone)]
        table.add_row(ranking.replace("_", " "), *map(Text, cells))
    return table


def rankings_of(frame: pl.DataFrame) -> list[str]:
    """The rankings that were raced."""
    counts = [name.removeprefix("delete_") for name in frame.columns if name.startswith("delete_")]
    return [name.removesuffix("_count") for name in counts if name.endswith("_count")]
