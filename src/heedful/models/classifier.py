"""Classifier: embed, encode, attend, decode (Jain & Wallace 2019, section 2)."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.errors import BadConfig, unknown_name
from heedful.models.attentions import Attention, Query, Variants
from heedful.models.batches import Inputs, Padded, with_sentinels
from heedful.models.decoders import Affine, Decoder, WithQuery
from heedful.models.encoders import Encoder, encoder_class
from heedful.models.options import ATTENTIONS, Options
from heedful.ragged import Ragged
from heedful.randomness import Stream
from heedful.text.vocabulary import PAD

NO_QUERY = Query()


class Reading(NamedTuple):
    """States, attention and logits of a batch."""

    states: Padded  # (B, T, H), real items only
    weights: Padded  # (B, T)
    logits: Tensor  # (B, K)


class Embedded(nn.Module):
    """Word vectors and an encoder that reads them."""

    encoder: Encoder

    def __init__(self, embedding: NDArray[np.float32]) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.from_numpy(embedding.copy()))  # (V, E)
        with torch.no_grad():
            self.embedding[PAD] = 0

    def embed(self, tokens: Padded) -> Padded:
        """Embedded tokens (B, T, E)."""
        return tokens.with_values(nn.functional.embedding(tokens.values, self.embedding))


class Question(Embedded):
    """The encoder of queries, with its own word vectors and parameters."""

    def forward(self, embedded: Padded) -> Tensor:
        """One vector a query, (B, H); padding has no part in it."""
        return self.encoder.summary(self.encoder(embedded))


class Classifier(Embedded):
    """An attention classifier over tokens; given a query, its attention and its decision depend on that, too. Each
    sequence is read between a start and an end sentinel, which the encoder sees and attention does not."""

    sentinels: ClassVar[bool] = True

    def __init__(
        self,
        *,
        embedding: NDArray[np.float32],  # (V, E)
        encoder: str,
        encoder_options: Options,
        attention: str,
        outputs: int,
        seed: int,
        query_embedding: NDArray[np.float32] | None = None,  # (V, E); None: there are no queries
    ) -> None:
        super().__init__(embedding)
        encoders = encoder_class(encoder)
        if attention not in ATTENTIONS:
            raise unknown_name("attention", attention, ATTENTIONS)
        self.question = None if query_embedding is None else Question(query_embedding)
        variant = self.variant(ATTENTIONS[attention])
        if variant is None:
            raise BadConfig(f"attention {attention!r} cannot attend to a query; choose another one")
        with torch.random.fork_rng(devices=[]):  # initialise from our own seed, leave the caller's generator alone
            torch.manual_seed(Stream(seed, "parameters").integer())
            self.build(lambda width: encoders(width, encoder_options), variant, outputs)

    def variant(self, attention: Variants) -> type[Attention] | None:
        """The variant of an attention that this model has."""
        return attention.usual if self.question is None else attention.to_query

    def build(self, encoder: Callable[[int], Encoder], attention: Callable[[int], Attention], outputs: int) -> None:
        """Make the layers; encoders are made for the width of what they read, attentions for that of states."""
        width = self.embedding.shape[1]
        self.encoder = encoder(width)
        self.attention = attention(self.encoder.size)
        self.decoder: Decoder = (Affine if self.question is None else WithQuery)(self.encoder.size, outputs)
        if self.question is not None:
            self.question.encoder = encoder(width)

    def frame(self, tokens: Ragged) -> Ragged:
        """Sequences as the encoder reads them."""
        return with_sentinels(tokens) if self.sentinels else tokens.like(tokens.values.astype(np.int64))

    def inner(self, states: Padded) -> Padded:
        """States without sentinels."""
        return states.inner() if self.sentinels else states

    def words(self, inputs: Inputs) -> Tensor:
        """The word indices that are embedded to read some instances, (B, T)."""
        return Padded.of(self.frame(inputs.tokens)).values

    def items(self, vectors: Tensor, inputs: Inputs) -> Padded:
        """What the encoder reads, (B, T, E), from the vectors of these words."""
        return Padded(vectors, torch.from_numpy(inputs.tokens.lengths + 2 * self.sentinels))

    def read(self, inputs: Inputs) -> Padded:
        """What the encoder reads of some instances."""
        return self.items(nn.functional.embedding(self.words(inputs), self.embedding), inputs)

    def query(self, inputs: Inputs) -> Query:
        """Queries and candidates of some instances, as attention and decoder read them."""
        embedded = None if self.question is None else self.question.embed(padded_query(inputs))
        return self.encoded_query(embedded, inputs.candidates)

    def encoded_query(self, embedded: Padded | None, candidates: Ragged | None) -> Query:
        """The same from embedded queries with their sentinels, (B, T, E)."""
        if self.question is None or embedded is None:
            return Query()
        return Query(self.question(embedded), None if candidates is None else _mask(candidates, self.decoder.outputs))

    def forward(self, items: Padded, query: Query = NO_QUERY) -> Reading:
        """Run the model on a batch from `read`."""
        states = self.inner(self.encoder(items))
        weights = self.attention(states, query)
        attended = (weights.values[:, None] @ states.values).squeeze(1)  # (B, 1, T) @ (B, T, H)
        return Reading(states, weights, self.decoder(attended, query))


def padded_query(inputs: Inputs) -> Padded:
    """The queries of some instances with their sentinels."""
    if inputs.query is None:
        raise TypeError("this model answers queries, and these inputs have none")
    return Padded.of(with_sentinels(inputs.query))


def _mask(candidates: Ragged, outputs: int) -> Tensor:
    mask = torch.zeros(len(candidates), outputs, dtype=torch.bool)
    mask[torch.from_numpy(candidates.row_of_value), torch.from_numpy(candidates.values.astype(np.int64))] = True
    return mask
