"""100 permutations of the weights: products with the items' scores, against decoding the states anew for each."""

import time

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.report import Result
from heedful.experiments.affine_view import AffineView
from heedful.ragged import Indices, Ragged, length_batches
from heedful.randomness import Stream

STATES, PERMUTATIONS, BATCH = 256, 100, 128


def permutation_result(name: str, lengths: Indices, *, least: float) -> Result:
    """Random states of texts of the given lengths; the orders are drawn before, and are the same for both."""
    draw = np.random.default_rng(0)
    decoder = nn.Linear(STATES, 1)
    states = Ragged.from_lengths(draw.standard_normal((int(lengths.sum()), STATES), dtype=np.float32), lengths)
    drawn = draw.exponential(size=len(states.values))
    weights = states.like(drawn / np.repeat(states.like(drawn).sum(), lengths))
    scores = (
        states.values.astype(np.float64) @ decoder.weight.detach().numpy().T.astype(np.float64) + decoder.bias.item()
    )
    alone = states.like(np.concatenate([np.zeros_like(scores), scores], axis=1))  # the two classes of a sigmoid
    margins = AffineView(weights, alone, np.zeros(len(lengths), dtype=np.int64), np.zeros((len(lengths), 2)))
    seconds, apart = {"plain": 0.0, "heedful": 0.0}, 0.0
    for turn, rows in enumerate(length_batches(lengths, rows=BATCH)):
        orders = Stream(0, "bench").orders(lengths[rows, None], rows[:, None], np.arange(PERMUTATIONS))
        if turn == 0:  # both have seen a batch before the clock starts
            _plain(decoder, states.take(rows), weights.take(rows), orders)
            margins.permuted(rows, orders)
        started = time.perf_counter()
        plain = _plain(decoder, states.take(rows), weights.take(rows), orders)
        seconds["plain"] += time.perf_counter() - started
        started = time.perf_counter()
        fast = margins.permuted(rows, orders).logits[..., 1]
        seconds["heedful"] += time.perf_counter() - started
        apart = max(apart, float(np.abs(plain.numpy() - fast).max()))
    if apart > 1e-4:
        raise AssertionError(f"{name}: the logits part by {apart}")
    details = {"instances": len(lengths), "largest difference of a logit": apart}
    return Result(name, seconds["plain"], seconds["heedful"], least, details)


@torch.inference_mode()
def _plain(decoder: nn.Linear, states: Ragged, weights: Ragged, orders: Indices) -> Tensor:
    """The paper's way: decode the attended state of every permutation, (B, P)."""
    hidden, own = torch.from_numpy(states.pad()[0]), torch.from_numpy(weights.pad()[0].astype(np.float32))
    places = torch.from_numpy(orders)
    logits = [
        decoder((own.gather(1, places[:, permutation])[:, None] @ hidden).squeeze(1))
        for permutation in range(orders.shape[1])
    ]
    return torch.cat(logits, dim=1)
