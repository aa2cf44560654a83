"""What erasing items from the text found, in the terminal."""

import polars as pl
from rich.table import Table
from rich.text import Text

from heedful.experiments import erasure_scores
from heedful.report.numbers import figure, percent

_WAYS = {"delete": "deleted", "unknown": "unknown", "blank": "blank"}


def erasure_table(frame: pl.DataFrame) -> Table:
    """One row a ranking: how much of a text goes before the decision changes, and what the first items are worth.

    Texts of one item say nothing about an order and are left out.
    """
    scores = erasure_scores(frame, draws=0)
    table = Table(
        title=f"Share of items erased from {scores['n'][0]:,} texts until the decision changes (never: all)",
        title_justify="left",
        box=None,
    )
    table.add_column("ranking", no_wrap=True)
    ways = scores["way"].unique(maintain_order=True)
    for way in ways:
        for index, column in enumerate(("items", "compr.", "suff.")):
            table.add_column(f"{'' if index else _WAYS[way]}\n{column}", justify="right", overflow="fold")
    for ranking in scores["ranking"].unique(maintain_order=True):
        cells = []
        for way in ways:
            told = scores.row(by_predicate=(pl.col("ranking") == ranking) & (pl.col("way") == way), named=True)
            cells += [percent(told["fraction_all"]), figure(told["comprehensiveness"]), figure(told["sufficiency"])]
        table.add_row(ranking.replace("_", " "), *map(Text, cells))
    return table
