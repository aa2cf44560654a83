"""Inference: read a corpus through a trained model, in batches of similar length, in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.evidence import Evidence
from heedful.models.attentions import Query
from heedful.models.batches import Inputs, Padded, Texts
from heedful.models.classifier import Classifier
from heedful.models.decoders import Affine, WithQuery, output_of
from heedful.ragged import Indices, Ragged, length_batches
from heedful.tanh_decoder import TanhDecoder

BATCH_ROWS = 128
BATCH_CELLS = 32_768  # padded cells a batch: bounds the memory of long documents


class Decoded(NamedTuple):
    """Everything evidence needs of a batch of instances."""

    weights: Ragged  # (N,) float32
    items: Ragged  # (N, F) float32: scores, or features where the decoder is not affine
    context: NDArray[np.float32] | None  # (n, F): what is added to mixed features, then
    output: NDArray[np.float32]  # (n, K)


def predict(model: Classifier, texts: Texts, *, batch_rows: int = BATCH_ROWS) -> NDArray[np.float32]:
    """Outputs (n, K) of every instance, in the order given."""
    inputs = Inputs.of(texts)
    output = np.empty((len(inputs), model.decoder.outputs), dtype=np.float32)
    with torch.inference_mode():
        for rows, items, query in _batches(model, inputs, batch_rows):
            output[rows] = output_of(model(items, query).logits).numpy()
    return output


def decode(model: Classifier, texts: Texts, *, batch_rows: int = BATCH_ROWS) -> Decoded:
    """Weights, items and outputs of every instance, in the order given."""
    inputs, decoder = Inputs.of(texts), model.decoder
    shape = inputs.items
    weights = shape.like(np.empty(len(shape.values), dtype=np.float32))
    items = shape.like(np.empty((len(shape.values), decoder.width), dtype=np.float32))
    context = np.empty((len(shape), decoder.width), dtype=np.float32) if isinstance(decoder, WithQuery) else None
    output = np.empty((len(shape), decoder.outputs), dtype=np.float32)
    with torch.inference_mode():
        for rows, batch, query in _batches(model, inputs, batch_rows):
            reading = model(batch, query)
            output[rows] = output_of(reading.logits).numpy()
            mask = reading.weights.mask
            cells = shape.cells(rows)
            weights.values[cells] = reading.weights.values[mask].numpy()
            items.values[cells] = decoder.items(reading.states.values)[mask].numpy()
            if context is not None and isinstance(decoder, WithQuery):
                context[rows] = decoder.context(query).numpy()
    return Decoded(weights, items, context, output)


def _batches(model: Classifier, inputs: Inputs, batch_rows: int) -> Iterator[tuple[Indices, Padded, Query]]:
    for rows in length_batches(inputs.tokens.lengths, rows=batch_rows, cells=BATCH_CELLS):
        some = inputs.take(rows)
        yield rows, model.read(some), model.query(some)


def observe(model: Classifier, texts: Texts, *, ids: Sequence[str], tokens: Ragged, **known: Any) -> Evidence:
    """Evidence of instances with the given ids and words; `known` are further fields, such as labels."""
    inputs = Inputs.of(texts)
    decoded = decode(model, inputs)
    if isinstance(model.decoder, Affine):
        bias = model.decoder.bias.detach().numpy()
        known |= {"scores": decoded.items, "bias": np.tile(bias, (len(inputs), 1))}
    else:
        known |= {"features": decoded.items, "context": decoded.context, "candidates": inputs.candidates}
        known |= {"decoder": decoder_of(model)}
    return Evidence(ids=ids, tokens=tokens, weights=decoded.weights, output=decoded.output, **known)


def decoder_of(model: Classifier) -> TanhDecoder | None:
    """What evidence needs of a decoder that is not affine."""
    if not isinstance(model.decoder, WithQuery):
        return None
    answer = model.decoder.answer
    return TanhDecoder(weight=answer.weight.detach().numpy(), bias=answer.bias.detach().numpy())
