"""Gradient importance of a corpus: heedful's against a plain one, same batches, same threads, and the same values."""

import time

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from benchmarks.plain import PlainBiLSTM, paper_model
from benchmarks.report import Result
from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.gradient import gradient
from heedful.models.batches import Padded, with_sentinels
from heedful.ragged import Ragged, length_batches


def gradient_result(name: str, tokens: Ragged, words: int, *, batch: int, least: float) -> Result:
    """Time both, batch by batch in turns; attention is held fixed. `batch`: a size that suits the plain version."""
    model = paper_model("bilstm", words)
    plain = PlainBiLSTM(model)
    seconds = {"plain": 0.0, "heedful": 0.0}
    apart = scale = 0.0
    batches = length_batches(tokens.lengths, rows=batch)
    for rows in batches:  # in turns, so that a busy machine slows both alike
        started = time.perf_counter()
        theirs = plain_gradient(plain, Padded.of(with_sentinels(tokens.take(rows))))
        seconds["plain"] += time.perf_counter() - started
        started = time.perf_counter()
        ours = gradient(ClassifierTexts(model, tokens.take(rows)))
        seconds["heedful"] += time.perf_counter() - started
        apart = max(apart, float(np.abs(theirs - ours.values[:, 0]).max()))
        scale = max(scale, float(theirs.max()))
    if not apart < 1e-4 * scale:
        raise AssertionError(f"{name}: values up to {scale} differ by {apart}")
    return Result(
        name=name,
        plain_seconds=seconds["plain"],
        fast_seconds=seconds["heedful"],
        least=least,
        details={"texts": len(tokens), "batch": batch, "largest value": scale, "largest difference": apart},
    )


def plain_gradient(plain: PlainBiLSTM, tokens: Padded) -> np.ndarray:
    """|e . dy/de| of all real tokens, row after row: backward into everything, as the released code does."""
    plain.zero_grad()
    embedded: Tensor = plain.embedding(tokens.values)
    embedded.retain_grad()
    packed = pack_padded_sequence(embedded, tokens.lengths, batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(plain.lstm(packed)[0], batch_first=True)  # (B, T, H)
    positions = torch.arange(states.shape[1])
    real = (positions > 0) & (positions < tokens.lengths[:, None] - 1)  # without the sentinels
    scores = plain.attention_score(torch.tanh(plain.attention_hidden(states))).squeeze(-1)
    weights = scores.masked_fill(~real, -torch.inf).softmax(dim=-1).detach()
    output = torch.sigmoid(plain.decoder((weights[..., None] * states).sum(dim=1)))
    output.sum().backward()
    return (embedded * embedded.grad).sum(dim=-1).abs()[real].detach().numpy()
