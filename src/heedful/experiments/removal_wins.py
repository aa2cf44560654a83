"""Which of two rankings changes a decision sooner, instance by instance (Serrano & Smith 2019, section 5)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.experiments.estimates import estimates
from heedful.experiments.frames import check_frame
from heedful.experiments.rankings import ORDERINGS
from heedful.measures import holm, sign_test

_ENDS = ("", "_low", "_high")
_KINDS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("first", "second"), pl.String),
    **dict.fromkeys(("n", "first_wins", "second_wins", "ties", "neither"), pl.Int64),
    **dict.fromkeys(("share", "low", "high"), pl.Float64),
    **dict.fromkeys((f"{name}_all{end}" for name in ("first", "second") for end in _ENDS), pl.Float64),
    "p_value": pl.Float64,
}


def removal_wins(
    frame: pl.DataFrame, *, only: pl.Series | Sequence[bool] | None = None, seed: int = 0, draws: int = 2000
) -> pl.DataFrame:
    """From the frame of `removal`, one row for each two rankings, over the instances with several items.

    A ranking wins (`first_wins`, `second_wins`) if it needs fewer items, or changes a decision that the other never
    changes; `neither` changes some, which are not compared. `share` is that of the `first` ranking's wins in the `n`
    compared instances, with its bootstrap interval `low`, `high` (null without draws); `first_all` and `second_all` are
    those of each one's wins in all instances, compared or not, as the paper has it, with theirs, `first_all_low` and so
    on. `p_value` is that of an exact sign test, `p_holm` the same corrected for all rows. `random` is its first order;
    `optimal` never loses, and is left out.

    `only` picks instances by truth values (or by a column of them), one a row of the frame.
    """
    check_frame(frame, "removal", ["items"])
    taken = frame.filter((pl.col("items") > 1) & _picked(frame, only))
    names = [name for name in ORDERINGS if f"{name}_count" in frame.columns]
    needed = taken.select(pl.col(f"{name}_count").cast(pl.Float64).fill_null(np.inf).alias(name) for name in names)
    pairs = list(combinations(names, 2))
    shares = [value.alias(f"{'/'.join(pair)} {name}") for pair in pairs for name, value in _shares(*pair).items()]
    found = estimates(needed.select(shares), seed=seed, draws=draws)
    rows = []
    for first, second in pairs:
        pair = needed.select(first, second).to_numpy()  # (n, 2)
        compared = pair[np.isfinite(pair).any(axis=1)]
        tested = sign_test(compared[:, 0], compared[:, 1])
        told = {name: found[f"{first}/{second} {name}"] for name in ("share", "first_all", "second_all")}
        rows.append(
            {
                "first": first,
                "second": second,
                "n": len(compared),
                "first_wins": tested.lower,
                "second_wins": tested.higher,
                "ties": tested.ties,
                "neither": len(needed) - len(compared),
                "share": told["share"].mean,
                "low": told["share"].low,
                "high": told["share"].high,
                **{
                    f"{name}_all{end}": getattr(told[f"{name}_all"], end[1:] or "mean")
                    for name in ("first", "second")
                    for end in _ENDS
                },
                "p_value": tested.p_value,
            }
        )
    table = pl.DataFrame(rows, schema=_KINDS)
    return table.with_columns(pl.Series("p_holm", holm(table["p_value"].to_numpy()), dtype=pl.Float64))


def _shares(first: str, second: str) -> dict[str, pl.Expr]:
    """What each share is the mean of."""
    one, other = pl.col(first), pl.col(second)
    return {
        "share": pl.when(one.is_finite() | other.is_finite()).then(one < other),
        "first_all": one < other,
        "second_all": other < one,
    }


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
