"""Signals made up for tests."""

from typing import Any

import numpy as np
import polars as pl

GOOD: dict[str, Any] = {
    "necessity": 0.9,
    "sufficiency": 0.9,
    "swap": 0.9,
    "weights": 0.9,
    "masked_necessity": 0.9,
    "masked_sufficiency": 0.9,
    "shuffling": 0.6,
    "zeroing": 0.9,
    "truth": 0.9,
    "attention_gain": 0.4,
    "leave_one_out_gain": 0.45,
}
BAD: dict[str, Any] = {**dict.fromkeys(GOOD, 0.0), "leave_one_out_gain": 0.45}
WORDS = ("necessity", "sufficiency", "swap", "truth")  # criteria of the first question
CLASSES = ("negative", "positive")


def signalled(n: int = 120, *, level: str = "input", decision: Any = None, **columns: Any) -> pl.DataFrame:
    """Texts whose signals are all good, but for those given: a value for all, or one for each.

    Every other text is decided for class 0, unless `decision` says otherwise.
    """
    decisions = [index % 2 for index in range(n)] if decision is None else decision
    values = {"decision": decisions, **GOOD, **columns}
    told = {
        name: pl.Series(
            list(value) if isinstance(value, list | np.ndarray) else [value] * n,
            dtype=pl.Int32 if name == "decision" else pl.Float64,
        )
        for name, value in values.items()
    }
    return pl.DataFrame({"id": [f"instance-{index:04d}" for index in range(n)], "level": [level] * n, **told})


def by_class(frame: pl.DataFrame, decision: int, **columns: float | None) -> pl.DataFrame:
    """Signals with other values for the texts of one class."""
    own = pl.col("decision") == decision
    return frame.with_columns(
        pl.when(own).then(pl.lit(value, dtype=pl.Float64)).otherwise(name).alias(name)
        for name, value in columns.items()
    )
