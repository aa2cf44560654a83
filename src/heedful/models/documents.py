"""HAN: words make sentences, sentences make the document, with attention on either level (Yang et al. 2016).

The tested attention is that over sentences, as in Serrano & Smith 2019: the word level makes a vector of each sentence,
and from there on the model is a flat one whose items are sentences.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from heedful.models.attentions import Attention, Query, Variants
from heedful.models.batches import Inputs, Padded
from heedful.models.classifier import NO_QUERY, Classifier, Reading
from heedful.models.decoders import Affine
from heedful.models.encoders import Encoder, dropout


class Dropout(NamedTuple):
    """The shares of numbers that training leaves out."""

    words: float = 0.0  # of word vectors below a word encoder
    items: float = 0.0  # of what the encoder below the tested attention reads
    logits: float = 0.0


class Flan(Classifier):
    """Tokens without sentinels, attention with as many hidden units as a state has numbers, dropout in training."""

    sentinels = False

    def __init__(self, *, dropout: Dropout | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self.dropout = dropout or Dropout()

    def variant(self, attention: Variants) -> type[Attention] | None:
        """Attention with as many hidden units as a state has numbers."""
        return attention.wide or attention.usual

    def build(self, encoder: Callable[[int], Encoder], attention: Callable[[int], Attention], outputs: int) -> None:
        """The usual layers; the decoder starts as in the released code."""
        super().build(encoder, attention, outputs)
        self.initialise_decoder()

    def initialise_decoder(self) -> None:
        """Glorot's weights, no bias."""
        if isinstance(self.decoder, Affine):
            nn.init.xavier_uniform_(self.decoder.linear.weight)
            nn.init.zeros_(self.decoder.linear.bias)

    def forward(self, items: Padded, query: Query = NO_QUERY) -> Reading:
        """As any classifier; in the released code dropout comes after the last layer, too."""
        items = items.with_values(dropout(items.values, self.dropout.items, self.training))
        reading = super().forward(items, query)
        return reading._replace(logits=dropout(reading.logits, self.dropout.logits, self.training))


class Han(Flan):
    """A hierarchical attention network, with the same kinds of layers on both levels."""

    def build(self, encoder: Callable[[int], Encoder], attention: Callable[[int], Attention], outputs: int) -> None:
        """Word level first; the sentence level reads what it makes."""
        self.word_encoder = encoder(self.embedding.shape[1])
        self.word_attention = attention(self.word_encoder.size)
        self.encoder = encoder(self.word_encoder.size)
        self.attention = attention(self.encoder.size)
        self.decoder = Affine(self.encoder.size, outputs)
        self.initialise_decoder()

    def words(self, inputs: Inputs) -> Tensor:
        """All words, (N,), in the order in which sentences are read."""
        return torch.from_numpy(inputs.tokens.values[inputs.groups.words].astype(np.int64))

    def items(self, vectors: Tensor, inputs: Inputs) -> Padded:
        """Sentence vectors, (B, T, H), from those of the words; a sentence without words is a vector of zeros."""
        groups, documents = inputs.groups, inputs.items
        kept = dropout(vectors, self.dropout.words, self.training)
        made = [self._sentences(words) for words in groups.padded(kept)]
        width = int(documents.lengths.max(initial=0))
        places = np.flatnonzero(np.arange(width) < documents.lengths[:, None])[groups.sentences]
        items = vectors.new_zeros(len(documents) * width, self.word_encoder.size)
        if made:
            items = items.index_copy(0, torch.from_numpy(places), torch.cat(made))
        return Padded(items.view(len(documents), width, -1), torch.from_numpy(documents.lengths))

    def _sentences(self, words: Padded) -> Tensor:
        """The vectors (S, H) of sentences with these words, (S, T, E)."""
        states = self.word_encoder(words)
        weights = self.word_attention(states, NO_QUERY)
        vectors: Tensor = (weights.values[:, None] @ states.values).squeeze(1)  # (S, 1, T) @ (S, T, H)
        return vectors


MODELS: dict[str, type[Classifier]] = {"classifier": Classifier, "flan": Flan, "han": Han}
