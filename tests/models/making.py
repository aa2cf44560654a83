"""Small models and corpora for the tests of models."""

import numpy as np

from heedful.models.classifier import Classifier
from heedful.models.options import ENCODER_OPTIONS
from heedful.models.training import Examples
from heedful.ragged import Ragged

SMALL = {
    "bilstm": {"hidden": 6},
    "cnn": {"filters": 4, "kernels": (1, 3, 5, 7)},
    "average": {"hidden": 8},
}
WORDS = 30


def make_model(encoder: str = "bilstm", attention: str = "additive", *, outputs: int = 1, seed: int = 0) -> Classifier:
    embedding = np.random.default_rng(seed).standard_normal((WORDS, 10)).astype(np.float32)
    return Classifier(
        embedding=embedding,
        encoder=encoder,
        encoder_options=ENCODER_OPTIONS[encoder](**SMALL[encoder]),
        attention=attention,
        outputs=outputs,
        seed=seed,
    )


def make_tokens(sizes: list[int], seed: int = 0) -> Ragged:
    values = np.random.default_rng(seed).integers(1, WORDS, size=sum(sizes), dtype=np.int32)
    return Ragged.from_lengths(values, sizes)


def make_examples(n: int = 60, *, classes: int = 2, seed: int = 0) -> Examples:
    """Texts whose label is told by one word."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, classes, size=n)
    rows = []
    for label in labels:
        row = draw.integers(10, WORDS, size=draw.integers(1, 12), dtype=np.int32)
        row[draw.integers(len(row))] = 4 + label
        rows.append(row)
    return Examples(Ragged.from_rows(rows), labels.astype(np.int64))
