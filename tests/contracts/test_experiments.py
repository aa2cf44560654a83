"""What holds for every experiment: batches and order make no difference, and awkward instances are defined."""

from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful import experiments
from heedful.evidence import Evidence
from heedful.measures import summarise
from tests.making import awkward_evidence, make_evidence, make_importance

Experiment = Callable[[Evidence], pl.DataFrame]


def with_importance(evidence: Evidence) -> pl.DataFrame:
    return experiments.correlation(evidence, make_importance(evidence))


def by_search(evidence: Evidence) -> pl.DataFrame:
    return experiments.adversary(evidence, method="search", steps=5)


EVERY_EXPERIMENT = [
    *(
        experiment
        for name, experiment in experiments.EXPERIMENTS.items()
        if name not in ("correlation", "adversary_search")
    ),
    with_importance,
    by_search,
]


@pytest.mark.parametrize("experiment", EVERY_EXPERIMENT)
@given(seed=st.integers(0, 1000), size=st.integers(1, 6), outputs=st.sampled_from([1, 3]))
@settings(deadline=None, max_examples=25)
def test_batches_make_no_difference(experiment: Experiment, seed: int, size: int, outputs: int) -> None:
    evidence = make_evidence(seed, n=7, outputs=outputs)
    parts = pl.concat([experiment(batch) for batch in evidence.batches(size)])
    assert_frame_equal(parts, experiment(evidence), abs_tol=1e-9)


@pytest.mark.parametrize("experiment", EVERY_EXPERIMENT)
def test_order_makes_no_difference(experiment: Experiment) -> None:
    evidence = make_evidence(n=7)
    backwards = Evidence.from_frame(evidence.to_frame().reverse())
    assert_frame_equal(experiment(backwards).reverse(), experiment(evidence), abs_tol=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("experiment", EVERY_EXPERIMENT)
def test_awkward_instances_are_defined(experiment: Experiment, outputs: int) -> None:
    evidence = awkward_evidence(outputs)
    frame = experiment(evidence)
    assert frame["id"].to_list() == list(evidence.ids)
    for name, dtype in frame.schema.items():
        if dtype == pl.List(pl.Float64):
            assert not frame[name].explode().is_nan().any()
        if dtype.is_float():
            assert not frame[name].is_nan().any()  # undefined is null
            summary = summarise(frame[name].fill_null(float("nan")))
            assert summary.n + summary.undefined == len(frame)
            assert summary.mean is None or summary.mean == summary.mean
