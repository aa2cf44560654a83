"""Signals: what the tests of a run or an audit found for each text, as far as the verdict needs it.

Most are shares of what could be won: 0 if the highlighted words do no better than random ones, 1 if no set of words
does better than they. Values that were not tested are null, and so are shares where too little can be won to tell, and
all values of texts with a single item, which have only one possible attention.
"""

import re
from collections.abc import Mapping
from typing import Literal

import polars as pl

from heedful.experiments.experiment import check_frame

Level = Literal["input", "attention"]  # whether words were deleted from the texts, or only their attention changed
Frames = Mapping[str, pl.DataFrame]

ROUNDING = 1e-6  # changes of a probability below this count as none
LEAST = 0.1  # of probability that must be at stake: shares of less are noise
SECOND_WAYS = ("blank", "unknown")  # of erasing words, beside deleting them
NO_METHOD = ("attention", "random", "best", "ascending")  # rankings that are not attribution methods
GAIN = "_gain"

COLUMNS: dict[str, type[pl.DataType]] = {
    "decision": pl.Int32,
    "necessity": pl.Float64,
    "sufficiency": pl.Float64,
    "swap": pl.Float64,
    "weights": pl.Float64,
    "masked_necessity": pl.Float64,
    "masked_sufficiency": pl.Float64,
    "shuffling": pl.Float64,
    "zeroing": pl.Float64,
    "truth": pl.Float64,
    f"attention{GAIN}": pl.Float64,
}
_NEEDED = {
    "highlights": r"decision|.+_(necessity|sufficiency)_.+|swap_.+|weights_.+|truth_.+",
    "permutation": r"decision|median",
    "curves": r"decision|.+_comprehensiveness",
}
_NOTHING = pl.DataFrame(schema={"id": pl.String})


def signals(frames: Frames, *, rounding: float = ROUNDING) -> pl.DataFrame:
    """One row a text, from the frames of tests by name; missing tests leave nulls.

    From `highlights`, words changed in the text (`level` is `input`):
    - `necessity`, `sufficiency`: share of the best possible gain over random words, when the highlighted words are
      deleted, or when only they are left; `masked_...`: the same words replaced by a token that stands for nothing.
    - `swap`: of what a text decided otherwise would change as a whole, the share that its highlighted words change.
    - `weights`: of what deleting the highlighted words changes, the share that zeroing their attention changes.
    - `truth`: attention on the words known to decide, where swapping those changes the decision.

    From experiments on the attention alone:
    - `shuffling`: how far shuffled weights move the output (median TVD).
    - `zeroing`: share of the best order's gain over random order when attention is zeroed in its own order.

    `<method>_gain`: what an attribution method's words, as many as are highlighted, gain over random ones: mean of
    necessity and sufficiency, or comprehensiveness at the attention; `attention_gain` likewise.
    """
    level = level_of(frames)
    least = max(LEAST, rounding)
    tests = [_shuffling(frames), _highlights(frames, least), _zeroing(frames, least, gains=level == "attention")]
    found = pl.concat([test.select("id") for test in tests]).unique(maintain_order=True)
    for test in (*tests, _facts(frames)):
        found = found.join(test, on="id", how="left", maintain_order="left")
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in COLUMNS.items() if name not in found.columns]
    gains = [name for name in found.columns if name.endswith(GAIN)]
    several = pl.col("items").fill_null(2) > 1
    kept = {name: kind for name, kind in COLUMNS.items() if name != "decision"} | dict.fromkeys(gains, pl.Float64)
    return found.with_columns(missing).select(
        "id",
        pl.lit(level).alias("level"),
        pl.col("decision").cast(pl.Int32),
        *(pl.when(several).then(pl.col(name).cast(kind).fill_nan(None)).alias(name) for name, kind in kept.items()),
    )


def scan_signals(frames: Mapping[str, pl.LazyFrame], *, rounding: float = ROUNDING) -> pl.DataFrame:
    """The signals of result files, or of rows of them; reads only the columns that are needed."""
    needed = {test: _needed(test, frame) for test, frame in frames.items()}
    read = {test: frames[test].select(columns).collect() for test, columns in needed.items() if columns}
    return signals(read, rounding=rounding)


def level_of(frames: Frames) -> Level:
    """Whether words were deleted from the texts."""
    return "input" if "highlights" in frames else "attention"


