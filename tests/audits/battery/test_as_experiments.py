"""Of an affine model, readings say what heedful's experiments say of its evidence."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from heedful import experiments
from heedful.audits.battery import BATTERY
from heedful.experiments.rankings import item_values
from heedful.experiments.single_weight import flip_table
from heedful.experiments.views import view_of
from tests.audits.battery.subjects import Small, make_texts, named

LENGTHS = [5, 1, 9, 3, 2, 14, 7, 6, 8, 4, 11, 12]


def compare(name: str, columns: list[str] | None = None, *, outputs: int, seed: int = 0, **options: object) -> None:
    """A test and the experiment of its name, in these columns or in all that are not null."""
    for number in range(3):
        subject, texts = Small(outputs=outputs, seed=number), make_texts(LENGTHS, seed=number)
        ids = named(texts)
        ours = BATTERY[name].perform(subject, ids, texts, subject.read(texts), seed=seed, **options)
        theirs = experiments.EXPERIMENTS[name](subject.evidence(ids, texts), seed=seed, **options)
        assert columns or ours.columns == theirs.columns
        known = columns or [column for column in ours.columns if not ours[column].is_null().all()]
        assert_frame_equal(ours.select(known), theirs.select(known), abs_tol=1e-5, check_dtypes=False)


@pytest.mark.parametrize("outputs", [1, 2, 4])
class TestEqual:
    def test_substitution(self, outputs: int) -> None:
        compare("substitution", outputs=outputs)
        compare("substitution", outputs=outputs, seed=7)

    def test_permutation(self, outputs: int) -> None:
        compare("permutation", outputs=outputs, permutations=20)
        compare("permutation", outputs=outputs, permutations=7, seed=3)

    def test_single_weight(self, outputs: int) -> None:
        names = ["items", *(f"attention_{name}" for name in ("js", "flips", "rival_js", "rival_flips", "delta_weight"))]
        compare("single_weight", names, outputs=outputs)
        compare("single_weight", names, outputs=outputs, seed=2)

    def test_removal(self, outputs: int) -> None:
        names = ["items", "confidence", "entropy", "default", "random_counts", "random_masses"]
        names += [
            f"{ranking}_{figure}"
            for ranking in ("attention", "random", "ascending")
            for figure in ("count", "fraction", "mass")
        ]
        rankings = ["attention", "random", "ascending"]
        compare("removal", names, outputs=outputs, rankings=rankings, orders=3)
        compare("removal", names, outputs=outputs, rankings=rankings, orders=1, seed=1)

    def test_curves(self, outputs: int) -> None:
        compare("curves", outputs=outputs, rankings=["attention", "random", "ascending"])
        compare("curves", outputs=outputs, rankings=["attention", "random", "ascending"], shares=[0.3, 1.0], seed=4)


def test_a_given_ranking_is_the_one_that_is_raced() -> None:
    subject, texts = Small(outputs=3), make_texts(LENGTHS)
    ids, seen = named(texts), subject.read(texts)
    evidence = subject.evidence(ids, texts)
    given = {"gradient": item_values(view_of(evidence), "gradient")}
    theirs = experiments.removal(evidence, rankings=["gradient"])
    ours = BATTERY["removal"].perform(subject, ids, texts, seen, given=given)
    assert ours["gradient_count"].to_list() == theirs["gradient_count"].to_list()
    theirs = experiments.curves(evidence, rankings=["gradient"])
    ours = BATTERY["curves"].perform(subject, ids, texts, seen, given=given)
    assert_frame_equal(ours.select(theirs.columns), theirs, abs_tol=1e-5)


def test_long_texts_lose_several_items_at_a_time() -> None:
    subject, texts = Small(outputs=3), make_texts([14, 4, 9])
    ids, seen = named(texts), subject.read(texts)
    exact, coarse = (BATTERY["removal"].perform(subject, ids, texts, seen, steps=steps) for steps in (50, 5))
    assert coarse["step"].to_list() == [3, 1, 2]
    for count, exactly, step in zip(coarse["attention_count"], exact["attention_count"], coarse["step"], strict=True):
        assert exactly is None or count is None or (count >= exactly and (count % step == 0 or count in (14, 9)))


def test_means_over_all_rivals_are_told_if_asked_for() -> None:
    subject, texts = Small(outputs=3), make_texts(LENGTHS)
    ids, seen = named(texts), subject.read(texts)
    theirs = experiments.single_weight(subject.evidence(ids, texts))
    ours = BATTERY["single_weight"].perform(subject, ids, texts, seen, exact=True)
    known = [name for name in theirs.columns if name.startswith("attention_")]
    assert_frame_equal(ours.select(known), theirs.select(known), abs_tol=1e-5)
    assert ours.columns == theirs.columns
    drawn = BATTERY["single_weight"].perform(subject, ids, texts, seen)
    assert drawn.select(pl.col("attention_expected_flips").is_null().all()).item()
    assert flip_table(drawn, draws=0).filter(pl.col("ranking") == "attention")["both"].to_list()[0] is not None
