"""Violation at the input against one reading at a time."""

import numpy as np
import pytest

from heedful.audits.battery import BATTERY
from heedful.audits.battery.subject_texts import WAYS
from heedful.errors import BadConfig
from heedful.evidence import chance, decide, probabilities
from tests.audits.battery.subjects import BLANK, Small, make_texts, named


def two_classes(logits: np.ndarray) -> np.ndarray:
    output = probabilities(logits)
    return np.column_stack([1 - output, output]) if output.shape[1] == 1 else output


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_equals_a_reading_of_what_is_left(way: str, outputs: int) -> None:
    subject, texts = Small(outputs=outputs, heads=2), make_texts([5, 3, 9, 2], framed=True, pieces=True)
    seen = subject.read(texts)
    frame = BATTERY["violation"].perform(subject, named(texts), texts, seen, way=way)
    output = two_classes(seen.logits)
    for row, (whole, decided) in enumerate(zip(output, decide(output), strict=True)):
        gone = np.arange(texts.lengths[row]) == seen.weights[row].argmax()
        alone = texts.take([row])
        left = alone.keep(~gone) if way == "delete" else alone.replaced(gone, BLANK)
        told = two_classes(subject.read(left).logits)[0]
        fall = whole[decided] - told[decided]
        assert frame["erased_fall"][row] == pytest.approx(fall, abs=1e-6)
        odds = np.log(whole[decided] / (1 - whole[decided])) - np.log(told[decided] / (1 - told[decided]))
        assert frame["margin"][row] == pytest.approx(odds, abs=1e-6)
        assert frame["violates"][row] == (fall < 0)


def test_the_random_item_is_any() -> None:
    subject, texts = Small(), make_texts([4])
    seen = subject.read(texts)
    decided = decide(probabilities(seen.logits))
    every = [
        (chance(probabilities(seen.logits), decided) - chance(probabilities(left.logits), decided))[0]
        for left in (subject.read(texts.keep(np.arange(4) != item)) for item in range(4))
    ]
    drawn = [
        BATTERY["violation"].perform(subject, ["x"], texts, seen, seed=seed)["random_fall"][0] for seed in range(40)
    ]
    assert sorted({round(fall, 6) for fall in drawn}) == sorted(round(fall, 6) for fall in every)


def test_a_model_without_a_blank_says_so() -> None:
    subject, texts = Small(blank=None), make_texts([4])
    with pytest.raises(BadConfig, match="no token that stands for nothing"):
        BATTERY["violation"].perform(subject, ["x"], texts, subject.read(texts), way="blank")
    with pytest.raises(BadConfig, match="did you mean 'delete'"):
        BATTERY["violation"].perform(subject, ["x"], texts, subject.read(texts), way="delet")
