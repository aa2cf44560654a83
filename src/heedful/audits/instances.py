"""Verdicts on single instances, by the criteria of the model's verdict, each on the instance's own quantities.

There is no interval here: one text, one random order to compare with. docs/audit-calibration.md says how often such an
answer is wrong.
"""

from functools import reduce
from operator import and_, or_

import polars as pl

from heedful.audits.criteria import CRITERIA, quantities
from heedful.audits.signals import FALL, ROUNDING
from heedful.audits.thresholds import Bars
from heedful.audits.verdict import INSTANCES


def judged(signals: pl.DataFrame, best: str | None, bars: Bars) -> pl.DataFrame:
    """`id`, `answer` and `reasons`: why it is no yes. `best` is the method that attention is compared with."""
    met = _met(best, bars)
    frame = signals.select("id", **met)
    failed = [(asked, ~pl.col(asked.name)) for asked in CRITERIA]
    no = reduce(or_, (fails.fill_null(False) for asked, fails in failed if asked.decisive))
    yes = reduce(and_, (pl.col(asked.name).fill_null(not asked.decisive) for asked in CRITERIA))
    said = [pl.when(fails).then(pl.lit(asked.fails)) for asked, fails in failed]
    unsaid = [pl.when(pl.col(asked.name).is_null()).then(pl.lit(f"not tested: {asked.question}")) for asked in CRITERIA]
    return frame.select(
        "id",
        pl.when(no).then(pl.lit("no")).when(yes).then(pl.lit("yes")).otherwise(pl.lit("with caution")).alias("answer"),
        pl.concat_list([*said, *unsaid]).list.drop_nulls().alias("reasons"),
    ).cast(INSTANCES)  # type: ignore[arg-type]


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
