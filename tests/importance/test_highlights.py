"""Highlights against plain versions: text by text, set by set; the search against one of all sets."""

from itertools import combinations
from math import ceil

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from heedful.evidence import chance, decide, probabilities
from heedful.importance import highlights as module
from heedful.importance.classifier_texts import ObservedTexts
from heedful.importance.highlights import DONORS, MASSES, POOL, RANDOM, Donors, donor_rows, highlights
from heedful.models.batches import Inputs
from heedful.models.decoders import output_of
from heedful.models.inference import observe, predict
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys
from tests.models.making import make_documents, make_inputs, make_model
from tests.strategies import examples

LENGTHS = [7, 1, 4, 10, 2, 3, 23, 5, 8, 1, 6, 9]


class Made:
    """Texts whose items are vectors, and a random nonlinear function of their sum: no model."""

    def __init__(self, lengths: list[int], outputs: int = 1, seed: int = 0, sharpness: float = 1.0) -> None:
        draw = np.random.default_rng(seed)
        self.inside, self.outside = draw.standard_normal((4, 6)), draw.standard_normal((6, outputs))
        self.items = Ragged.from_lengths(sharpness * draw.standard_normal((sum(lengths), 4)), lengths)
        sizes = [draw.dirichlet(np.full(length, 0.5)) if length else [] for length in lengths]
        self.weights = Ragged.from_rows(sizes, dtype=np.float32)
        self.ids = [f"text {row}" for row in range(len(lengths))]

    @property
    def words(self) -> np.ndarray:
        return self.items.lengths

    @property
    def output(self) -> np.ndarray:
        return np.array([self.read(vectors) for vectors in self.items])

    @property
    def donors(self) -> Donors:
        return Donors(self.items, self.weights, self.output, keys(self.ids))

    def read(self, vectors: np.ndarray) -> np.ndarray:
        return probabilities((np.tanh(vectors.sum(axis=0) @ self.inside) @ self.outside)[None])[0]

    def left(self, row: int, gone: np.ndarray, way: str) -> np.ndarray:
        return self.read(self.items[row][~gone] if way == "delete" else np.where(gone[:, None], 0.1, self.items[row]))

    def robbed(self, row: int, gone: np.ndarray) -> np.ndarray:
        weights = np.where(gone, 0.0, self.weights[row].astype(np.float64))
        total = weights.sum()
        return self.read(len(weights) * (weights / total if total else weights)[:, None] * self.items[row])

    def erased(self, rows: np.ndarray, gone: np.ndarray, way: str) -> np.ndarray:
        flags = self.items.take(rows).like(gone)
        return np.array([self.left(row, flag, way) for row, flag in zip(rows, flags, strict=True)])

    def swapped(self, rows: np.ndarray, places: Ragged, donors: Donors, given: np.ndarray, taken: Ragged) -> np.ndarray:
        outputs = []
        for place, row in enumerate(rows):
            vectors = self.items[row].copy()
            vectors[places[place]] = donors.texts[given[place]][taken[place]]
            outputs.append(self.read(vectors))
        return np.array(outputs)

    def unattended(self, rows: np.ndarray, gone: np.ndarray) -> np.ndarray:
        flags = self.items.take(rows).like(gone)
        return np.array([self.robbed(row, flag) for row, flag in zip(rows, flags, strict=True)])

    def take(self, rows: list[int]) -> "Made":
        some = object.__new__(Made)
        some.inside, some.outside = self.inside, self.outside
        some.items, some.weights = self.items.take(rows), self.weights.take(rows)
        some.ids = [self.ids[row] for row in rows]
        return some

    def ranking(self) -> Ragged:
        return self.weights.like(np.random.default_rng(1).standard_normal(len(self.weights.values)))


def measured(made: Made, donors: Donors | None = None, seed: int = 0, ranking: Ragged | None = None) -> pl.DataFrame:
    rankings = {} if ranking is None else {"other": ranking}
    return highlights(
        made,
        made.ids,
        made.weights,
        made.donors if donors is None else donors,
        rankings=rankings,
        ways=("delete", "blank"),
        seed=seed,
    )


def sizes_of(weights: np.ndarray) -> list[int]:
    """How many items hold half, and four fifths, of the attention; at most half of them."""
    sizes = []
    for mass in MASSES:
        count, held = 0, 0.0
        for weight in sorted(weights.astype(np.float64).tolist(), reverse=True):
            if held >= mass * weights.astype(np.float64).sum() * (1 - 1e-9):
                break
            held, count = held + weight, count + 1
        sizes.append(min(max(count, 1), ceil(len(weights) / 2)))
    return sizes


