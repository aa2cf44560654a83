"""Leave-one-out: heedful's against the papers' algorithm, which reads the batch again for every position."""

import math
import time
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.plain import paper_model
from benchmarks.report import Result
from heedful.importance.leave_one_out import leave_one_out
from heedful.measures import tvd
from heedful.models.classifier import Classifier
from heedful.models.decoders import output_of
from heedful.models.inputs import with_sentinels
from heedful.models.padded import Padded
from heedful.ragged import Ragged, length_batches

BATCH_ROWS = 32  # as in the papers; larger batches do not make the plain algorithm faster
REPEATS = 3
BATCH_CELLS = 1600  # fewer long documents together, so that the plain algorithm reads little padding


def leave_one_out_result(name: str, encoder: str, tokens: Ragged, words: int, *, least: float) -> Result:
    """Time both ways, batch by batch in turns, on a model of the paper's size with random parameters."""
    model = paper_model(encoder, words)
    ways = {"plain": plain_leave_one_out, "heedful": leave_one_out}
    seconds = dict.fromkeys(ways, 0.0)
    apart = 0.0
    groups = [tokens.take(rows) for rows in length_batches(tokens.lengths, rows=8 * BATCH_ROWS)]
    for way in ways.values():
        way(model, groups[0].slice(0, 2))  # the first call of a kernel pays for setting it up
    for texts in groups:
        importance = {}
        best = dict.fromkeys(ways, math.inf)
        for _ in range(REPEATS):  # in turns, and the best of each: a busy machine slows both alike
            for way, compute in ways.items():
                started = time.perf_counter()
                importance[way] = compute(model, texts).values
                best[way] = min(best[way], time.perf_counter() - started)
        seconds = {way: seconds[way] + best[way] for way in ways}
        apart = max(apart, float(np.abs(importance["plain"] - importance["heedful"]).max()))
    if not apart < 1e-4:
        raise AssertionError(f"{name}: the importances differ by {apart}")
    return Result(
        name=name,
        plain_seconds=seconds["plain"],
        fast_seconds=seconds["heedful"],
        least=least,
        details={"texts": len(tokens), "tokens": len(tokens.values), "largest difference": apart},
    )


def document_results(words: int = 13_826) -> Iterator[Result]:
    """Every encoder on random documents of 150 to 210 tokens."""
    for encoder, documents, least in [("bilstm", 16, 4.0), ("cnn", 16, 15.0), ("average", 64, 50.0)]:
        draw = np.random.default_rng(2)
        lengths = draw.integers(150, 211, size=documents)
        tokens = Ragged.from_lengths(draw.integers(4, words, size=int(lengths.sum()), dtype=np.int32), lengths)
        yield leave_one_out_result(
            f"leave-one-out, documents of 180 tokens, {encoder}", encoder, tokens, words, least=least
        )


def plain_leave_one_out(model: Classifier, tokens: Ragged) -> Ragged:
    """In batches of the size that suits the plain algorithm best."""
    importance = tokens.like(np.empty(len(tokens.values), dtype=np.float32))
    places = tokens.like(np.arange(len(tokens.values)))
    for rows in length_batches(tokens.lengths, rows=BATCH_ROWS, cells=BATCH_CELLS):
        importance.values[places.take(rows).values] = _plain_batch(model, tokens.take(rows)).values
    return importance


def _plain_batch(model: Classifier, tokens: Ragged) -> Ragged:
    """For each position of the batch: delete it from every text that has it, read those texts, compare the outputs.

    Kinder than the released code, which reads the texts without that position too, and keeps a graph for gradients.
    """
    framed = Padded.of(with_sentinels(tokens))
    rows, length = framed.values.shape
    importance = np.zeros((rows, length - 2), dtype=np.float32)  # (B, T)
    with torch.inference_mode():
        whole = _output(model, framed)
        nothing = output_of(model.decoder.bias).numpy()
        for position in range(1, length - 1):
            some = np.flatnonzero(tokens.lengths >= position)
            values = framed.values[some]
            shorter = torch.cat([values[:, :position], values[:, position + 1 :]], dim=1)
            without = _output(model, Padded(shorter, framed.lengths[some] - 1))
            without[tokens.lengths[some] == 1] = nothing
            importance[some, position - 1] = tvd(whole[some], without)
    return Ragged.from_padded(importance, framed.inner().mask.numpy())


def _output(model: Classifier, tokens: Padded) -> NDArray[np.float32]:
    return output_of(model(model.embed(tokens)).logits).numpy()
