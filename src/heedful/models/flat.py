"""FLAN: a flat attention network over all tokens of a document (Serrano & Smith 2019, section 3)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn

from heedful.models.attentions import WIDE_ATTENTIONS, Attention
from heedful.models.classifier import Classifier, Reading
from heedful.models.decoders import Affine
from heedful.models.dropout import dropout
from heedful.models.encoders import Encoder
from heedful.models.given import Given
from heedful.models.padded import Padded


class Dropout(NamedTuple):
    """The shares of numbers that training leaves out."""

    words: float = 0.0  # of word vectors below a word encoder
    items: float = 0.0  # of what the encoder below the tested attention reads
    logits: float = 0.0


class Flan(Classifier):
    """Tokens without sentinels, attention with as many hidden units as a state has numbers, dropout in training."""

    sentinels = False
    attentions = WIDE_ATTENTIONS

    def __init__(self, *, dropout: Dropout | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self.dropout = dropout or Dropout()

    def build(self, encoder: Callable[[int], Encoder], attention: Callable[[int], Attention], outputs: int) -> None:
        """The usual layers; the decoder begins as in the released code."""
        super().build(encoder, attention, outputs)
        self.begin_decoder()

    def begin_decoder(self) -> None:
        """Glorot's weights, no bias."""
        if isinstance(self.decoder, Affine):
            nn.init.xavier_uniform_(self.decoder.linear.weight)
            nn.init.zeros_(self.decoder.linear.bias)

    def dropped(self, values: Tensor, share: float) -> Tensor:
        """With a share of the numbers left out, in training."""
        return dropout(values, share, self.training)

    def forward(self, items: Padded, given: Given | None = None) -> Reading:
        """As any classifier; in the released code dropout comes after the last layer, too."""
        reading = super().forward(items.with_values(self.dropped(items.values, self.dropout.items)), given)
        return reading._replace(logits=self.dropped(reading.logits, self.dropout.logits))
