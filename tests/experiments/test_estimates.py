import numpy as np
import polars as pl
import pytest

from heedful.experiments import estimates
from heedful.measures import bootstrap


def test_each_column_has_its_own_mean_and_interval() -> None:
    frame = pl.DataFrame({"a": [1.0, None, 3.0, 8.0], "b": [True, False, True, True], "c": [None] * 4})
    found = estimates(frame.with_columns(pl.col("c").cast(pl.Float64)), seed=3, draws=200)
    assert found["a"][:2] == pytest.approx((4.0, np.std([1.0, 3.0, 8.0])))
    assert found["a"][4:] == (3, 1)
    assert found["a"][2:4] == pytest.approx(bootstrap([1.0, np.nan, 3.0, 8.0], seed=3, draws=200))
    assert found["b"].mean == 0.75
    assert found["c"] == (None, None, None, None, 0, 4)


def test_without_draws_or_instances_there_is_no_interval() -> None:
    assert estimates(pl.DataFrame({"a": [1.0, 2.0]}), draws=0)["a"] == (1.5, 0.5, None, None, 2, 0)
    assert estimates(pl.DataFrame({"a": []}, schema={"a": pl.Float64}))["a"] == (None, None, None, None, 0, 0)
