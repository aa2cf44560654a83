"""What holds for every experiment: batches and order make no difference, and awkward instances are defined."""

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful import experiments
from heedful.evidence import Evidence, metadata
from heedful.experiments import experiment as bounded
from heedful.measures import summarise
from tests.making import Decoder, awkward_evidence, make_evidence, make_importance
from tests.strategies import examples

Experiment = Callable[[Evidence], pl.DataFrame]


def with_importance(evidence: Evidence) -> pl.DataFrame:
    return experiments.correlation(evidence, make_importance(evidence))


by_search = partial(experiments.adversary, method="search", steps=5)
few_steps = partial(experiments.adversary, steps=5)

EVERY_EXPERIMENT = [
    *(
        experiment.function
        for name, experiment in experiments.EXPERIMENTS.items()
        if name not in ("correlation", "adversary_search") and experiment.function is not None
    ),
    with_importance,
    by_search,
]
# where the decoder is not affine `reach` has no answer, and `adversary` is told how long to search
DECODED = [few_steps, *(each for each in EVERY_EXPERIMENT if each not in (experiments.reach, experiments.adversary))]
EVERY_CASE = [
    *((experiment, outputs, "affine") for experiment in EVERY_EXPERIMENT for outputs in (1, 3)),
    *((experiment, outputs, "tanh") for experiment in DECODED for outputs in (2, 5)),
]


@pytest.mark.parametrize(("experiment", "outputs", "decoder"), EVERY_CASE)
@given(seed=st.integers(0, 1000), size=st.integers(1, 6))
@examples(12)
def test_batches_make_no_difference(
    experiment: Experiment, outputs: int, decoder: Decoder, seed: int, size: int
) -> None:
    evidence = make_evidence(seed, n=7, outputs=outputs, decoder=decoder)
    parts = pl.concat([experiment(batch) for batch in evidence.batches(size)])
    assert_frame_equal(parts, experiment(evidence), abs_tol=1e-9)


@pytest.mark.parametrize(("experiment", "outputs", "decoder"), EVERY_CASE)
def test_order_makes_no_difference(experiment: Experiment, outputs: int, decoder: Decoder) -> None:
    evidence = make_evidence(n=7, outputs=outputs, decoder=decoder)
    turned = list(range(len(evidence)))[::-1]  # `reverse` forgets what empty lists are lists of
    backwards = Evidence.from_frame(evidence.to_frame()[turned], metadata(evidence.classes, {}, evidence.decoder))
    assert_frame_equal(experiment(backwards)[turned], experiment(evidence), abs_tol=1e-6)


@pytest.mark.parametrize("experiment", DECODED)
def test_slices_by_features_make_no_difference(monkeypatch: pytest.MonkeyPatch, experiment: Experiment) -> None:
    evidence = make_evidence(3, n=20, outputs=3, decoder="tanh")
    whole = experiment(evidence)
    monkeypatch.setattr(bounded, "NUMBERS", 40)
    assert_frame_equal(experiment(evidence), whole, abs_tol=1e-9)


@pytest.mark.parametrize(
    "experiment",
    [
        experiments.permutation,
        experiments.substitution,
        experiments.single_weight,
        experiments.removal,
        by_search,
        few_steps,
    ],
)
def test_the_seed_is_all_that_is_random(experiment: Experiment) -> None:
    evidence = make_evidence(1, n=6, outputs=3, decoder="tanh")
    assert_frame_equal(experiment(evidence), experiment(evidence), check_exact=True)
    assert not experiment(evidence, seed=1).equals(experiment(evidence))


@pytest.mark.parametrize(("experiment", "outputs", "decoder"), EVERY_CASE)
def test_awkward_instances_are_defined(experiment: Experiment, outputs: int, decoder: Decoder) -> None:
    evidence = awkward_evidence(outputs, decoder)
    frame = experiment(evidence)
    assert frame["id"].to_list() == list(evidence.ids)
    for name, dtype in frame.schema.items():
        if dtype == pl.List(pl.Float64):
            assert not frame[name].explode().is_nan().any()
        if dtype.is_float():
            assert not frame[name].is_nan().any()  # undefined is null
            summary = summarise(frame[name].fill_null(float("nan")))
            assert summary.n + summary.undefined == len(frame)
            assert summary.mean is None or np.isfinite(summary.mean)
    assert not experiments.summary(frame)["mean"].is_nan().any()


def test_a_summary_of_many_classes_is_of_all_instances() -> None:
    frame = experiments.violation(make_evidence(n=30, outputs=5, decoder="tanh"))
    assert experiments.summary(frame)["decision"].n_unique() > 2
    overall = experiments.summary(frame, by_decision=False)
    assert overall["decision"].to_list() == [None, None]
    assert_frame_equal(overall, experiments.summary(frame).filter(pl.col("decision").is_null()))