def methods_of(signals: pl.DataFrame) -> list[str]:
    """The attribution methods that were compared with attention."""
    names = (name.removesuffix(GAIN) for name in signals.columns if name.endswith(GAIN))
    return [name for name in names if name not in NO_METHOD]


def _needed(test: str, frame: pl.LazyFrame) -> list[str]:
    """The columns of a test that `signals` reads."""
    pattern = re.compile(f"id|items|{_NEEDED.get(test, 'items')}")
    names = [name for name in frame.collect_schema().names() if pattern.fullmatch(name)]
    return names if test in _NEEDED or "items" in names else []


def _highlights(frames: Frames, least: float) -> pl.DataFrame:
    frame = frames.get("highlights")
    if frame is None or (frame.columns == ["id"] and not len(frame)):  # no text could be tested within a budget
        return _NOTHING
    check_frame(frame, "highlights", ["id", "delete_necessity_attention", "delete_sufficiency_attention"])
    second = next((way for way in SECOND_WAYS if f"{way}_necessity_attention" in frame.columns), None)
    shares = {
        "necessity": _share("necessity", "delete", least),
        "sufficiency": _share("sufficiency", "delete", least),
        "swap": _ratio(pl.col("swap_attention") - pl.col("swap_random"), pl.col("swap_whole"), least),
        "weights": _ratio(pl.col("weights_attention"), pl.col("delete_necessity_attention"), least),
    }
    if second is not None:
        shares |= {f"masked_{name}": _share(name, second, least) for name in ("necessity", "sufficiency")}
    if "truth_mass" in frame.columns:
        shares["truth"] = pl.when(pl.col("truth_decides")).then(pl.col("truth_mass"))
    named = (re.fullmatch("delete_necessity_(.+)", name) for name in frame.columns)
    rankings = [found[1] for found in named if found and found[1] not in ("random", "best")]
    gains = {
        f"{name}{GAIN}": (_gain("necessity", "delete", name) + _gain("sufficiency", "delete", name)) / 2
        for name in rankings
    }
    return frame.select("id", **shares, **gains)


def _gain(quantity: str, way: str, ranking: str) -> pl.Expr:
    """By how much a ranking's words do better than random ones: their loss matters more, or they suffice better."""
    more = pl.col(f"{way}_{quantity}_{ranking}") - pl.col(f"{way}_{quantity}_random")
    return more if quantity == "necessity" else -more


def _share(quantity: str, way: str, least: float) -> pl.Expr:
    return _ratio(_gain(quantity, way, "attention"), _gain(quantity, way, "best"), least)


def _ratio(part: pl.Expr, whole: pl.Expr, least: float) -> pl.Expr:
    """A share between 0 and 1; null where less than `least` is at stake."""
    return pl.when(whole >= least).then((part / whole).clip(0.0, 1.0))


def _shuffling(frames: Frames) -> pl.DataFrame:
    if "permutation" not in frames:
        return _NOTHING
    check_frame(frames["permutation"], "permutation", ["id", "median"])
    return frames["permutation"].select("id", shuffling="median")


def _zeroing(frames: Frames, least: float, *, gains: bool) -> pl.DataFrame:
    frame = frames.get("curves")
    if frame is None or "random_comprehensiveness" not in frame.columns:
        return _NOTHING
    named = (re.fullmatch("(.+)_comprehensiveness", name) for name in frame.columns)
    over = {
        found[1]: pl.col(found[0]) - pl.col("random_comprehensiveness")
        for found in named
        if found and found[1] not in ("random", "ascending")
    }
    share = _ratio(over["attention"], pl.max_horizontal(*over.values()), least)
    return frame.select(
        "id", zeroing=share, **({f"{name}{GAIN}": gain for name, gain in over.items()} if gains else {})
    )


def _facts(frames: Frames) -> pl.DataFrame:
    """The decision on each text and how many items it has, from any test that knows."""
    schema = {"id": pl.String, "items": pl.Int64, "decision": pl.Int32}
    known = [
        frame.select(
            "id",
            *(
                (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
                for name, kind in schema.items()
                if name != "id"
            ),
        )
        for frame in frames.values()
        if "id" in frame.columns and {"items", "decision"} & {*frame.columns}
    ]
    return (
        pl.concat([pl.DataFrame(schema=schema), *known])
        .group_by("id", maintain_order=True)
        .agg(pl.col("items").drop_nulls().first(), pl.col("decision").drop_nulls().first())
    )
