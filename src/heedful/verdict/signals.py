"""Signals: what the tests of an audit found, instance by instance, as far as the verdict asks for it.

Whatever a test was not performed on, or cannot say, is null. An instance of one item has no other attention: all that
is told of it is null.
"""

import re
from collections.abc import Mapping
from typing import Literal

import polars as pl

from heedful.experiments.experiment import check_frame

Level = Literal["input", "attention"]  # where items were erased: in the text, or only at the attention
Frames = Mapping[str, pl.DataFrame]

WAYS = ("delete", "blank", "unknown")  # of erasing at the input; the first one that was performed counts
NO_METHOD = ("attention", "random", "ascending")  # rankings that are no attribution
FALL = "_fall"
ROUNDING = 1e-6  # of a probability: changes below it are none

_COLUMNS = {
    "permuted_tvd": pl.Float64,
    "permuted_changed": pl.Float64,
    "replaced_tvd": pl.Float64,
    "replaced_changed": pl.Boolean,
    "lead": pl.Float64,
    "against": pl.Boolean,
    "attention_fall": pl.Float64,
    "random_fall": pl.Float64,
}
_NOTHING = pl.DataFrame(schema={"id": pl.String})


def signals(frames: Frames) -> pl.DataFrame:
    """One row an instance, from the frames of tests by their names; tests that are missing leave nulls.

    `permuted_tvd`, the median TVD under permuted weights, and `permuted_changed`, the share of them that change the
    decision; `replaced_tvd` and `replaced_changed`, under uniform weights. By how much the probability of the decision
    falls when items are erased: `attention_fall`, `random_fall` and `<method>_fall`, comprehensiveness in the order of
    attention, in random order and in that of each method raced; `lead`, attention's less that of random order.
    `against`: the most attended item argues against the decision, whose probability rises without it.

    `level` says where items were erased. At the `input` the falls are those of `erasure`, and `against` is found by
    `violation` of a model, or else in `erasure` at its first share (1 % of the items, one at least). At `attention`, of
    evidence, all are found in `curves`. One level is never filled up by the other.
    """
    level = level_of(frames)
    tests = [
        _columns(frames, "permutation", permuted_tvd="median", permuted_changed="changed"),
        _columns(frames, "substitution", replaced_tvd="uniform_tvd", replaced_changed="uniform_changed"),
        *_erasing(frames, level),
    ]
    found = pl.concat([test.select("id") for test in tests]).unique(maintain_order=True)
    for test in (*tests, _items(frames)):
        found = found.join(test, on="id", how="left", maintain_order="left")
    if {"attention_fall", "random_fall"} <= {*found.columns}:
        found = found.with_columns(lead=pl.col("attention_fall") - pl.col("random_fall"))
    lacking = [pl.lit(None, dtype=kind).alias(name) for name, kind in _COLUMNS.items() if name not in found.columns]
    methods = [name for name in found.columns if name.endswith(FALL) and name not in _COLUMNS]
    several = pl.col("items").fill_null(2) > 1
    return found.with_columns(lacking).select(
        "id",
        pl.lit(level).alias("level"),
        *(
            _defined(pl.when(several).then(pl.col(name)), kind).alias(name)
            for name, kind in {**_COLUMNS, **dict.fromkeys(methods, pl.Float64)}.items()
        ),
    )


def level_of(frames: Frames) -> Level:
    """Where items were erased."""
    return "input" if _way(frames) is not None or _first_erased(frames) else "attention"


def methods_of(signals: pl.DataFrame) -> list[str]:
    """The attribution methods that were raced."""
    names = (name.removesuffix(FALL) for name in signals.columns if name.endswith(FALL))
    return [name for name in names if name not in NO_METHOD]


def _erasing(frames: Frames, level: Level) -> list[pl.DataFrame]:
    """What happens when items are erased."""
    way = _way(frames)
    race, prefix = frames.get("erasure" if level == "input" else "curves"), "" if way is None else f"{way}_"
    raced = [] if race is None or (level == "input" and way is None) else [_falls(race, prefix)]
    if level == "input" and _first_erased(frames):
        return [*raced, _columns(frames, "violation", against="violates")]
    first = f"{prefix}attention_comprehensiveness_at"
    if race is not None and first in race.columns:
        raced.append(race.select("id", against=pl.col(first).list.first() < -ROUNDING))
    return raced


def _way(frames: Frames) -> str | None:
    """How items were erased from texts in the race, if there was one."""
    columns = frames["erasure"].columns if "erasure" in frames else []
    return next((way for way in WAYS if f"{way}_attention_comprehensiveness" in columns), None)


def _first_erased(frames: Frames) -> bool:
    """Whether the most attended item was erased from its text: `violation` does so where there is a model."""
    return "violation" in frames and "erased_fall" in frames["violation"].columns


def _falls(frame: pl.DataFrame, prefix: str) -> pl.DataFrame:
    """Comprehensiveness in the order of each ranking."""
    pattern = re.compile(f"{prefix}(.+)_comprehensiveness")
    raced = [found[1] for found in map(pattern.fullmatch, frame.columns) if found and found[1] != "ascending"]
    return frame.select("id", *(pl.col(f"{prefix}{name}_comprehensiveness").alias(f"{name}{FALL}") for name in raced))


def _columns(frames: Frames, test: str, **columns: str) -> pl.DataFrame:
    """Some columns of a test under other names; nothing if it was not performed."""
    if test not in frames:
        return _NOTHING
    check_frame(frames[test], test, ["id", *columns.values()])
    return frames[test].select("id", **{name: pl.col(column) for name, column in columns.items()})


def _items(frames: Frames) -> pl.DataFrame:
    """How many items each instance has, from whichever test says it."""
    told = [frame.select("id", pl.col("items").cast(pl.Int64)) for frame in frames.values() if "items" in frame.columns]
    empty = pl.DataFrame(schema={"id": pl.String, "items": pl.Int64})
    return pl.concat([empty, *told]).unique("id", keep="first", maintain_order=True)


def _defined(value: pl.Expr, kind: type[pl.DataType]) -> pl.Expr:
    return value.cast(kind).fill_nan(None) if kind == pl.Float64 else value.cast(kind)
