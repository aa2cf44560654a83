"""Signals made up for tests."""

from typing import Any

import numpy as np
import polars as pl

GOOD: dict[str, Any] = {
    "permuted_tvd": 0.6,
    "permuted_changed": 0.5,
    "replaced_tvd": 0.6,
    "replaced_changed": True,
    "lead": 0.3,
    "against": False,
    "attention_fall": 0.5,
    "random_fall": 0.1,
    "leave_one_out_fall": 0.5,
}
BAD: dict[str, Any] = {
    "permuted_tvd": 0.0,
    "permuted_changed": 0.0,
    "replaced_tvd": 0.0,
    "replaced_changed": False,
    "lead": -0.1,
    "against": True,
    "attention_fall": 0.1,
    "random_fall": 0.1,
    "leave_one_out_fall": 0.5,
}


def signalled(n: int = 40, *, level: str = "input", **columns: Any) -> pl.DataFrame:
    """Instances whose signals are all good, but for those given: a value for all, or one for each."""
    values = {**GOOD, **columns}
    kinds = {name: pl.Boolean if isinstance(GOOD[name], bool) else pl.Float64 for name in GOOD}
    told = {
        name: pl.Series(list(value) if isinstance(value, list | np.ndarray) else [value] * n, dtype=kinds[name])
        for name, value in values.items()
    }
    return pl.DataFrame({"id": [f"instance-{index:03d}" for index in range(n)], "level": [level] * n, **told})
