"""The race at the input against a plain one: text by text, item by item, one reading each."""

from itertools import product
from math import ceil

import numpy as np
import pytest

from heedful.adapters.texts import Texts
from heedful.audits.battery import BATTERY
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.errors import BadConfig
from heedful.evidence import decide, probabilities
from heedful.experiments.erasure import erasure_scores
from heedful.importance.table import attributions
from tests.audits.battery.subjects import BLANK, Small, make_texts, named

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)


def read(subject: Small, alone: Texts, kept: list[int], way: str) -> np.ndarray:
    flags = np.isin(np.arange(alone.lengths[0]), kept)
    left = alone.keep(flags) if way == "delete" else alone.replaced(~flags, BLANK)
    output = probabilities(subject.read(left).logits)[0]
    return np.array([1 - output[0], output[0]]) if len(output) == 1 else output


def plain_race(subject: Small, alone: Texts, values: np.ndarray, way: str) -> dict[str, float | None]:
    every = list(range(alone.lengths[0]))
    output = read(subject, alone, every, way)
    decided = int(decide(output[None])[0])
    order = np.argsort(-values, kind="stable").tolist()
    flips = [
        erased for erased in range(1, len(order) + 1) if read(subject, alone, order[erased:], way).argmax() != decided
    ]
    tops = [ceil(share * len(order)) for share in SHARES]
    without = [output[decided] - read(subject, alone, order[top:], way)[decided] for top in tops]
    only = [output[decided] - read(subject, alone, order[:top], way)[decided] for top in tops]
    return {
        "count": flips[0] if flips else None,
        "comprehensiveness": float(np.mean(without)),
        "sufficiency": float(np.mean(only)),
    }


@pytest.mark.parametrize("outputs", [1, 3])
def test_equals_a_plain_race(outputs: int) -> None:
    subject, texts = Small(outputs=outputs, heads=2), make_texts([5, 1, 9, 3], framed=True, pieces=True)
    ids, seen = named(texts), subject.read(texts)
    frame = BATTERY["erasure"].perform(subject, ids, texts, seen)
    ranked = {"attention": seen.weights, **attributions(SubjectTexts(subject, texts, seen))}
    flips = []
    for row, way, ranking in product(range(len(texts)), ("delete", "blank"), ranked):
        expected = plain_race(subject, texts.take([row]), ranked[ranking][row], way)
        flips.append(expected["count"] is not None)
        for figure, value in expected.items():
            assert frame[f"{way}_{ranking}_{figure}"][row] == (
                None if value is None else pytest.approx(value, abs=1e-5)
            )
    assert 0 < np.mean(flips) < 1  # so that both are seen
    assert erasure_scores(frame, draws=0)["way"].unique().sort().to_list() == ["blank", "delete"]


def test_importance_from_elsewhere_is_raced_on_equal_terms() -> None:
    subject, texts = Small(outputs=3), make_texts([5, 1, 9, 3])
    ids, seen = named(texts), subject.read(texts)
    names = texts.names
    positions = np.arange(len(names.values)) - names.offsets[names.row_of_value]
    given = {"lime": names.like(np.where(names.row_of_value == 1, np.nan, -positions.astype(float)))}
    for name, prefixes in {"erasure": ("delete_", "blank_"), "curves": ("",)}.items():
        frame = BATTERY[name].perform(subject, ids, texts, seen, given=given, rankings=["attention"])
        for prefix in prefixes:
            told = frame[f"{prefix}lime_comprehensiveness"]
            assert told.is_null().to_list() == [False, True, False, False]
            assert frame[f"{prefix}attention_comprehensiveness"].null_count() == 0
    expected = plain_race(subject, texts.take([2]), -np.arange(9.0), "delete")
    frame = BATTERY["erasure"].perform(subject, ids, texts, seen, given=given, rankings=["attention"])
    assert frame["delete_lime_count"][2] == expected["count"]


def test_unknown_names_are_refused() -> None:
    subject, texts = Small(), make_texts([3])
    seen = subject.read(texts)
    with pytest.raises(BadConfig, match="unknown ranking 'atention'"):
        BATTERY["erasure"].perform(subject, ["x"], texts, seen, rankings=["atention"])
    with pytest.raises(BadConfig, match="unknown way"):
        BATTERY["erasure"].perform(subject, ["x"], texts, seen, ways=["unknown"])
    with pytest.raises(BadConfig, match="give a list"):
        BATTERY["removal"].perform(subject, ["x"], texts, seen, rankings="attention")
    with pytest.raises(BadConfig, match="steps = 0"):
        BATTERY["removal"].perform(subject, ["x"], texts, seen, steps=0)
