"""The table of Serrano & Smith 2019, section 4: does removing the first item change the decision, does a rival?"""

import polars as pl

from heedful.experiments.frames import check_frame
from heedful.experiments.single_weight import LEADERS, ROUNDING


def flip_table(frame: pl.DataFrame) -> pl.DataFrame:
    """From the frame of `single_weight`, two rows a ranking: with the `drawn` rival, and `expected` over all rivals.

    Shares of the `n` instances with several items: `both` change the decision, `top_only`, `rival_only`, `neither`;
    and `negative`, in which removing the rival moves the output more. Null where there are no such instances.
    """
    check_frame(frame, "single_weight", ["items", "attention_expected_flips"])
    several = frame.filter(pl.col("items") > 1)
    rows = []
    for name in LEADERS:
        top = pl.col(f"{name}_flips").cast(pl.Float64)
        ways = {
            "drawn": (pl.col(f"{name}_rival_flips").cast(pl.Float64), pl.col(f"{name}_delta_js") < -ROUNDING),
            "expected": (pl.col(f"{name}_expected_flips"), pl.col(f"{name}_expected_negative")),
        }
        for way, (rival, negative) in ways.items():
            shares = several.select(
                n=pl.len().cast(pl.Int64),
                both=(top * rival).mean(),
                top_only=(top * (1 - rival)).mean(),
                rival_only=((1 - top) * rival).mean(),
                neither=((1 - top) * (1 - rival)).mean(),
                negative=negative.mean(),
            )
            rows.append(shares.select(pl.lit(name).alias("ranking"), pl.lit(way).alias("rival"), pl.all()))
    return pl.concat(rows)