def flags(length: int, places: list[int]) -> np.ndarray:
    chosen = np.zeros(length, dtype=bool)
    chosen[places] = True
    return chosen


def first(values: np.ndarray, size: int) -> list[int]:
    return sorted(range(len(values)), key=lambda place: (-float(values[place]), place))[:size]


def plain(made: Made, row: int, other: np.ndarray, seed: int) -> dict[str, float | None]:
    """All columns of one text but those of the search."""
    weights, key, stream = made.weights[row], keys([made.ids[row]])[0], Stream(seed, "highlights")
    length, decided = len(weights), decide(made.output[row : row + 1])

    def fall(output: np.ndarray) -> float:
        return float(chance(made.output[row : row + 1], decided)[0] - chance(output[None], decided)[0])

    drawn = [np.array([stream.uniform(key, place, draw) for place in range(length)]) for draw in range(RANDOM + 1)]
    orders = {"attention": [weights], "other": [other], "random": drawn[:RANDOM]}
    found: dict[str, float | None] = {}
    for name, values in orders.items():
        sets = [flags(length, first(each, size)) for size in sizes_of(weights) for each in values]
        for way in ("delete", "blank"):
            found[f"{way}_necessity_{name}"] = np.mean([fall(made.left(row, chosen, way)) for chosen in sets])
            found[f"{way}_sufficiency_{name}"] = np.mean([fall(made.left(row, ~chosen, way)) for chosen in sets])
        if name != "other":
            found[f"weights_{name}"] = np.mean([fall(made.robbed(row, chosen)) for chosen in sets])
    theirs = decide(made.output)
    rivals = [donor for donor in range(len(theirs)) if theirs[donor] != decided[0]]
    rivals.sort(key=lambda donor: int(stream.bits(key, keys([made.ids[donor]])[0])))
    falls: dict[str, list[float]] = {"attention": [], "random": [], "whole": []}
    for donor in rivals[:DONORS]:
        values = made.weights[donor]
        size = sizes_of(values)[-1]
        head = first(values, size)
        rest = [place for place in first(values, len(values)) if place not in head]
        own = sorted(first(weights, sizes_of(weights)[-1]))
        free = [place for place in range(length) if place not in own]
        free = sorted(sorted(free, key=lambda place: drawn[RANDOM][place])[: len(own)])
        rest.sort(key=lambda place: float(stream.uniform(keys([made.ids[donor]])[0], place, RANDOM)))
        for name, places, sources in (("attention", own, head), ("random", free, rest)):
            vectors = made.items[row].copy()
            for count, place in enumerate(places if sources else []):
                vectors[place] = made.items[donor][sources[count % len(sources)]]
            falls[name].append(fall(made.read(vectors)))
        falls["whole"].append(fall(made.output[donor]))
    return found | {f"swap_{name}": np.mean(values) if values else None for name, values in falls.items()}


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("words", [20, 1 << 20])
def test_equals_a_plain_version(monkeypatch: pytest.MonkeyPatch, outputs: int, words: int) -> None:
    monkeypatch.setattr(module, "WORDS", words)
    for seed in range(3):
        made = Made(LENGTHS, outputs, seed)
        assert len(set(decide(made.output))) > 1
        ranking = made.ranking()
        frame = measured(made, seed=seed, ranking=ranking)
        for row, told in enumerate(frame.iter_rows(named=True)):
            assert told["items"] == LENGTHS[row]
            assert told["highlighted"] == sizes_of(made.weights[row])
            for name, value in plain(made, row, ranking[row], seed).items():
                expected = None if LENGTHS[row] == 1 else value
                assert told[name] == pytest.approx(expected, abs=1e-12), (row, name)


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_search_finds_nearly_the_best_sets(outputs: int) -> None:
    shares: dict[str, list[float]] = {"necessity": [], "sufficiency": []}
    for seed in range(6):
        made = Made([2, 5, 7, 8, 9, 10], outputs, seed, sharpness=0.5)
        frame = measured(made)
        for row, told in enumerate(frame.iter_rows(named=True)):
            best, least = every_set(made, row)
            for quantity, found, limit in (("necessity", 1, best), ("sufficiency", -1, -least)):
                value = found * told[f"delete_{quantity}_best"]
                chance_level = found * told[f"delete_{quantity}_random"]
                assert value <= limit + 1e-12
                assert value >= found * told[f"delete_{quantity}_attention"]
                assert value >= chance_level - 1e-12
                if limit - chance_level > 1e-6:
                    shares[quantity].append((value - chance_level) / (limit - chance_level))
    assert min(map(len, shares.values())) > 30
    assert min(map(np.mean, shares.values())) >= 0.95


