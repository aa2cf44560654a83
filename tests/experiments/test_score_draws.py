import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from heedful.experiments.substitution import score_draws
from heedful.randomness import Stream


def test_every_draw_has_the_scores_of_the_instances_drawn() -> None:
    draw = np.random.default_rng(0)
    labels = draw.integers(-1, 3, size=40)  # some have no label
    decisions = np.stack([draw.integers(0, 4, size=40), np.where(draw.random(40) < 0.8, labels.clip(0), 1)], axis=1)
    accuracy, macro = score_draws(labels, decisions, seed=5, draws=20)
    assert accuracy.shape == macro.shape == (20, 2)
    alike, counts = np.unique(np.column_stack([labels, decisions]), axis=0, return_counts=True)
    times = Stream(5, "bootstrap of scores").generator().multinomial(40, counts / 40, size=20)
    for row, picked in enumerate(times):
        drawn = np.repeat(alike, picked, axis=0)
        for decider in (0, 1):
            said, truth = drawn[:, 1 + decider], drawn[:, 0]
            occurring = sorted({*truth.tolist(), *said.tolist()} - {-1})
            expected = f1_score(truth, said, labels=occurring, average="macro", zero_division=0.0)
            assert accuracy[row, decider] == pytest.approx(accuracy_score(truth, said))
            assert macro[row, decider] == pytest.approx(expected)


def test_draws_spread_as_those_of_shares_do() -> None:
    labels = np.zeros(400, dtype=np.int64)
    decisions = (np.arange(400) % 4 == 0).astype(np.int64)[:, None]
    accuracy, _ = score_draws(labels, decisions, seed=0, draws=4000)
    assert accuracy.mean() == pytest.approx(0.75, abs=0.003)
    assert accuracy.std() == pytest.approx(np.sqrt(0.75 * 0.25 / 400), rel=0.05)
