"""`make bench`: run every benchmark, print ratios, keep JSON in benchmarks/results/."""

import sys
from collections.abc import Iterator

import numpy as np
import torch

from benchmarks.report import Result
from benchmarks.training import training_epoch
from heedful.corpora.loading import load
from heedful.errors import NotFound
from heedful.models.training import Examples
from heedful.ragged import Ragged
from heedful.text.vocabulary import Vocabulary


def sst_like() -> Examples:
    """Random texts with the lengths and vocabulary size of SST, for machines that do not have it."""
    draw = np.random.default_rng(0)
    lengths = np.clip(draw.normal(18, 8, size=6355).round(), 6, 46).astype(np.int64)
    return random_texts(lengths)


def random_texts(lengths: np.ndarray, words: int = 13826) -> Examples:
    draw = np.random.default_rng(1)
    tokens = Ragged.from_lengths(draw.integers(4, words, size=int(lengths.sum()), dtype=np.int32), lengths)
    return Examples(tokens, draw.integers(0, 2, size=len(lengths)))


def benchmarks() -> Iterator[Result]:
    try:
        corpus = load("sst")
        frame = corpus.split("train")
        vocabulary = Vocabulary.build(corpus.scan("train"))
        examples = Examples(vocabulary.encode(frame["tokens"]), frame["label"].to_numpy().astype(np.int64))
        yield training_epoch("training epoch, SST, BiLSTM, batch 32", examples, len(vocabulary), least=1.8)
    except NotFound:
        name = "training epoch, random texts as long as SST's, BiLSTM, batch 32"
        yield training_epoch(name, sst_like(), 13826, least=1.8)
    lengths = np.random.default_rng(2).integers(150, 211, size=640)
    yield training_epoch("training, documents of 180 tokens, BiLSTM, batch 32", random_texts(lengths), 13826, least=2.5)


def main() -> int:
    torch.set_num_threads(1)
    results = []
    for result in benchmarks():
        print(result, flush=True)
        result.keep()
        results.append(result)
    print("kept in benchmarks/results/")
    return int(any(result.ratio < result.least for result in results))


if __name__ == "__main__":
    sys.exit(main())
