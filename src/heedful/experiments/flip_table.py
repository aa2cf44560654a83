"""The table of Serrano & Smith 2019, section 4: does removing the first item change the decision, does a rival?"""

import polars as pl

from heedful.experiments.estimates import estimates
from heedful.experiments.frames import check_frame
from heedful.experiments.single_weight import LEADERS, ROUNDING

SHARES = ("both", "top_only", "rival_only", "neither", "negative")


def flip_table(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """From the frame of `single_weight`, two rows a ranking: with the `drawn` rival, and `expected` over all rivals.

    Shares of the `n` instances with several items: `both` change the decision, `top_only`, `rival_only`, `neither`;
    and `negative`, in which removing the rival moves the output more. Intervals of 95 % by so many bootstrap draws of
    instances in `<share>_low` and `<share>_high` (null without draws). Null where there are no such instances.
    """
    check_frame(frame, "single_weight", ["items", "attention_expected_flips"])
    several = frame.filter(pl.col("items") > 1)
    ways = [(name, way) for name in LEADERS for way in ("drawn", "expected")]
    shares = [
        value.cast(pl.Float64).alias(f"{name} {way} {share}")
        for name, way in ways
        for share, value in _shares(name, way).items()
    ]
    found = estimates(several.select(shares), seed=seed, draws=draws)
    rows = []
    for name, way in ways:
        row: dict[str, object] = {"ranking": name, "rival": way, "n": len(several)}
        for share in SHARES:
            told = found[f"{name} {way} {share}"]
            row |= {share: told.mean, f"{share}_low": told.low, f"{share}_high": told.high}
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=_KINDS)


def _shares(name: str, way: str) -> dict[str, pl.Expr]:
    """What each share is the mean of."""
    top = pl.col(f"{name}_flips").cast(pl.Float64)
    if way == "drawn":
        rival, negative = pl.col(f"{name}_rival_flips").cast(pl.Float64), pl.col(f"{name}_delta_js") < -ROUNDING
    else:
        rival, negative = pl.col(f"{name}_expected_flips"), pl.col(f"{name}_expected_negative")
    return {
        "both": top * rival,
        "top_only": top * (1 - rival),
        "rival_only": (1 - top) * rival,
        "neither": (1 - top) * (1 - rival),
        "negative": negative,
    }


_KINDS = dict.fromkeys((f"{share}{end}" for share in SHARES for end in ("", "_low", "_high")), pl.Float64)
