"""The built-in corpus keeps its promises: the marked tokens, and nothing else, decide."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from heedful.corpora.loading import load
from heedful.corpora.readers.planted import _VERDICTS
from heedful.corpora.registry import READERS
from heedful.errors import BadConfig
from heedful.text.sentences import flatten

SIZES = {"train": 400, "dev": 20, "test": 200}


def frame(**options: Any) -> Any:
    return load("planted", options={**SIZES, **options}).split("train")


def verdict(tokens: list[str], truth: list[bool], classes: list[int]) -> set[int]:
    """What the marked tokens say, read by the rule and nothing else."""
    said = set()
    for place, (token, decides) in enumerate(zip(tokens, truth, strict=True)):
        if decides and token != "not":
            (grade,) = (grade for grade in range(3) if token in _VERDICTS[grade])
            index = classes.index(grade)
            negated = place > 0 and truth[place - 1] and tokens[place - 1] == "not"
            said.add(len(classes) - 1 - index if negated else index)
    return said


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("verdicts", [1, 3])
def test_the_marked_tokens_decide_every_label(classes: int, verdicts: int) -> None:
    rows = frame(classes=classes, verdicts=verdicts)
    grades = [0, 2] if classes == 2 else [0, 1, 2]
    for row in rows.iter_rows(named=True):
        assert verdict(row["tokens"], row["truth"], grades) == {row["label"]}
        assert sum(row["truth"]) >= verdicts


def test_only_what_has_an_opposite_is_negated() -> None:
    for row in frame(classes=3, negation=1.0).iter_rows(named=True):
        marked = [token for token, decides in zip(row["tokens"], row["truth"], strict=True) if decides]
        assert ("not" in marked) == (row["label"] != 1)


def test_unmarked_tokens_hold_no_verdict() -> None:
    words = {word for lexicon in _VERDICTS for word in lexicon}
    for row in frame(verdicts=2, classes=3).iter_rows(named=True):
        assert all(decides or token not in words for token, decides in zip(row["tokens"], row["truth"], strict=True))


def test_negation_stands_in_verdicts_as_often_as_set_and_in_filler_too() -> None:
    rows = frame(train=2000, negation=0.4)
    marked = Counter()
    for row in rows.iter_rows(named=True):
        for token, decides in zip(row["tokens"], row["truth"], strict=True):
            if token == "not":
                marked[decides] += 1
    assert marked[True] / len(rows) == pytest.approx(0.4, abs=0.05)
    assert marked[False] > 100
    assert not any("not" in np.array(row["tokens"])[row["truth"]] for row in frame(negation=0.0).iter_rows(named=True))


def test_distractors_lean_towards_the_label_by_as_much_as_set() -> None:
    good = {"sunset", "garden", "friends", "dinner"}
    bad = {"popcorn", "rain", "queue", "parking"}
    for distraction in (0.0, 0.3):
        agree = []
        for row in frame(train=3000, distraction=distraction, length=40).iter_rows(named=True):
            agree += [(token in good) == bool(row["label"]) for token in row["tokens"] if token in good | bad]
        assert np.mean(agree) == pytest.approx(0.5 + distraction, abs=0.03)


def test_noise_changes_labels_as_often_as_set_and_nothing_else() -> None:
    clean, noisy = frame(train=2000), frame(train=2000, noise=0.4)
    assert clean["tokens"].equals(noisy["tokens"])
    changed = (clean["label"] != noisy["label"]).mean()
    assert changed == pytest.approx(0.2, abs=0.04)  # half of the labels drawn anew are what they were


def test_balance_length_and_sentences() -> None:
    assert frame(balance=0.25)["label"].mean() == pytest.approx(0.25, abs=0.01)
    assert frame(classes=3)["label"].value_counts()["count"].min() >= 130
    assert frame(length=60)["tokens"].list.len().mean() == pytest.approx(60, rel=0.1)
    one, many = frame(single_sentence=True), frame()
    assert all(tokens.to_list().count(".") == 1 for tokens in one["tokens"])
    assert many["tokens"].list.count_matches(".").mean() > 2


def test_a_larger_corpus_begins_with_the_smaller_one() -> None:
    small, large = frame(train=100), frame(train=400)
    assert large.head(100).equals(small)


def test_another_seed_is_another_corpus() -> None:
    assert not frame(seed=1)["tokens"].equals(frame(seed=2)["tokens"])


@pytest.mark.parametrize(
    ("options", "problem"), [({"noise": 0.9}, "noise"), ({"classes": 4}, "classes"), ({"lenght": 3}, "did you mean")]
)
def test_bad_dials_are_named(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadConfig, match=problem):
        load("planted", options=options)


@pytest.mark.parametrize("single", [False, True])
def test_every_clause_with_its_full_stop_is_a_sentence(single: bool) -> None:
    reader = READERS["planted"]
    options = reader.options(single_sentence=single)
    for row in frame(single_sentence=single, verdicts=2).head(50).iter_rows(named=True):
        assert len(row["sentences"]) == row["tokens"].count(".")
        ends = np.cumsum(row["sentences"])
        assert ends[-1] == len(row["tokens"])
        assert all(row["tokens"][end - 1] == "." for end in ends)
        assert not single or len(ends) == 1
        cut = reader.sentences(" ".join(row["tokens"]), options)
        assert flatten(cut) == (row["tokens"], row["sentences"])


def test_a_text_given_later_need_not_end_in_a_full_stop() -> None:
    reader = READERS["planted"]
    assert reader.sentences("The plot was dull. Rain", None) == [["the", "plot", "was", "dull", "."], ["rain"]]
    assert reader.sentences(" ", None) == []
