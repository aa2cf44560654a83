"""How soon each ranking changes decisions when items are erased from the text, over all instances."""

import re

import polars as pl

from heedful.experiments.estimates import estimates
from heedful.experiments.frames import check_frame

_RACE = re.compile("(delete|unknown|blank)_(.+)_count")
_MEANS = ("fraction_all", "comprehensiveness", "sufficiency")
_KINDS = dict.fromkeys((f"{mean}{end}" for mean in _MEANS for end in ("", "_low", "_high")), pl.Float64)


def erasure_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """From the frame of `erasure`, one row a `way` of erasing and a `ranking`, over the `n` instances of several items.

    `never`, how many decisions never change; means of `fraction_all`, the share of items erased until the decision
    changes (all, where it never does), `comprehensiveness` and `sufficiency`. Intervals of 95 % by so many bootstrap
    draws in `<mean>_low` and `<mean>_high` (null without draws).
    """
    races = [found.groups() for found in map(_RACE.fullmatch, frame.columns) if found]
    check_frame(frame, "erasure", ["items", *([] if races else ["delete_attention_count"])])
    several = frame.filter(pl.col("items") > 1)
    quantities = [
        value.alias(f"{way} {ranking} {mean}")
        for way, ranking in races
        for mean, value in {
            "fraction_all": pl.col(f"{way}_{ranking}_fraction").fill_null(1.0),
            **{mean: pl.col(f"{way}_{ranking}_{mean}") for mean in _MEANS[1:]},
        }.items()
    ]
    found = estimates(several.select(quantities), seed=seed, draws=draws)
    rows = []
    for way, ranking in races:
        never = several[f"{way}_{ranking}_count"].null_count()
        row: dict[str, object] = {"way": way, "ranking": ranking, "n": len(several), "never": never}
        for mean in _MEANS:
            told = found[f"{way} {ranking} {mean}"]
            row |= {mean: told.mean, f"{mean}_low": told.low, f"{mean}_high": told.high}
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides=_KINDS)
