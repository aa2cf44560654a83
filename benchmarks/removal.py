"""Removing items: running sums over the items' scores, against decoding zeroed, renormalised weights at every step."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from benchmarks.report import Result
from heedful.evidence import Evidence, probabilities
from heedful.experiments import removal
from heedful.experiments.affine_view import AffineView
from heedful.experiments.rankings import Ranker, batches
from heedful.experiments.removal import Steps
from heedful.experiments.single_weight import single_removals
from heedful.ragged import Indices, Ragged
from heedful.randomness import keys

Value = TypeVar("Value")

STATES = 100  # as in Serrano & Smith's encoders


class Documents(NamedTuple):
    """Random states of documents and their attention; the decoder leans to its first class by `lean`."""

    states: Ragged  # (N, H) float32
    weights: Ragged  # (N,) float32
    matrix: np.ndarray  # (K, H) float32
    bias: np.ndarray  # (K,)

    @classmethod
    def drawn(cls, lengths: Indices, classes: int, lean: float) -> "Documents":
        draw = np.random.default_rng(0)
        states = Ragged.from_lengths(draw.standard_normal((int(lengths.sum()), STATES), dtype=np.float32), lengths)
        drawn = draw.exponential(size=len(states.values)) ** 2
        weights = states.like((drawn / states.like(drawn).sum()[states.row_of_value]).astype(np.float32))
        matrix = draw.standard_normal((classes, STATES), dtype=np.float32) / 10
        bias = np.zeros(classes, dtype=np.float32)
        bias[0] = lean
        return cls(states, weights, matrix, bias)

    def evidence(self) -> Evidence:
        """What a run keeps of them: scores, not states."""
        scores = self.states.like(self.states.values @ self.matrix.T)
        bias = np.tile(self.bias, (len(self.weights), 1))
        tokens = self.weights.like(np.full(len(self.weights.values), "word", dtype=object))
        attended = self.weights.like(self.weights.values[:, None] * scores.values).sum()
        ids = [str(row) for row in range(len(self.weights))]
        output = probabilities(attended + bias).astype(np.float32)
        return Evidence(ids, tokens, self.weights, output, scores, bias)


def removal_results() -> Iterator[Result]:
    """Documents that never change (the plain way takes all T steps), such as reviews are, and long ones."""
    draw = np.random.default_rng(3)
    reviews = np.clip(draw.lognormal(4.7, 0.75, size=400).astype(np.int64), 5, 1000)  # as long as Yelp's: mean 140
    fixed = Documents.drawn(np.full(60, 400), 10, lean=9.0)
    long = Documents.drawn(np.full(6, 2000), 5, lean=9.0)
    yelp = Documents.drawn(reviews, 5, lean=1.0)
    yield first_flip_result("removal by attention, 60 documents of 400 items that never change", fixed, least=20)
    yield first_flip_result("removal by attention, 400 documents as long as Yelp's", yelp, least=5)
    yield first_flip_result("removal by attention, 6 documents of 2000 items that never change", long, least=20)
    yield single_result("all single removals, 60 documents of 400 items", fixed, least=20)
    yield single_result("all single removals, 400 documents as long as Yelp's", yelp, least=5)
    yield single_result("all single removals, 6 documents of 2000 items", long, least=20)


def first_flip_result(name: str, documents: Documents, *, least: float) -> Result:
    """Items removed by attention until the decision changes; reading evidence is not counted, ranking is."""
    evidence = documents.evidence()
    view, instances = AffineView.of(evidence), keys(evidence.ids)

    def ours() -> Indices:
        found = np.empty(len(evidence), dtype=np.int64)
        ranker = Ranker(view, "attention", instances, 0)
        for rows in batches(view):
            found[rows] = Steps(view, rows).first_flips(ranker.orders(rows))
        return found

    plain, plain_seconds = _timed(lambda: np.array([_first_flip(documents, row) for row in range(len(evidence))]))
    fast, seconds = _timed(ours)
    whole, whole_seconds = _timed(lambda: removal(evidence))
    agreed = float((fast == plain).mean())
    if agreed < 0.99:  # single precision may tie where double precision does not
        raise AssertionError(f"{name}: only {agreed:.1%} of the counts agree")
    if whole["attention_count"].fill_null(0).to_list() != fast.tolist():
        raise AssertionError(f"{name}: the experiment counts otherwise")
    details = {
        "documents": len(plain),
        "that change": float((fast > 0).mean()),
        "counts that agree": agreed,
        "seconds of the whole experiment, ten orders and the optimum": whole_seconds,
    }
    return Result(name, plain_seconds, seconds, least, details)


def single_result(name: str, documents: Documents, *, least: float) -> Result:
    """The logits without each item."""
    evidence = documents.evidence()
    view = AffineView.of(evidence)

    def ours() -> np.ndarray:
        found = np.empty((len(evidence.weights.values), view.classes))
        for rows in batches(view):
            logits = single_removals(view, rows).logits
            found[view.weights.cells(rows)] = logits[np.arange(logits.shape[1]) < view.weights.lengths[rows, None]]
        return found

    plain, plain_seconds = _timed(
        lambda: np.concatenate([_without_each(documents, row) for row in range(len(evidence))])
    )
    fast, seconds = _timed(ours)
    apart = float(np.abs(plain - fast).max())
    if apart > 1e-4:
        raise AssertionError(f"{name}: the logits part by {apart}")
    details = {"documents": len(evidence), "largest difference of a logit": apart}
    return Result(name, plain_seconds, seconds, least, details)


def _timed(work: Callable[[], Value]) -> tuple[Value, float]:
    """What it gives, and the seconds of the best of three turns."""
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        value = work()
        seconds.append(time.perf_counter() - started)
    return value, min(seconds)


def _first_flip(documents: Documents, row: int) -> int:
    """The paper's way: one more weight is zero, the others are renormalised, the document is decoded."""
    states, weights = documents.states[row], documents.weights[row].copy()
    decided = (documents.matrix @ (weights @ states) + documents.bias).argmax()
    for count, item in enumerate(np.argsort(-weights, kind="stable"), start=1):
        weights[item] = 0
        total = weights.sum()
        attended = (weights / total) @ states if total > 0 else np.zeros(STATES, dtype=np.float32)
        if (documents.matrix @ attended + documents.bias).argmax() != decided:
            return count
    return 0


def _without_each(documents: Documents, row: int) -> np.ndarray:
    """Logits (T, K) without each item, decoded one after the other."""
    states, own = documents.states[row], documents.weights[row]
    logits = np.empty((len(own), len(documents.bias)))
    for item in range(len(own)):
        weights = own.copy()
        weights[item] = 0
        logits[item] = documents.matrix @ ((weights / weights.sum()) @ states) + documents.bias
    return logits
