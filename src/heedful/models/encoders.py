"""Encoders: embedded tokens (B, T, E) to states (B, T, H), one state an item."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from heedful.errors import unknown_name
from heedful.models.batches import Padded
from heedful.models.gru import BidirectionalGRU, Steps, Weights
from heedful.models.options import (
    ENCODER_OPTIONS,
    AverageOptions,
    BiGRUOptions,
    BiLSTMOptions,
    CNNOptions,
    NoneOptions,
    Options,
)

ENCODERS: "dict[str, type[Encoder]]" = {}  # those whose modules are imported; see `encoder_class`
Kind = TypeVar("Kind", bound="type[Encoder]")


def encoder(name: str, options: type[Options]) -> Callable[[Kind], Kind]:
    """Register a class of encoders under a name, with its options."""

    def registered(kind: Kind) -> Kind:
        ENCODER_OPTIONS.register(name, options)
        ENCODERS[name] = kind
        return kind

    return registered


def encoder_class(name: str) -> "type[Encoder]":
    """The class of a registered encoder."""
    if name not in ENCODER_OPTIONS:
        raise unknown_name("encoder", name, ENCODER_OPTIONS)
    _ = ENCODER_OPTIONS[name]  # imports its module
    return ENCODERS[name]


def dropout(values: Tensor, share: float, training: bool) -> Tensor:
    """Dropout, seeded by torch's generator but drawn by NumPy: torch's own takes five to ten times as long on a CPU, a
    fifth of the time of a training step."""
    if not training or not share:
        return values
    draw = np.random.Generator(np.random.SFC64(int(torch.randint(2**62, ()))))
    kept = torch.from_numpy(draw.random(tuple(values.shape), dtype=np.float32) >= share)
    return values * kept.to(values.dtype).div_(1 - share)


class Encoder(nn.Module):
    """Base of all encoders; `size` is H."""

    size: int

    def __init__(self, width: int, options: Any) -> None:
        super().__init__()

    def forward(self, embedded: Padded) -> Padded:
        """States of the same cells."""
        raise TypeError("an encoder defines forward")

    def summary(self, states: Padded) -> Tensor:
        """A sequence, read between its sentinels, in one vector (B, H): the mean of its tokens, zero without any."""
        inner = states.inner()
        return inner.zeroed().values.sum(dim=1) / inner.lengths.clamp_min(1)[:, None]


class Bidirectional(Encoder):
    """Two one-way layers, the second over each sequence reversed within its own length: the states of a bidirectional
    layer over packed sequences, but through dense kernels that are several times faster on a CPU."""

    layer: ClassVar[type[nn.LSTM] | type[nn.GRU]]

    def __init__(self, width: int, options: Any) -> None:
        super().__init__(width, options)
        self.size = 2 * options.hidden
        self.ahead: Any = self.layer(width, options.hidden, batch_first=True)
        self.back: Any = self.layer(width, options.hidden, batch_first=True)

    def forward(self, embedded: Padded) -> Padded:
        """Both directions' states side by side."""
        ahead, _ = self.ahead(embedded.values)
        back, _ = self.back(embedded.reversed().values)
        return embedded.with_values(torch.cat([ahead, embedded.with_values(back).reversed().values], dim=-1))

    def summary(self, states: Padded) -> Tensor:
        """Each direction's last state."""
        ahead, back = states.values.chunk(2, dim=-1)
        return torch.cat([ahead[torch.arange(len(ahead)), states.lengths - 1], back[:, 0]], dim=-1)


@encoder("bilstm", BiLSTMOptions)
class BiLSTM(Bidirectional):
    """One-layer bidirectional LSTM (Jain & Wallace, section 2)."""

    layer = nn.LSTM


@encoder("bigru", BiGRUOptions)
class BiGRU(Bidirectional):
    """One-layer bidirectional GRU (Yang et al. 2016), initialised as in Serrano & Smith's code."""

    layer = nn.GRU

    def __init__(self, width: int, options: BiGRUOptions) -> None:
        super().__init__(width, options)
        for layer in (self.ahead, self.back):
            nn.init.xavier_uniform_(layer.weight_ih_l0)
            nn.init.orthogonal_(layer.weight_hh_l0)
            nn.init.zeros_(layer.bias_ih_l0)
            nn.init.zeros_(layer.bias_hh_l0)

    def forward(self, embedded: Padded) -> Padded:
        """The layers hold the parameters; `gru.py` has what they compute. Padding has states of zeros."""
        rows, width = embedded.values.shape[:2]
        states = BidirectionalGRU.apply(  # type: ignore[no-untyped-call]
            embedded.values.flatten(0, 1), Steps.of(embedded.lengths, width), *Weights.of(self.ahead, self.back)
        )
        return embedded.with_values(states.view(rows, width, self.size))


@encoder("cnn", CNNOptions)
class CNN(Encoder):
    """Parallel convolutions of several widths, "same" padding, ReLU."""

    def __init__(self, width: int, options: CNNOptions) -> None:
        super().__init__(width, options)
        self.size = options.filters * len(options.kernels)
        self.dropout = options.dropout
        layers = (nn.Conv1d(width, options.filters, size, padding=size // 2) for size in options.kernels)
        self.convolutions = nn.ModuleList(layers)

    def forward(self, embedded: Padded) -> Padded:
        """Windows beyond the ends read zeros, whatever the padding holds."""
        columns = dropout(embedded.zeroed().values, self.dropout, self.training).transpose(1, 2)  # (B, E, T)
        states = torch.cat([torch.relu(convolution(columns)) for convolution in self.convolutions], dim=1)  # (B, H, T)
        return embedded.with_values(states.transpose(1, 2))

    def summary(self, states: Padded) -> Tensor:
        """The largest response of each filter to a token; none is below zero, so zeros can stand for padding."""
        return pad(states.inner().zeroed().values, (0, 0, 0, 1)).amax(dim=1)


@encoder("average", AverageOptions)
class Average(Encoder):
    """A linear map and an activation."""

    def __init__(self, width: int, options: AverageOptions) -> None:
        super().__init__(width, options)
        self.size = options.hidden
        self.project = nn.Linear(width, options.hidden)
        self.activation: Callable[[Tensor], Tensor] = {"relu": torch.relu, "tanh": torch.tanh}[options.activation]

    def forward(self, embedded: Padded) -> Padded:
        projected: Tensor = self.project(embedded.values)
        return embedded.with_values(self.activation(projected))


@encoder("none", NoneOptions)
class NoEncoder(Encoder):
    """Each item is its own state (Serrano & Smith's models without an encoder)."""

    def __init__(self, width: int, options: NoneOptions) -> None:
        super().__init__(width, options)
        self.size = width

    def forward(self, embedded: Padded) -> Padded:
        return embedded
