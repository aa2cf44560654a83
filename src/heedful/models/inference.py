"""Inference: read a corpus through a trained model, in batches of similar length, in bounded memory."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.models.classifier import Classifier, with_sentinels
from heedful.models.decoders import output_of
from heedful.models.padded import Padded
from heedful.ragged import Indices, Ragged, length_batches

BATCH_ROWS = 128
BATCH_CELLS = 32_768  # padded cells a batch: bounds the memory of long documents


class Decoded(NamedTuple):
    """Everything evidence needs of a batch of instances."""

    weights: Ragged  # (N,) float32
    scores: Ragged  # (N, K) float32
    output: NDArray[np.float32]  # (n, K)


def predict(model: Classifier, tokens: Ragged, *, batch_rows: int = BATCH_ROWS) -> NDArray[np.float32]:
    """Outputs (n, K) of every sequence, in the order given."""
    output = np.empty((len(tokens), model.decoder.bias.shape[0]), dtype=np.float32)
    with torch.inference_mode():
        for rows, batch in _batches(tokens, batch_rows):
            output[rows] = output_of(model(model.embed(batch)).logits).numpy()
    return output


def decode(model: Classifier, tokens: Ragged, *, batch_rows: int = BATCH_ROWS) -> Decoded:
    """Weights, scores and outputs of every sequence, in the order given."""
    outputs = model.decoder.bias.shape[0]
    weights = tokens.like(np.empty(len(tokens.values), dtype=np.float32))
    scores = tokens.like(np.empty((len(tokens.values), outputs), dtype=np.float32))
    output = np.empty((len(tokens), outputs), dtype=np.float32)
    with torch.inference_mode():
        for rows, batch in _batches(tokens, batch_rows):
            reading = model(model.embed(batch))
            output[rows] = output_of(reading.logits).numpy()
            mask = reading.weights.mask
            cells = _cells(tokens, rows)
            weights.values[cells] = reading.weights.values[mask].numpy()
            scores.values[cells] = model.decoder.scores(reading.states.values)[mask].numpy()
    return Decoded(weights, scores, output)


def _batches(tokens: Ragged, batch_rows: int) -> Iterator[tuple[Indices, Padded]]:
    for rows in length_batches(tokens.lengths, rows=batch_rows, cells=BATCH_CELLS):
        yield rows, Padded.of(with_sentinels(tokens.take(rows)))


def _cells(tokens: Ragged, rows: Indices) -> Indices:
    """Where the values of the named rows stand, row after row."""
    return np.concatenate([np.arange(tokens.offsets[row], tokens.offsets[row + 1]) for row in rows])
