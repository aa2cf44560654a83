"""Observation: the evidence that a model gives of some instances."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heedful.decoding import TanhDecoder
from heedful.evidence import Evidence
from heedful.models.classifier import Classifier
from heedful.models.decoders import Affine, WithQuery
from heedful.models.inference import decode
from heedful.models.inputs import Inputs, Texts
from heedful.ragged import Ragged


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
