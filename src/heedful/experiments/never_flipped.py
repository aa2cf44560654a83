"""Whose decisions does no removal change? (Serrano & Smith 2019, section 5: the default class)"""

import polars as pl

from heedful.errors import unknown_name
from heedful.experiments.frames import check_frame
from heedful.experiments.rankings import RANKINGS


def never_flipped(frame: pl.DataFrame, *, ranking: str = "attention") -> pl.DataFrame:
    """From the frame of `removal`, one row a decided class and one for all (`decision` null), over instances with
    several items: `n`, how many of them `never` change in the order of a ranking, as a `share`, and `default`, the
    share of these whose decision is the one with nothing attended to (it can be no other).

    Mean `confidence` and `entropy` of the output, of the ones and of the others: `<figure>_never`, `<figure>_rest`.
    """
    check_frame(frame, "removal", ["items", "confidence"])
    count = f"{ranking}_count"
    if count not in frame.columns:
        raise unknown_name("ranking", ranking, [name for name in RANKINGS if f"{name}_count" in frame.columns])
    never = pl.col(count).is_null()
    figures = [
        pl.len().cast(pl.Int64).alias("n"),
        never.sum().cast(pl.Int64).alias("never"),
        never.mean().alias("share"),
        pl.col("default").filter(never).mean().alias("default"),
        *(
            pl.col(figure).filter(of).mean().alias(f"{figure}_{name}")
            for figure in ("confidence", "entropy")
            for name, of in (("never", never), ("rest", ~never))
        ),
    ]
    several = frame.filter(pl.col("items") > 1)
    overall = several.select(pl.lit(None, dtype=pl.Int32).alias("decision"), *figures)
    return pl.concat([overall, several.group_by("decision").agg(figures).sort("decision")])
