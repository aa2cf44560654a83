from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heedful.evidence import decide
from heedful.experiments import substitution, substitution_scores
from heedful.experiments.substitution import substitutes
from heedful.measures import tvd
from heedful.models.metrics import classification_metrics
from tests.making import awkward_evidence, instance, make_evidence
from tests.strategies import examples


@given(st.integers(0, 10**6), st.sampled_from([1, 3]))
@examples(30)
def test_each_substitute_is_decoded(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, n=5, outputs=outputs) if seed % 5 else awkward_evidence(outputs)
    frame = substitution(evidence, seed=seed)
    for kind, weights in substitutes(evidence.weights, evidence.ids, seed).items():
        output = evidence.decode(weights)
        assert np.allclose(frame[f"{kind}_tvd"], tvd(output, evidence.output), atol=1e-5)
        assert frame[f"{kind}_decision"].to_list() == decide(output).tolist()
        assert frame[f"{kind}_changed"].to_list() == (decide(output) != evidence.decisions).tolist()


def test_substitutes_are_distributions_and_a_permutation_keeps_the_weights() -> None:
    evidence = make_evidence(1, n=30, longest=9)
    drawn = substitutes(evidence.weights, evidence.ids, 0)
    for weights in drawn.values():
        assert np.allclose(weights.sum(), 1)
    moved = 0
    for own, permuted in zip(evidence.weights, drawn["permuted"], strict=True):
        assert np.array_equal(np.sort(own), np.sort(permuted))
        moved += not np.array_equal(own, permuted)
    assert moved > 15


def test_random_weights_are_uniform_on_the_simplex() -> None:
    evidence = make_evidence(0, n=4000, longest=3)
    drawn = substitutes(evidence.weights, evidence.ids, 0)["random"]
    first = [row[0] for row in drawn if len(row) == 3]
    assert stats.kstest(first, stats.beta(1, 2).cdf).pvalue > 0.001  # a coordinate of Dirichlet(1, 1, 1)


def test_scores_compare_decisions_with_labels() -> None:
    evidence = instance([0.9, 0.1], [1.0, -5.0])
    frame = substitution(replace(evidence, labels=np.array([1])))
    scores = substitution_scores(frame)
    assert scores["weights"].to_list() == ["own", "uniform", "random", "permuted"]
    assert scores["accuracy"].to_list()[:2] == [1.0, 0.0]
    assert scores["agreement"].to_list()[:2] == [1.0, 0.0]


def test_without_labels_there_are_no_scores_but_agreement() -> None:
    scores = substitution_scores(substitution(replace(make_evidence(), labels=None)))
    assert scores["accuracy"].null_count() == scores["macro_f1"].null_count() == 4
    assert scores["agreement"][0] == pytest.approx(1.0)


def test_macro_f1_is_that_of_the_runs_metrics() -> None:
    evidence = make_evidence(3, n=60, outputs=3)
    scores = substitution_scores(substitution(evidence))
    assert evidence.labels is not None
    expected = classification_metrics(evidence.labels, evidence.output, evidence.classes)
    assert scores["macro_f1"][0] == pytest.approx(expected["macro_f1"])
    assert scores["accuracy"][0] == pytest.approx(expected["accuracy"])
    seen = evidence.labels < 2  # a class that is decided for, but never right
    fewer = substitution_scores(substitution(evidence).filter(seen))
    expected = classification_metrics(evidence.labels[seen], evidence.output[seen], evidence.classes)
    assert fewer["macro_f1"][0] == pytest.approx(expected["macro_f1"])


def test_answers_that_are_no_class_are_missed_and_classes_that_never_occur_are_left_out() -> None:
    evidence = make_evidence(3, n=60, outputs=9)
    labels = np.where(np.arange(60) % 4 == 0, -1, evidence.decisions)
    scores = substitution_scores(substitution(replace(evidence, labels=labels)))
    expected = classification_metrics(labels, evidence.output, evidence.classes or tuple("abcdefghi"))
    assert scores["accuracy"][0] == pytest.approx(expected["accuracy"]) == pytest.approx(0.75)
    assert scores["macro_f1"][0] == pytest.approx(expected["macro_f1"])


def test_changes_have_paired_intervals() -> None:
    evidence = make_evidence(5, n=300, outputs=3, longest=9)
    frame = substitution(replace(evidence, labels=evidence.decisions))  # always right with its own weights
    scores = substitution_scores(frame, draws=500)
    own, *others = scores.iter_rows(named=True)
    assert (own["accuracy"], own["accuracy_low"], own["accuracy_change"], own["accuracy_change_low"]) == (
        1,
        1,
        None,
        None,
    )
    for row in others:
        # of a model that is always right, what is lost is what changes
        assert row["accuracy_change"] == pytest.approx(row["agreement"] - 1)
        assert row["accuracy_change_low"] == pytest.approx(row["agreement_low"] - 1, abs=0.03)
        assert row["macro_f1_change_low"] <= row["macro_f1_change"] <= row["macro_f1_change_high"] < 0
    plain = substitution_scores(frame, draws=0)
    assert plain.columns == scores.columns
    assert plain["accuracy_low"].null_count() == 4
    assert plain["accuracy_change"].null_count() == 1