def every_set(made: Made, row: int) -> tuple[float, float]:
    """The largest fall without sets of the asked sizes, and the smallest with them alone."""
    output = made.output[row : row + 1]
    decided = decide(output)
    most, least = [], []
    for size in sizes_of(made.weights[row]):
        sets = [flags(len(made.weights[row]), list(places)) for places in combinations(range(made.words[row]), size)]
        without, alone = (
            [chance(output, decided) - chance(made.left(row, gone, "delete")[None], decided) for gone in each]
            for each in (sets, [~chosen for chosen in sets])
        )
        most.append(np.max(without))
        least.append(np.min(alone))
    return float(np.mean(most)), float(np.mean(least))


@given(seed=st.integers(0, 100), size=st.integers(1, 5))
@examples(5)
def test_batches_order_and_padding_make_no_difference(seed: int, size: int) -> None:
    made = Made(LENGTHS, 3, seed)
    donors, rows = made.donors, list(range(len(LENGTHS)))
    whole = measured(made, donors)
    parts = [measured(made.take(rows[start : start + size]), donors) for start in range(0, len(rows), size)]
    assert_frame_equal(pl.concat(parts), whole, check_exact=True)
    assert_frame_equal(measured(made.take(rows[::-1]), donors)[::-1], whole, check_exact=True)
    mixed = np.random.default_rng(seed).permutation(len(rows)).tolist()
    assert_frame_equal(measured(made, made.take(mixed).donors), whole, abs_tol=1e-12)


def test_the_seed_is_all_that_is_random() -> None:
    made = Made(LENGTHS, 3)
    again, other = measured(made), measured(made, seed=1)
    assert_frame_equal(measured(made), again, check_exact=True)
    random = [name for name in again.columns if "random" in name or "swap" in name or "best" in name]
    assert_frame_equal(again.drop(random), other.drop(random))
    assert not again.equals(other)


def test_awkward_texts_are_defined() -> None:
    made = Made([1, 0, 6, 4, 2], 3)
    constant = made.weights.like(np.repeat(1 / np.maximum(made.words, 1), made.words).astype(np.float32))
    for weights in (constant, made.weights.like(np.zeros_like(constant.values)), constant.like(constant.values > 0.2)):
        made.weights = weights
        frame = measured(made, ranking=weights)
        falls = frame.drop("id", "decision", "items", "probability", "highlighted")
        for row, several in enumerate(made.words > 1):
            assert all((value is not None and np.isfinite(value)) == several for value in falls.row(row))
        for name in ("delete_necessity", "blank_sufficiency"):  # ties: the first items, whatever ranks them
            assert frame[f"{name}_other"].equals(frame[f"{name}_attention"])
    made.weights = constant
    assert measured(made)["highlighted"].to_list() == [[1, 1], [0, 0], [3, 3], [2, 2], [1, 1]]


def test_without_a_text_that_is_decided_otherwise_there_are_no_swaps() -> None:
    made = Made(LENGTHS, 3)
    same = np.flatnonzero(decide(made.output) == decide(made.output)[0]).tolist()
    frame = measured(made.take(same))
    assert len(frame) > 1
    swaps = [name for name in frame.columns if name.startswith("swap")]
    assert frame.select(swaps).null_count().row(0) == (len(frame),) * 3
    assert frame.filter(pl.col("items") > 1).drop(swaps).null_count().sum_horizontal().item() == 0


def test_only_empty_texts() -> None:
    made = Made([0, 0])
    frame = measured(made)
    assert frame["delete_necessity_best"].null_count() == 2


def test_donors_do_not_depend_on_the_order_of_instances() -> None:
    ids = np.array([f"i{row}" for row in range(400)])
    decided = np.random.default_rng(0).choice(3, size=400, p=[0.7, 0.25, 0.05])
    rows = donor_rows(ids.tolist(), decided, seed=0)
    counts = np.bincount(decided)
    assert np.bincount(decided[rows]).tolist() == np.minimum(counts, POOL).tolist()
    assert counts.min() < POOL < counts.max()
    assert rows.tolist() == sorted(rows)
    order = np.random.default_rng(1).permutation(400)
    assert set(ids[order][donor_rows(ids[order].tolist(), decided[order], seed=0)]) == set(ids[rows])
    assert set(donor_rows(ids.tolist(), decided, seed=1)) != set(rows)
    assert len(donor_rows([], decided[:0], seed=0)) == 0


