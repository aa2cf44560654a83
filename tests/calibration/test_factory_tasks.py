"""Generated texts obey their rules."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.calibration.factory.coding import coded
from benchmarks.calibration.factory.tasks import COURIER, NEGATOR, RULES, SEPARATOR, Rule, Task, label_of, written


@st.composite
def tasks(draw: st.DrawFn, rules: tuple[Rule, ...] = RULES) -> Task:
    rule = draw(st.sampled_from(rules))
    return Task(
        rule=rule,
        classes=2 if rule == "negation" else draw(st.integers(2, 4)),
        length=draw(st.integers(8, 30)),
        fillers=draw(st.integers(4, 50)),
        cues=draw(st.integers(1, 5)),
        noise=draw(st.sampled_from([0.0, 0.2])),
        seed=draw(st.integers(0, 2**32)),
    )


@given(tasks())
def test_labels_of_texts_and_twins_are_those_of_the_rule(task: Task) -> None:
    for text in written(task, "test", 12):
        assert label_of(task, text.words) == text.label
        assert label_of(task, text.twin) == text.twin_label != text.label


@given(tasks())
def test_twins_differ_in_nothing_but_deciding_words(task: Task) -> None:
    for text in written(task, "test", 12):
        changed = {place for place, pair in enumerate(zip(text.words, text.twin, strict=True)) if pair[0] != pair[1]}
        if any(text.truth):
            assert changed <= set(np.flatnonzero(text.truth))
        else:  # of the default class: its twin has a cue
            assert task.rule == "default"
            assert len(changed) == 1


@given(tasks())
def test_without_the_deciding_words_the_label_is_another_one_or_hangs_on_nothing(task: Task) -> None:
    for text in written(task, "test", 12):
        left = [word for word, decides in zip(text.words, text.truth, strict=True) if not decides]
        cues = [word for word in left if word.startswith("cue")]
        assert bool(cues) == any(text.counter)
        assert NEGATOR not in left
        if cues:
            assert label_of(task, left) != text.label


@given(tasks())
def test_every_text_has_one_courier_ends_its_sentences_and_has_no_cues_side_by_side(task: Task) -> None:
    for text in written(task, "train", 12):
        assert text.words.count(COURIER) == 1
        assert text.words[-1] == SEPARATOR
        cues = np.array([word.startswith("cue") for word in text.words])
        assert not (cues[1:] & cues[:-1]).any()
        assert set(text.words) | set(text.twin) <= set(task.words)


@given(tasks(), st.integers(1, 8))
def test_a_text_hangs_on_its_number_and_its_part_only(task: Task, count: int) -> None:
    assert written(task, "test", count) == written(task, "test", 8)[:count]
    assert written(task, "test", 8) != written(task, "train", 8)


def test_noise_is_in_the_labels_to_train_with_only() -> None:
    texts = written(Task(noise=0.2, classes=3), "train", 400)
    wrong = np.mean([text.given != text.label for text in texts])
    assert 0.1 < wrong < 0.3
    assert all(text.given == text.label for text in written(Task(classes=3), "train", 50))


@given(tasks())
def test_texts_as_tensors(task: Task) -> None:
    texts = written(task, "test", 6)
    made = coded(task, texts)
    for row, text in enumerate(texts):
        inside = made.real[row]
        assert tuple(task.words[token] for token in made.tokens[row][inside]) == text.words
        assert tuple(made.truth[row][inside].tolist()) == text.truth
        assert tuple(made.counter[row][inside].tolist()) == text.counter
        flags = (made.truth, made.counter, made.courier, made.separator, made.decoy, made.after)
        assert not any(flag[row][~inside].any() for flag in flags)
        assert int(made.after[row].sum()) == int(made.evidence[row].sum())  # no evidence is last
