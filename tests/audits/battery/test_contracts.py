"""What holds for every test of the battery: batches, padding, order and parts make no difference; nothing is NaN."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from polars.testing import assert_frame_equal

from heedful import experiments
from heedful.adapters import hardware
from heedful.adapters.texts import Texts
from heedful.audits.battery import BATTERY
from heedful.audits.battery.highlights import donors_of
from heedful.audits.battery.readings import outputs_of
from heedful.evidence import decide
from heedful.ragged import Ragged
from tests.audits.battery.subjects import Small, make_texts, named, took

OPTIONS: dict[str, dict[str, Any]] = {
    "permutation": {"permutations": 5},
    "adversary": {"restarts": 2, "steps": 6, "epsilon": 0.1},
    "removal": {"orders": 2},
}
LENGTHS = [4, 1, 7, 3, 2, 7, 5]
SEEDED = [name for name, test in BATTERY.items() if "seed" in test.takes]
every_test = pytest.mark.parametrize("name", BATTERY)


def perform(
    name: str, subject: Small, texts: Texts, ids: Sequence[str] | None = None, seed: int = 0, **more: Any
) -> pl.DataFrame:
    given = {"made_up": texts.names.like(np.array([float(word[1:]) % 7 for word in texts.names.values]))}
    options = {**OPTIONS.get(name, {}), **more}
    seen = subject.read(texts)
    return BATTERY[name].perform(subject, ids or named(texts), texts, seen, seed=seed, given=given, **options)


def texts_of(lengths: list[int] = LENGTHS) -> Texts:
    return make_texts(lengths, framed=True, pieces=True)


@every_test
@pytest.mark.parametrize("change", [{"rows": 1}, {"rows": 3}, {"padding": 4}], ids=str)
def test_batches_and_padding_make_no_difference(name: str, change: dict[str, int]) -> None:
    subject, texts = Small(outputs=3, heads=2), texts_of()
    assert_frame_equal(perform(name, replace(subject, **change), texts), perform(name, subject, texts), abs_tol=1e-6)


@every_test
def test_single_precision_makes_little_difference(name: str) -> None:
    subject, texts = Small(outputs=3, heads=2, dtype=torch.float32), texts_of()
    alone = perform(name, replace(subject, rows=1, padding=3), texts)
    assert_frame_equal(alone, perform(name, subject, texts), abs_tol=1e-3 if name == "adversary" else 1e-5)


@every_test
def test_parts_and_order_make_no_difference(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject, texts = Small(outputs=1, heads=2), texts_of()
    ids, whole = named(texts), perform(name, subject, texts)
    parts = [[5, 2], [0], [6, 1, 3, 4]]
    monkeypatch.setattr(hardware, "MOST", 3)  # rows a batch, of a byte each
    options = {"donors": donors_of(subject, ids, texts, subject.read(texts))} if name == "highlights" else {}
    frames = [perform(name, subject, texts.take(rows), [ids[row] for row in rows], **options) for rows in parts]
    both = pl.concat(frames).with_row_index("place")
    order = pl.DataFrame({"id": ids, "order": np.arange(len(ids))})
    put_back = both.join(order, on="id").sort("order", "place").drop("order", "place")
    assert_frame_equal(put_back, whole, abs_tol=1e-6)


@pytest.mark.parametrize("name", SEEDED)
def test_the_seed_is_all_that_is_random(name: str) -> None:
    subject, texts = Small(outputs=3), texts_of()
    first, again, other = (perform(name, subject, texts, seed=seed) for seed in (0, 0, 1))
    assert_frame_equal(first, again)
    assert not first.equals(other)


def constant(subject: Small) -> Small:
    """The same with uniform attention and items that all say the same."""
    subject.query, subject.table = 0 * subject.query, 0 * subject.table
    return subject


@every_test
@pytest.mark.parametrize(
    "make", [lambda: Small(outputs=1), lambda: constant(Small(outputs=2)), lambda: Small(outputs=3)]
)
def test_awkward_texts_are_defined(name: str, make: Callable[[], Small]) -> None:
    subject, texts = make(), make_texts([3, 0, 1, 0, 2], framed=True)
    frame = perform(name, subject, texts)
    assert frame["id"].unique(maintain_order=True).to_list() == named(texts)
    for column, kind in frame.schema.items():
        flat = frame[column].explode() if isinstance(kind, pl.List) else frame[column]
        if flat.dtype.is_float():
            assert not flat.is_nan().any(), column
            assert flat.drop_nulls().is_finite().all(), column
    if name != "importance":
        nothing = frame[[1, 3]].drop("id", "decision", *({"items"} & set(frame.columns)))
        assert all(column.is_null().all() for column in nothing)
        assert frame["decision"].null_count() == 0
        experiments.summary(frame)
    else:
        assert frame.filter(pl.col("id").is_in(["i1", "i3"]))["values"].list.len().unique().to_list() == [0]


@every_test
@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_no_text_to_test(name: str, lengths: list[int]) -> None:
    subject = Small(outputs=2)
    some, none = perform(name, subject, texts_of()), perform(name, subject, texts_of(lengths))
    assert none.schema == some.schema
    assert none["id"].unique(maintain_order=True).to_list() == named(texts_of(lengths))


@every_test
def test_readings_are_counted(name: str) -> None:
    subject, texts = Small(outputs=2, heads=2), make_texts([6] * 5, framed=True)
    ids, seen, made = named(texts), subject.read(texts), []
    options = OPTIONS.get(name, {})
    counted = BATTERY[name].perform(
        subject, ids, texts, seen, progress=lambda count, replay: made.append(count), **options
    )
    assert_frame_equal(counted, BATTERY[name].perform(subject, ids, texts, seen, **options))
    assert sum(made) >= len(texts)


@every_test
def test_what_was_seen_is_left_as_it_was(name: str) -> None:
    subject, texts = Small(outputs=3, heads=2), texts_of()
    seen = subject.read(texts)
    kept = took(seen, list(range(len(texts))))
    BATTERY[name].perform(subject, named(texts), texts, seen, **OPTIONS.get(name, {}))
    assert np.array_equal(seen.logits, kept.logits)
    assert np.array_equal(seen.weights.values, kept.weights.values)
    assert torch.is_grad_enabled()


def test_ties_go_to_the_lowest_class() -> None:
    """Of a model that says nothing, whatever rounding makes of it."""
    assert decide(outputs_of(np.array([[1.0, 1.0 + 1e-7], [1.0, 1.0 + 1e-4]]))).tolist() == [0, 1]
    assert decide(outputs_of(np.array([[1e-8], [1e-4], [-1e-4]]))).tolist() == [0, 1, 0]


def test_given_rankings_are_ragged_like_the_items() -> None:
    texts = texts_of([2, 3])
    values = Ragged.from_rows([[1.0, 2.0], [3.0, 2.0, 1.0]])
    subject = Small(outputs=2)
    frame = BATTERY["curves"].perform(subject, named(texts), texts, subject.read(texts), given={"mine": values})
    assert "mine_comprehensiveness_at" in frame.columns