KINDS = [("classifier", 1, False), ("classifier", 3, True), ("flan", 4, False), ("han", 1, False), ("han", 4, False)]


@pytest.fixture(params=KINDS, ids=str)
def texts(request: pytest.FixtureRequest) -> ObservedTexts:
    """Texts of a classifier, of one that answers questions, and of flat and hierarchical models."""
    kind, outputs, query = request.param
    model = make_model("cnn", kind=kind, outputs=outputs, query=query).eval()
    documents = make_documents([[3, 1, 2], [4], [2, 2, 5, 1], [1, 6]])
    inputs = documents if kind == "han" else Inputs(documents.tokens)
    if query:
        inputs = make_inputs([6, 4, 10, 7], query=True, outputs=outputs)
    names = inputs.items.like(inputs.items.values.astype(str).astype(object))
    return ObservedTexts(model, inputs, observe(model, inputs, ids=list("abcd"), tokens=names))


def alone(texts: ObservedTexts, row: int) -> Inputs:
    return texts.inputs.take(np.array([row]))


def test_attention_of_classifiers_is_zeroed(texts: ObservedTexts) -> None:
    rows = np.array([2, 0, 2, 3, 1, 0])
    draw = np.random.default_rng(0)
    gone = texts.items.take(rows).like(draw.random(texts.items.take(rows).lengths.sum()) < 0.5)
    gone[1][:] = True  # nothing is attended to
    output = texts.unattended(rows, gone.values)
    for place, row in enumerate(rows):
        own, model = alone(texts, row), texts.model
        with torch.no_grad():
            query = model.query(own)
            reading = model(model.read(own), query)
            weights = reading.weights.values[0].double() * ~torch.from_numpy(gone[place])
            weights = (weights / weights.sum() if weights.sum() > 0 else weights).float()
            expected = output_of(model.decoder(weights[None] @ reading.states.values[0], query)).numpy()
        assert np.allclose(output[place], expected, atol=1e-5)
    assert np.allclose(output[1], texts.nothing[0], atol=1e-5)


def test_items_of_classifiers_are_swapped(texts: ObservedTexts) -> None:
    rows, given = np.array([2, 0, 3, 1]), np.array([0, 3, 2, 1])
    places = Ragged.from_rows([[0, 3], [1], [], [0]], dtype=np.int64)
    taken = Ragged.from_rows([[2, 2], [0], [], [0]], dtype=np.int64)
    donors = Donors(texts.inputs, texts.evidence.weights, texts.evidence.output, keys(texts.evidence.ids))
    output = texts.swapped(rows, places, donors, given, taken)
    for place, row in enumerate(rows):
        own, other = items_of(alone(texts, row)), items_of(alone(texts, given[place]))
        for spot, source in zip(places[place], taken[place], strict=True):
            own[spot] = other[source]
        tokens = Ragged.from_rows([np.concatenate(own)], dtype=np.int32)
        lengths = Ragged.from_rows([[len(item) for item in own]], dtype=np.int32)
        whole = alone(texts, row)
        changed = Inputs(tokens, whole.query, whole.candidates, None if whole.sentences is None else lengths)
        assert np.allclose(output[place], predict(texts.model, changed)[0], atol=1e-6)
    assert np.allclose(output[2:], texts.output[rows[2:]], atol=1e-6)


def items_of(inputs: Inputs) -> list[np.ndarray]:
    """The words of each item of one text."""
    words = inputs.tokens[0]
    return (
        [*map(np.atleast_1d, words)] if inputs.sentences is None else np.split(words, np.cumsum(inputs.items[0])[:-1])
    )


def test_highlights_of_classifiers_are_defined(texts: ObservedTexts) -> None:
    donors = Donors(texts.inputs, texts.evidence.weights, texts.evidence.output, keys(texts.evidence.ids))
    frame = highlights(texts, texts.evidence.ids, texts.evidence.weights, donors, ways=texts.ways)
    several = frame.filter(pl.col("items") > 1)
    best, random = several["delete_necessity_best"], several["delete_necessity_random"]
    assert (best >= random - 1e-9).all()
    assert np.allclose(frame["probability"], chance(texts.output, decide(texts.output)))
