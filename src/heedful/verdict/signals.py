"""Signals: what the tests of a run or an audit found for each instance, as far as the verdict needs it.

Values that were not tested or are undefined are null, and so are all values of instances with a single item: they have
only one possible attention.
"""

import re
from collections.abc import Mapping
from typing import Literal

import polars as pl

from heedful.experiments.experiment import check_frame

Level = Literal["input", "attention"]  # where items were erased: in the text, or only at the attention
Frames = Mapping[str, pl.DataFrame]

WAYS = ("delete", "blank", "unknown")  # of erasing at the input; the first one that was used counts
NO_METHOD = ("attention", "random", "ascending")  # rankings that are not attribution methods
FALL = "_fall"
ROUNDING = 1e-6  # changes of a probability below this count as none

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
_NEEDED = {
    "permutation": r"median|changed",
    "substitution": r"uniform_tvd|uniform_changed",
    "violation": r"violates|erased_fall",
    "erasure": r".+_comprehensiveness(_at)?",
    "curves": r".+_comprehensiveness(_at)?",
}


def signals(frames: Frames, *, rounding: float = ROUNDING) -> pl.DataFrame:
    """One row an instance, from the frames of tests by name; missing tests leave nulls.

    - `permuted_tvd`: median TVD under permuted weights; `permuted_changed`: share of them that change the decision.
    - `replaced_tvd`, `replaced_changed`: the same for uniform weights.
    - `attention_fall`, `random_fall`, `<method>_fall`: comprehensiveness (by how much the decision's probability falls
      when items are erased) in the order of attention, in random order, and in the order of each method.
    - `lead`: `attention_fall` less `random_fall`; 0 where they differ by no more than `rounding`.
    - `against`: the decision's probability rises without the most attended item.

    `level` says where items were erased. At the `input`, falls are those of `erasure`, and `against` comes from
    `violation` of a model, or else from `erasure` at its first share (1 % of the items, at least one). At `attention`,
    all come from `curves`. The two levels are never mixed.
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
        lead = pl.col("attention_fall") - pl.col("random_fall")
        found = found.with_columns(lead=pl.when(lead.abs() <= rounding).then(0.0).otherwise(lead))
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in _COLUMNS.items() if name not in found.columns]
    methods = [name for name in found.columns if name.endswith(FALL) and name not in _COLUMNS]
    several = pl.col("items").fill_null(2) > 1
    return found.with_columns(missing).select(
        "id",
        pl.lit(level).alias("level"),
        *(
            _defined(pl.when(several).then(pl.col(name)), kind).alias(name)
            for name, kind in {**_COLUMNS, **dict.fromkeys(methods, pl.Float64)}.items()
        ),
    )


def scan_signals(frames: Mapping[str, pl.LazyFrame], *, rounding: float = ROUNDING) -> pl.DataFrame:
    """The signals of result files, or of rows of them; reads only the columns that are needed."""
    needed = {test: _needed(test, frame) for test, frame in frames.items()}
    read = {test: frames[test].select(columns).collect() for test, columns in needed.items() if columns}
    return signals(read, rounding=rounding)


def level_of(frames: Frames) -> Level:
    """Where items were erased."""
    return "input" if _way(frames) is not None or _first_erased(frames) else "attention"


def methods_of(signals: pl.DataFrame) -> list[str]:
    """The attribution methods that were compared with attention."""
    names = (name.removesuffix(FALL) for name in signals.columns if name.endswith(FALL))
    return [name for name in names if name not in NO_METHOD]


def _needed(test: str, frame: pl.LazyFrame) -> list[pl.Expr]:
    """The columns of a test that `signals` reads, and of lists only the first entry."""
    pattern = re.compile(f"items|{_NEEDED.get(test, 'items')}")
    names = [name for name in frame.collect_schema().names() if pattern.fullmatch(name)]
    if not names and test not in _NEEDED:
        return []
    return [pl.col("id"), *(pl.col(name).list.head(1) if name.endswith("_at") else pl.col(name) for name in names)]


def _erasing(frames: Frames, level: Level) -> list[pl.DataFrame]:
    """The falls, and whether the most attended item argues against the decision."""
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
    """How items were erased from the texts by `erasure`, if it was performed."""
    columns = frames["erasure"].columns if "erasure" in frames else []
    return next((way for way in WAYS if f"{way}_attention_comprehensiveness" in columns), None)


def _first_erased(frames: Frames) -> bool:
    """Whether `violation` erased the most attended item from its text, as it does with a model at hand."""
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
    """How many items each instance has, from any test that has the column."""
    counted = [frame for frame in frames.values() if "items" in frame.columns]
    known = [frame.select("id", pl.col("items").cast(pl.Int64)) for frame in counted]
    empty = pl.DataFrame(schema={"id": pl.String, "items": pl.Int64})
    return pl.concat([empty, *known]).unique("id", keep="first", maintain_order=True)


def _defined(value: pl.Expr, kind: type[pl.DataType]) -> pl.Expr:
    return value.cast(kind).fill_nan(None) if kind == pl.Float64 else value.cast(kind)
