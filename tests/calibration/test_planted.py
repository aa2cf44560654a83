"""Planted subjects are what they are said to be."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks.calibration.planted import UNFAITHFUL, Kind, Plan, Planted
from heedful.adapters.changes import assigned
from heedful.evidence import probabilities
from heedful.ragged import Ragged

PLAN = Plan(encoder="window", length=10, classes=3, instances=12, contrary=0.5)


def mass_on(subject: Planted, sort: str) -> float:
    seen = subject.read(subject.texts)
    named = np.char.startswith(subject.texts.names.values.astype(str), sort)
    return float(seen.weights.like(seen.weights.values * named).sum().mean())


@pytest.mark.parametrize(
    ("kind", "sort"), [("faithful", "for"), ("distracted", "draw"), ("opposing", "not"), ("unused", "for")]
)
def test_attention_looks_where_it_should(kind: Kind, sort: str) -> None:
    assert mass_on(Planted(replace(PLAN, kind=kind, contrary=0.0)), sort) > 0.5


def test_states_that_are_about_the_word_before_show_the_word_after() -> None:
    texts = Planted(replace(PLAN, kind="shifted")).texts
    weights = [Planted(replace(PLAN, kind=kind)).read(texts).weights for kind in ("faithful", "shifted")]
    for own, shown in zip(*weights, strict=True):
        assert shown == pytest.approx(np.roll(own, 1), abs=1e-6)


@pytest.mark.parametrize("encoder", ["none", "window", "recurrent", "average", "selective"])
@pytest.mark.parametrize("kind", ["faithful", *UNFAITHFUL])
def test_its_evidence_decodes_as_it_reads(kind: Kind, encoder: str) -> None:
    subject = Planted(replace(PLAN, kind=kind, encoder=encoder, through=0.6))
    evidence = subject.evidence()
    uniform = evidence.weights.like(1 / evidence.weights.lengths[evidence.weights.row_of_value])
    for weights in (evidence.weights, uniform):

        def given(batch, weights: Ragged = weights):
            return assigned(torch.from_numpy(weights.take(batch.rows).pad()[0]))

        read = probabilities(subject.read(subject.texts, given).logits)
        assert evidence.decode(weights) == pytest.approx(read, abs=1e-5)


def test_unused_attention_changes_nothing() -> None:
    subject = Planted(replace(PLAN, kind="unused", through=0.0))
    own = subject.read(subject.texts).logits
    first = subject.read(subject.texts, lambda batch: assigned(torch.eye(batch.items)[0].expand(len(batch.rows), -1)))
    assert first.logits == pytest.approx(own, abs=1e-6)


def test_the_decision_is_mostly_the_planted_class_and_as_sure_as_planned() -> None:
    subject = Planted(Plan(instances=60, sure=2.0))
    logits = subject.read(subject.texts).logits
    top = np.sort(logits, axis=1)
    assert np.median(top[:, -1] - top[:, -2]) == pytest.approx(2.0, abs=1e-4)
    labels = [next(name for name in row if name.startswith("for"))[3] for row in subject.texts.names]
    assert np.mean(logits.argmax(axis=1) == np.array(labels, dtype=int)) > 0.9


def test_padding_does_not_matter() -> None:
    subject = Planted(replace(PLAN, encoder="recurrent"))
    together = subject.read(subject.texts).logits
    alone = [subject.read(subject.texts.take([row])).logits[0] for row in range(3)]
    assert np.array(alone) == pytest.approx(together[:3], abs=1e-5)


def test_nothing_to_read_says_nothing() -> None:
    subject = Planted(PLAN)
    assert subject.read(subject.encode([""])).logits.tolist() == [[0.0] * 3]
