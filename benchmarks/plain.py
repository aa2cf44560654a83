"""The papers' classifier and training step as one would first write them: packed LSTM, dense gradient, default Adam.

Tests compare the fast paths with these results, benchmarks with their time.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from heedful.models.batches import Padded
from heedful.models.classifier import Classifier
from heedful.models.options import ENCODER_OPTIONS

WIDTH = 300


def paper_model(encoder: str, words: int) -> Classifier:
    """A classifier of the paper's size with random parameters and word vectors."""
    return Classifier(
        embedding=np.random.default_rng(0).standard_normal((words, WIDTH)).astype(np.float32),
        encoder=encoder,
        encoder_options=ENCODER_OPTIONS[encoder](),
        attention="additive",
        outputs=1,
        seed=0,
    )


class PlainBiLSTM(nn.Module):
    """Embedding, bidirectional LSTM over packed sequences, additive attention, affine decoder."""

    def __init__(self, model: Classifier) -> None:
        """A plain twin of a heedful BiLSTM classifier, with the same parameters."""
        super().__init__()
        words, width = model.embedding.shape
        hidden = model.encoder.size // 2
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, hidden, bidirectional=True, batch_first=True)
        self.attention_hidden = nn.Linear(2 * hidden, hidden)
        self.attention_score = nn.Linear(hidden, 1, bias=False)
        self.decoder = nn.Linear(2 * hidden, model.decoder.outputs)
        state = model.state_dict()
        twins = {
            "embedding.weight": "embedding",
            "attention_hidden.weight": "attention.hidden.weight",
            "attention_hidden.bias": "attention.hidden.bias",
            "attention_score.weight": "attention.score.weight",
            "decoder.weight": "decoder.linear.weight",
            "decoder.bias": "decoder.linear.bias",
        }
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            twins[f"lstm.{name}"] = f"encoder.ahead.{name}"
            twins[f"lstm.{name}_reverse"] = f"encoder.back.{name}"
        self.load_state_dict({plain: state[ours].clone() for plain, ours in twins.items()})

    def forward(self, tokens: Padded) -> Tensor:
        packed = pack_padded_sequence(
            self.embedding(tokens.values), tokens.lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)  # (B, T, H)
        positions = torch.arange(states.shape[1])
        real = (positions > 0) & (positions < tokens.lengths[:, None] - 1)  # without the sentinels
        scores = self.attention_score(torch.tanh(self.attention_hidden(states))).squeeze(-1)
        weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1)
        return self.decoder((weights[..., None] * states).sum(dim=1))
