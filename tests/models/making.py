"""Small models and corpora for the tests of models."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.models.documents import MODELS
from heedful.models.options import ENCODER_OPTIONS
from heedful.models.training import Examples, Step
from heedful.ragged import Ragged

SMALL = {
    "bilstm": {"hidden": 6},
    "bigru": {"hidden": 5},
    "cnn": {"filters": 4, "kernels": (1, 3, 5, 7)},
    "average": {"hidden": 8},
    "none": {},
}
WORDS = 30


def make_model(
    encoder: str = "bilstm",
    attention: str = "additive",
    *,
    kind: str = "classifier",
    outputs: int = 1,
    seed: int = 0,
    query: bool = False,
    **parts: Any,
) -> Classifier:
    embedding, asked = np.random.default_rng(seed).standard_normal((2, WORDS, 10)).astype(np.float32)
    return MODELS[kind](
        embedding=embedding,
        encoder=encoder,
        encoder_options=ENCODER_OPTIONS[encoder](**SMALL[encoder]),
        attention=attention,
        outputs=outputs,
        seed=seed,
        query_embedding=asked if query else None,
        **parts,
    )


class Killed(Exception):
    """A training that was ended."""


def killer(moment: int) -> Callable[[Step], None]:
    """Ends training at the so manieth step."""
    steps = count(1)

    def kill(step: Step) -> None:
        if next(steps) == moment:
            raise Killed

    return kill


def make_tokens(sizes: list[int], seed: int = 0) -> Ragged:
    values = np.random.default_rng(seed).integers(1, WORDS, size=sum(sizes), dtype=np.int32)
    return Ragged.from_lengths(values, sizes)


def make_inputs(sizes: list[int], seed: int = 0, *, query: bool, outputs: int = 3, candidates: bool = True) -> Inputs:
    """Texts, perhaps with queries of other lengths and with some of the classes as candidates, one at least."""
    tokens = make_tokens(sizes, seed)
    if not query:
        return Inputs(tokens)
    draw = np.random.default_rng(seed + 1)
    queries = make_tokens(draw.integers(1, 7, size=len(sizes)).tolist(), seed + 1)
    some = [np.flatnonzero(draw.permutation(outputs) < draw.integers(1, outputs + 1)) for _ in sizes]
    return Inputs(tokens, queries, Ragged.from_rows(some, dtype=np.int32) if candidates else None)


def make_documents(sizes: list[list[int]], seed: int = 0) -> Inputs:
    """Documents of sentences with so many words each."""
    tokens = make_tokens([sum(document) for document in sizes], seed)
    return Inputs(tokens, sentences=Ragged.from_rows(sizes, dtype=np.int32))


def make_examples(n: int = 60, *, classes: int = 2, seed: int = 0) -> Examples:
    """Texts whose label is told by one word."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes, size=n)
    rows = []
    for label in labels:
        row = draw.integers(10, WORDS, size=draw.integers(1, 12), dtype=np.int32)
        row[draw.integers(len(row))] = 4 + label
        rows.append(row)
    return Examples(Inputs(Ragged.from_rows(rows)), labels.astype(np.int64))
