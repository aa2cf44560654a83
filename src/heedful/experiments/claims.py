"""What Serrano & Smith 2019 found, looked for in other results: whether it holds there, whichever way it comes out."""

import polars as pl

from heedful.experiments.flip_table import flip_table
from heedful.experiments.removal_wins import removal_wins
from heedful.experiments.summary import SIGNIFICANT

_SINGLE = "removing the most attended item alone mostly changes no decision"
_SOONER = {  # the ranking that should win, its rival, and the claim
    ("gradient", "attention"): "by gradient decisions change sooner than by attention",
    ("gradient_attention", "attention"): "by gradient x attention decisions change sooner than by attention",
    ("attention", "random"): "by attention decisions change sooner than in random order",
}


def claims(single: pl.DataFrame | None, removed: pl.DataFrame | None, *, only: pl.Series | None = None) -> pl.DataFrame:
    """From the frames of `single_weight` and `removal` (None: not performed), one row a `claim`: the `share` of
    the `n` instances that speaks for it, the one that speaks `against` it, and whether it `holds`.

    Who changes decisions sooner is told by a sign test, Holm-corrected over all pairs of rankings; `holds` is null
    where it is not significant (p > 0.05), or where there is nothing to tell from. `only` is as in `removal_wins`.
    """
    rows: list[tuple[str, int, float | None, float | None, bool | None]] = []
    if single is not None:
        told = flip_table(single, draws=0).filter((pl.col("ranking") == "attention") & (pl.col("rival") == "expected"))
        changed = told.select(pl.col("both") + pl.col("top_only")).item()
        shares = (None, None, None) if changed is None else (1 - changed, changed, changed < 0.5)
        rows.append((_SINGLE, told["n"].item(), *shares))
    if removed is not None:
        wins = removal_wins(removed, only=only, draws=0)
        rows += [(claim, *_sooner(wins, *pair)) for pair, claim in _SOONER.items()]
    kinds = {"claim": pl.String, "n": pl.Int64, "share": pl.Float64, "against": pl.Float64, "holds": pl.Boolean}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def _sooner(wins: pl.DataFrame, winner: str, loser: str) -> tuple[int, float | None, float | None, bool | None]:
    """Of how many instances of several items; how often each of the two wins; whether that is more than chance."""
    pair = wins.filter(pl.col("first").is_in([winner, loser]) & pl.col("second").is_in([winner, loser]))
    if not len(pair):
        return 0, None, None, None
    row = pair.row(0, named=True)
    ours, theirs = ("first", "second") if row["first"] == winner else ("second", "first")
    total, share, against = row["n"] + row["neither"], row[f"{ours}_all"], row[f"{theirs}_all"]
    return total, share, against, share > against if total and row["p_holm"] <= SIGNIFICANT else None
