"""Classifier: embed, encode, attend, decode (Jain & Wallace 2019, section 2)."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.errors import unknown_name
from heedful.models.attentions import ATTENTIONS
from heedful.models.decoders import Affine
from heedful.models.encoders import ENCODERS
from heedful.models.options import Options
from heedful.models.padded import Padded
from heedful.ragged import Ragged
from heedful.randomness import Stream
from heedful.text.vocabulary import END, PAD, START


class Reading(NamedTuple):
    """What the model makes of a batch."""

    states: Padded  # (B, T, H), real items only
    weights: Padded  # (B, T)
    logits: Tensor  # (B, K)


class Classifier(nn.Module):
    """An attention classifier over tokens.

    Each sequence is read between a start and an end sentinel, which the encoder sees and attention does not.
    """

    def __init__(
        self,
        *,
        embedding: NDArray[np.float32],  # (V, E)
        encoder: str,
        encoder_options: Options,
        attention: str,
        outputs: int,
        seed: int,
    ) -> None:
        super().__init__()
        if encoder not in ENCODERS:
            raise unknown_name("encoder", encoder, ENCODERS)
        if attention not in ATTENTIONS:
            raise unknown_name("attention", attention, ATTENTIONS)
        self.embedding = nn.Parameter(torch.from_numpy(embedding.copy()))
        with torch.no_grad():
            self.embedding[PAD] = 0
        with torch.random.fork_rng(devices=[]):  # initialise from our own seed, leave the caller's generator alone
            torch.manual_seed(Stream(seed, "parameters").integer())
            self.encoder = ENCODERS[encoder](embedding.shape[1], encoder_options)
            self.attention = ATTENTIONS[attention](self.encoder.size)
            self.decoder = Affine(self.encoder.size, outputs)

    def embed(self, tokens: Padded) -> Padded:
        """Embedded tokens (B, T, E)."""
        return tokens.with_values(nn.functional.embedding(tokens.values, self.embedding))

    def forward(self, embedded: Padded) -> Reading:
        """Read a batch of embedded sequences with their sentinels."""
        states = self.encoder(embedded).inner()
        weights = self.attention(states)
        attended = (weights.values[:, None] @ states.values).squeeze(1)  # (B, 1, T) @ (B, T, H)
        return Reading(states, weights, self.decoder(attended))


def with_sentinels(tokens: Ragged) -> Ragged:
    """Each sequence between a start and an end sentinel, as the encoder reads it."""
    lengths = tokens.lengths + 2
    values = np.empty(int(lengths.sum()), dtype=np.int64)
    framed = Ragged.from_lengths(values, lengths)
    starts, ends = framed.offsets[:-1], framed.offsets[1:] - 1
    inside = np.ones(len(values), dtype=bool)
    inside[starts] = inside[ends] = False
    values[starts], values[ends], values[inside] = START, END, tokens.values
    return framed
