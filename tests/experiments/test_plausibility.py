"""Plausibility: figures against scikit-learn and plain loops, and what must not matter."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from heedful.errors import BadInput
from heedful.experiments.plausibility import MEASURES, plausibility, plausibility_scores, ranking_names
from heedful.ragged import Ragged


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[Ragged, Ragged]:
    """Weights with ties, and marked items."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    total = sum(sizes)
    weights = draw(st.lists(st.integers(0, 4), min_size=total, max_size=total))
    flags = draw(st.lists(st.booleans(), min_size=total, max_size=total))
    return Ragged.from_lengths(np.array(weights) / 8, sizes), Ragged.from_lengths(np.array(flags), sizes)


def _ids(rows: Ragged) -> list[str]:
    return [f"text-{row}" for row in range(len(rows))]


def _spans(flags: list[bool]) -> list[set[int]]:
    spans: list[set[int]] = []
    for place, flag in enumerate(flags):
        if flag:
            if place and flags[place - 1]:
                spans[-1].add(place)
            else:
                spans.append({place})
    return spans


def _plain(weights: list[float], flags: list[bool]) -> tuple[float | None, float | None, float | None]:
    count = sum(flags)
    if count in (0, len(flags)):
        return None, None, None
    order = sorted(range(len(weights)), key=lambda place: -weights[place])
    top = [place in order[:count] for place in range(len(flags))]
    hits = sum(a and b for a, b in zip(top, flags, strict=True))
    precision, recall = hits / sum(top), hits / count
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    predicted, marked = _spans(top), _spans(flags)
    best = [max(len(one & other) / len(one | other) for other in marked) for one in predicted]
    matches = sum(each >= 0.5 for each in best)
    precision, recall = matches / len(predicted), matches / len(marked)
    iou = 2 * precision * recall / (precision + recall) if matches else 0.0
    return float(average_precision_score(flags, weights)), f1, iou


@given(marked_texts())
def test_figures_are_those_of_scikit_learn_and_of_plain_loops(texts: tuple[Ragged, Ragged]) -> None:
    weights, flags = texts
    frame = plausibility(_ids(weights), weights, flags)
    for row, found in enumerate(frame.iter_rows(named=True)):
        expected = _plain(weights[row].tolist(), flags[row].tolist())
        for measure, value in zip(MEASURES, expected, strict=True):
            assert found[f"attention_{measure}"] == (None if value is None else pytest.approx(value))


@given(marked_texts(), st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_scale_of_weights_does_not_matter(texts: tuple[Ragged, Ragged], scale: float) -> None:
    weights, flags = texts
    frame = plausibility(_ids(weights), weights, flags)
    assert frame.equals(plausibility(_ids(weights), weights.like(weights.values * scale), flags))


@given(marked_texts())
def test_weights_on_all_marked_items_alone_are_perfect(texts: tuple[Ragged, Ragged]) -> None:
    _, flags = texts
    frame = plausibility(_ids(flags), flags.like(flags.values.astype(np.float64)), flags)
    for measure in MEASURES:
        column = frame[f"attention_{measure}"]
        assert (column.drop_nulls() == 1).all()
        nothing = (frame["marked"] == 0) | (frame["marked"] == frame["items"])
        assert column.is_null().equals(nothing.alias(column.name))


@given(marked_texts(), st.integers(0, 5))
def test_a_text_has_the_same_figures_whatever_stands_beside_it(texts: tuple[Ragged, Ragged], seed: int) -> None:
    weights, flags = texts
    ids, rows = _ids(weights), np.arange(len(weights))[::-1]
    frame = plausibility(ids, weights, flags, seed=seed)
    turned = plausibility([ids[row] for row in rows], weights.take(rows), flags.take(rows), seed=seed)
    assert frame.equals(turned.reverse())


def test_other_rankings_stand_beside_attention_and_are_summed_up() -> None:
    weights = Ragged.from_rows([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [1.0]])
    flags = Ragged.from_rows([[0, 0, 1], [0, 1, 0], [1]], dtype=np.bool_)
    frame = plausibility(["a", "b", "c"], weights, flags, {"best": flags.like(flags.values.astype(float))})
    assert ranking_names(frame) == ["attention", "random", "best"]
    assert frame["attention_auprc"].to_list() == [1.0, 0.5, None]
    scores = plausibility_scores(frame, seed=1)
    attention, _, best = scores.to_dicts()
    assert (attention["n"], attention["auprc"], attention["lead"]) == (2, 0.75, None)
    assert attention["auprc_low"] <= 0.75 <= attention["auprc_high"]
    assert (best["auprc"], best["f1"], best["iou_f1"], best["lead"]) == (1, 1, 1, -0.25)


def test_scores_of_nothing_are_null() -> None:
    frame = plausibility(["a"], Ragged.from_rows([[0.4, 0.6]]), Ragged.from_rows([[False, False]]))
    for row in plausibility_scores(frame).to_dicts():
        assert row["n"] == 0
        assert row["auprc"] is row["auprc_low"] is row["lead"] is None
    nothing = plausibility([], Ragged.from_rows([]), Ragged.from_rows([], dtype=np.bool_))
    assert nothing.schema == frame.schema
    assert plausibility_scores(nothing)["auprc"].to_list() == [None, None]
    assert not frame.select(pl.col(pl.Float64).is_nan().any()).row(0).count(True)


def test_what_does_not_fit_is_refused() -> None:
    weights, flags = Ragged.from_rows([[0.4, 0.6]]), Ragged.from_rows([[True, False]])
    with pytest.raises(BadInput, match="one flag an item"):
        plausibility(["a"], weights, Ragged.from_rows([[True]]))
    with pytest.raises(BadInput, match="2 ids for 1"):
        plausibility(["a", "b"], weights, flags)
    with pytest.raises(BadInput, match="own rankings"):
        plausibility(["a"], weights, flags, {"random": weights})
    with pytest.raises(BadInput, match="one value an item"):
        plausibility(["a"], weights, flags, {"mine": Ragged.from_rows([[0.1]])})
