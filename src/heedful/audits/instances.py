"""Verdicts on single instances, by the criteria of the model's verdict, each on the instance's own quantities.

There is no interval here: one text, one random order to compare with. docs/audit-calibration.md says how often such an
answer is wrong.
"""

from functools import reduce
from operator import and_, or_

import polars as pl

from heedful.audits.criteria import CRITERIA, quantities
from heedful.audits.signals import FALL, ROUNDING, Level
from heedful.audits.thresholds import Bars

NOT_ERASED = "no word was erased from its text"


def judged(signals: pl.DataFrame, best: str | None, bars: Bars, level: Level) -> pl.DataFrame:
    """`id`, `answer` and `reasons`: why it is no yes. `best` is the method that attention is compared with."""
    frame = signals.select("id", **_met(best, bars))
    fails = {asked.name: ~pl.col(asked.name) for asked in CRITERIA}
    no = reduce(or_, (fails[asked.name].fill_null(False) for asked in CRITERIA if asked.decisive))
    yes = reduce(and_, (pl.col(asked.name).fill_null(not asked.decisive) for asked in CRITERIA)) & (level == "input")
    reasons: list[pl.Expr] = [pl.when(fails[asked.name]).then(pl.lit(asked.fails)) for asked in CRITERIA]
    reasons += [
        pl.when(pl.col(asked.name).is_null()).then(pl.lit(f"not tested: {asked.question}")) for asked in CRITERIA
    ]
    reasons.append(pl.lit(NOT_ERASED if level == "attention" else None, dtype=pl.String))
    return frame.select(
        "id",
        pl.when(no).then(pl.lit("no")).when(yes).then(pl.lit("yes")).otherwise(pl.lit("with caution")).alias("answer"),
        pl.concat_list(reasons).list.drop_nulls().alias("reasons"),
    )


def _met(best: str | None, bars: Bars) -> dict[str, pl.Expr]:
    """Whether an instance meets each criterion; null where it was not tested."""
    values = quantities()
    race = pl.lit(None, dtype=pl.Boolean)
    if best is not None:
        own, other = (pl.col(f"{name}{FALL}") - pl.col(f"random{FALL}") for name in ("attention", best))
        race = own >= bars.race * other - ROUNDING
    return {
        "permutation": values["permutation"] >= bars.permutation,
        "lead": values["lead"] > 0.5,
        "against": values["against"] == 0,
        "race": race,
        "replacement": values["replacement"] >= bars.replacement,
    }
