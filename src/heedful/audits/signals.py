"""Signals: what the tests of an audit found, instance by instance, as far as the verdict asks for it.

Whatever a test was not performed on, or cannot say, is null. An instance of one item has no other attention: all of it
is null.
"""

import re
from collections.abc import Mapping
from typing import Literal

import polars as pl

from heedful.experiments.frames import check_frame

Level = Literal["input", "attention"]  # where items were erased: in the text, or only at the attention

WAYS = ("delete", "blank", "unknown")  # of erasing at the input; the first one that was performed counts
NO_METHOD = ("attention", "random", "ascending")  # rankings that are no attribution
FALL = "_fall"

_COLUMNS = {
    "permuted_tvd": pl.Float64,
    "permuted_changed": pl.Float64,
    "replaced_tvd": pl.Float64,
    "replaced_changed": pl.Boolean,
    "attention_fall": pl.Float64,
    "random_fall": pl.Float64,
    "lead": pl.Float64,
    "against": pl.Boolean,
}


def signals(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row an instance, from the frames of tests by their names; tests that are missing leave nulls.

    `permuted_tvd`, the median TVD under permuted weights, and `permuted_changed`, the share of them that change the
    decision; `replaced_tvd` and `replaced_changed`, under uniform weights. By how much the probability of the decision
    falls when items are erased: `attention_fall`, `random_fall` and `<method>_fall` are comprehensiveness in the order
    of attention, in random order and in that of each method; `lead` is by how much it falls more without the most
    attended items (1 % of them, one at least) than without as many random ones. `against`: does the most attended item
    argue against the decision, so that the probability rises without it (where the text itself was changed), or would
    it decide for another class if it had all the attention?

    `level` says where items were erased: at the `input` (from `erasure`), else at the `attention` (from `curves` and
    `violation`). One is never filled up by the other.
    """
    level, race = _race(frames)
    parts = [
        _columns(frames, "permutation", permuted_tvd="median", permuted_changed="changed"),
        _columns(frames, "substitution", replaced_tvd="uniform_tvd", replaced_changed="uniform_changed"),
        race,
    ]
    if level == "attention":
        parts.append(_columns(frames, "violation", against="violates"))
    ids = pl.concat([part.select("id") for part in parts]).unique(maintain_order=True)
    found = ids
    for part in (*parts, _items(frames)):
        found = found.join(part, on="id", how="left", maintain_order="left")
    lacking = [pl.lit(None, dtype=kind).alias(name) for name, kind in _COLUMNS.items() if name not in found.columns]
    methods = sorted(name for name in found.columns if name.endswith(FALL) and name not in _COLUMNS)
    kinds = {**_COLUMNS, **dict.fromkeys(methods, pl.Float64)}
    several = pl.col("items").fill_null(2) > 1
    return found.with_columns(lacking).select(
        "id",
        pl.lit(level).alias("level"),
        *(_defined(pl.when(several).then(pl.col(name)), kind).alias(name) for name, kind in kinds.items()),
    )


def methods_of(signals: pl.DataFrame) -> list[str]:
    """The attribution methods that were raced."""
    names = (name.removesuffix(FALL) for name in signals.columns if name.endswith(FALL))
    return [name for name in names if name not in NO_METHOD]


def _race(frames: Mapping[str, pl.DataFrame]) -> tuple[Level, pl.DataFrame]:
    """Falls, lead and, at the input, which way the most attended item argues."""
    erasure = frames.get("erasure")
    if erasure is not None:
        check_frame(erasure, "erasure", ["id"])
        for way in WAYS:
            if f"{way}_attention_comprehensiveness" in erasure.columns:
                return "input", _falls(erasure, f"{way}_").with_columns(against=pl.col("first") < 0)
    curves = frames.get("curves")
    if curves is None:
        return "attention", pl.DataFrame(schema={"id": pl.String})
    check_frame(curves, "curves", ["id"])
    return "attention", _falls(curves, "")


def _falls(frame: pl.DataFrame, prefix: str) -> pl.DataFrame:
    pattern = re.compile(f"{prefix}(.+)_comprehensiveness")
    raced = [found[1] for found in map(pattern.fullmatch, frame.columns) if found]
    first = {name: f"{prefix}{name}_comprehensiveness_at" for name in ("attention", "random")}
    at = {name: pl.col(column).list.first() for name, column in first.items() if column in frame.columns}
    own = at.get("attention", pl.lit(None, dtype=pl.Float64))
    return frame.select(
        "id",
        *(pl.col(f"{prefix}{name}_comprehensiveness").alias(f"{name}{FALL}") for name in raced if name != "ascending"),
        (own - at["random"] if len(at) == len(first) else pl.lit(None, dtype=pl.Float64)).alias("lead"),
        own.alias("first"),
    )


def _columns(frames: Mapping[str, pl.DataFrame], test: str, **columns: str) -> pl.DataFrame:
    """Some columns of a test under other names; nothing if it was not performed."""
    if test not in frames:
        return pl.DataFrame(schema={"id": pl.String})
    check_frame(frames[test], test, ["id", *columns.values()])
    return frames[test].select("id", **{name: pl.col(column) for name, column in columns.items()})


def _items(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """How many items each instance has, from whichever test says it."""
    told = [frame.select("id", pl.col("items").cast(pl.Int64)) for frame in frames.values() if "items" in frame.columns]
    empty = pl.DataFrame(schema={"id": pl.String, "items": pl.Int64})
    return pl.concat([empty, *told]).unique("id", keep="first", maintain_order=True)


def _defined(value: pl.Expr, kind: type[pl.DataType]) -> pl.Expr:
    cast = value.cast(kind)
    return cast.fill_nan(None) if kind == pl.Float64 else cast
