"""100 permutations of the weights: products with the items' scores, against decoding the states anew for each."""

import time

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.report import Result
from heedful.experiments.permutation import permuted_sums
from heedful.ragged import Indices, Ragged, length_batches
from heedful.randomness import Stream

STATES, PERMUTATIONS, BATCH = 256, 100, 32


def permutation_result(name: str, lengths: Indices, *, least: float) -> Result:
    """Random states of texts of the given lengths; the orders are drawn before, and are the same for both."""
    draw = np.random.default_rng(0)
    decoder = nn.Linear(STATES, 1)
    states = Ragged.from_lengths(draw.standard_normal((int(lengths.sum()), STATES), dtype=np.float32), lengths)
    drawn = draw.exponential(size=len(states.values))
    weights = states.like(drawn / np.repeat(states.like(drawn).sum(), lengths))
    seconds, apart = {"plain": 0.0, "heedful": 0.0}, 0.0
    for turn, rows in enumerate(length_batches(lengths, rows=BATCH)):
        hidden, _ = states.take(rows).pad()
        own, _ = weights.take(rows).pad()
        orders = Stream(0, "bench").orders(lengths[rows, None], rows[:, None], np.arange(PERMUTATIONS))
        scores = hidden.astype(np.float64) @ decoder.weight.detach().numpy().T.astype(np.float64) + decoder.bias.item()
        alone = np.concatenate([np.zeros_like(scores), scores], axis=2)  # the two classes of a sigmoid
        if turn == 0:  # both have seen a batch before the clock starts
            _plain(
                decoder, torch.from_numpy(hidden), torch.from_numpy(own.astype(np.float32)), torch.from_numpy(orders)
            )
            permuted_sums(own, alone, orders)
        tensors = torch.from_numpy(hidden), torch.from_numpy(own.astype(np.float32)), torch.from_numpy(orders)
        started = time.perf_counter()
        plain = _plain(decoder, *tensors)
        seconds["plain"] += time.perf_counter() - started
        started = time.perf_counter()
        fast = permuted_sums(own, alone, orders).logits[..., 1]
        seconds["heedful"] += time.perf_counter() - started
        apart = max(apart, float(np.abs(plain.numpy() - fast).max()))
    if apart > 1e-4:
        raise AssertionError(f"{name}: the logits part by {apart}")
    details = {"instances": len(lengths), "largest difference of a logit": apart}
    return Result(name, seconds["plain"], seconds["heedful"], least, details)


@torch.inference_mode()
def _plain(decoder: nn.Linear, states: Tensor, weights: Tensor, orders: Tensor) -> Tensor:
    """The paper's way: decode the attended state of every permutation, (B, P)."""
    logits = [
        decoder((weights.gather(1, orders[:, permutation])[:, None] @ states).squeeze(1))
        for permutation in range(orders.shape[1])
    ]
    return torch.cat(logits, dim=1)
