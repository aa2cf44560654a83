"""Which of two rankings changes a decision sooner, instance by instance (Serrano & Smith 2019, section 5)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.experiments.frames import check_frame
from heedful.experiments.rankings import ORDERINGS
from heedful.measures import bootstrap, holm, sign_test

_KINDS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("first", "second"), pl.String),
    **dict.fromkeys(("n", "first_wins", "second_wins", "ties", "neither"), pl.Int64),
    **dict.fromkeys(("share", "low", "high", "p_value"), pl.Float64),
}


def removal_wins(
    frame: pl.DataFrame, *, only: pl.Series | Sequence[bool] | None = None, seed: int = 0, draws: int = 2000
) -> pl.DataFrame:
    """From the frame of `removal`, one row for each two rankings, over the instances with several items.

    A ranking wins (`first_wins`, `second_wins`) if it needs fewer items, or changes a decision that the other never
    changes; `neither` changes some, which are not compared. `share` is that of the `first` ranking's wins in the `n`
    compared instances, with its bootstrap interval `low`, `high` (null without draws); `p_value` that of an exact sign
    test, `p_holm` the same corrected for all rows. `random` is its first order; `optimal` never loses, and is left out.

    `only` picks instances by truth values (or by a column of them), one a row of the frame.
    """
    check_frame(frame, "removal", ["items"])
    taken = frame.filter((pl.col("items") > 1) & _picked(frame, only))
    rows = []
    names = [name for name in ORDERINGS if f"{name}_count" in frame.columns]
    for first, second in combinations(names, 2):
        needed = taken.select(f"{first}_count", f"{second}_count").cast(pl.Float64).fill_null(np.inf).to_numpy()
        compared = needed[np.isfinite(needed).any(axis=1)]  # (n, 2)
        tested = sign_test(compared[:, 0], compared[:, 1])
        wins = (compared[:, 0] < compared[:, 1]).astype(np.float64)
        interval = bootstrap(wins, seed=seed, draws=draws) if draws and len(wins) else None
        rows.append(
            {
                "first": first,
                "second": second,
                "n": len(compared),
                "first_wins": tested.lower,
                "second_wins": tested.higher,
                "ties": tested.ties,
                "neither": len(needed) - len(compared),
                "share": float(wins.mean()) if len(wins) else None,
                "low": interval and interval.low,
                "high": interval and interval.high,
                "p_value": tested.p_value,
            }
        )
    table = pl.DataFrame(rows, schema=_KINDS)
    return table.with_columns(pl.Series("p_holm", holm(table["p_value"].to_numpy()), dtype=pl.Float64))


def _picked(frame: pl.DataFrame, only: pl.Series | Sequence[bool] | None) -> pl.Series:
    if only is None:
        return pl.repeat(True, len(frame), eager=True)
    only = pl.Series(only)
    if only.dtype != pl.Boolean or len(only) != len(frame):
        raise BadInput(
            f"only: {len(only):,} values of {only.dtype} were given for {len(frame):,} instances; give one truth value "
            "an instance, in the frame's order"
        )
    return only.fill_null(value=False)
