"""A search for other attention that hardly moves the output: ascent on slopes that tilt the shares of every head.

From several seeded starts, each text by itself, Adam climbs the divergence of the map from the model's own. Near the
border of what epsilon allows it moves along the border: the part of the slope that would move the output is removed,
and beyond the border a Newton step leads back (a penalty, as in the paper's search, holds back or lets stray). The
farthest map passed within epsilon is kept. Items without any weight stay without.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import torch
from torch import Tensor

from heedful.adapters.changes import tilted
from heedful.adapters.subject import Kept, Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.readings import aligned, by, outputs_of, with_items
from heedful.evidence import decide
from heedful.experiments.adversaries.divergence import Found, decoder_free_bound
from heedful.experiments.adversary import check_epsilon, found_frame
from heedful.experiments.experiment import check_count
from heedful.measures import tvd
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys

RESTARTS, STEPS = 4, 25
RATE, DECAY, SQUARES, STABLE = 1.0, 0.9, 0.99, 1e-8  # Adam's; the rate falls to nothing along a cosine
SPREAD, FIRST = 3.0, 0.5  # deviation of the starts, as in the paper; the first one is near: little else may be feasible
NEAR = 0.5  # of epsilon: where the border begins, and where steps back lead to
BACK = 1.0  # by how much a step back changes a slope at most: outputs are not linear
LARGEST = 40.0  # slope: nothing is left of what it takes away, and its exponential is a number
CLASSES = 4  # the likeliest, whose probabilities are watched; feasible is what all of them say
RIDGE = 1e-6  # of the size of slopes: what is left where they are no longer different
INSIDE = 1e-10  # added inside logarithms
WITHIN = 0.999  # of epsilon: what is read again must not be beyond it by rounding


@with_items
def adversary(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    epsilon: float = 0.01,
    restarts: int = RESTARTS,
    steps: int = STEPS,
    seed: int = 0,
) -> pl.DataFrame:
    """The columns of `heedful.experiments.adversary`: the map most different from the model's own (`jsd`) that a search
    found to move the output by at most epsilon (`tvd`); at worst the model's own map, which does not move it.

    `tvd`, `weights` and `jsd` are measured in one more forward pass under what was found. The search gives a lower
    bound; `upper` holds for any model, and `certified` is true only where the two meet. Many steps may magnify
    rounding, so that another batch ends elsewhere; what is reported is measured in any.
    """
    check_epsilon(epsilon)
    check_count("restarts", restarts, least=1)
    check_count("steps", steps, least=1)
    slopes = climb(subject, ids, texts, seen, epsilon=epsilon, seed=seed, restarts=restarts, steps=steps)
    own, rounding = seen.weights, subject.rounding
    output = outputs_of(seen.logits, rounding)
    read = subject.read_changed(texts, np.arange(len(texts)), seen, by(slopes, tilted))
    met = tvd(outputs_of(read.logits, rounding), output) <= epsilon  # (n,)
    reached = outputs_of(np.where(met[:, None], read.logits, seen.logits), rounding)
    weights = own.like(np.where(met[own.row_of_value], read.weights.values, own.values))
    found = Found(weights, decoder_free_bound(own))
    return found_frame(ids, decide(output), decide(reached), own, found, tvd=tvd(reached, output))


def climb(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    epsilon: float,
    restarts: int,
    steps: int,
    seed: int,
) -> Ragged:
    """Slopes (N,) of the farthest attention found for each text; zeros, the model's own, where none was."""
    copies = np.repeat(np.arange(len(texts)), restarts)
    stream, names, starts = Stream(seed, "adversary"), keys(ids)[copies], np.arange(len(copies)) % restarts
    own = seen.weights.take(copies)
    found, reached = own.like(np.zeros(len(own.values))), np.zeros(len(copies))
    kept = seen.kept or subject.kept(texts)
    for some in subject.copies(kept, copies, gradient=True):
        batch, rows = some.batch, some.batch.rows
        drawn = stream.normal(names[rows, None], starts[rows, None], np.arange(batch.items))  # (B, T)
        logits = torch.from_numpy(seen.logits[copies[rows]])
        goal = _Goal(subject, some, aligned(own.take(rows), batch), logits, epsilon)
        spread = np.where(starts[rows, None] == 0, FIRST, SPREAD)
        slopes, divergence = _ascend(goal, torch.from_numpy(spread * drawn) * batch.mask, steps)
        found.values[found.cells(rows)] = slopes[batch.mask].numpy()
        reached[rows] = divergence.numpy()
    best = reached.reshape(-1, restarts).argmax(axis=1)  # the first start on ties
    return found.take(restarts * np.arange(len(texts)) + best)


class _Goal:
    """What slopes of some texts lead to."""

    def __init__(self, subject: Subject, texts: Kept, own: Tensor, logits: Tensor, epsilon: float) -> None:
        self.subject, self.texts, self.own, self.epsilon = subject, texts, own, epsilon
        self.output = _output(logits)
        classes = min(CLASSES, self.output.shape[1] - 1)  # the others follow: probabilities sum to one
        self.likeliest = self.output.topk(classes, dim=1).indices  # (B, C)

    def __call__(self, slopes: Tensor) -> "_Point":
        """Read there, and differentiate."""
        with torch.enable_grad():
            free = slopes.clone().requires_grad_()
            reading = self.subject.under(self.texts, tilted(free))
            shift = _output(reading.logits.double()) - self.output  # (B, K)
            divergence = _divergence(reading.weights.double(), self.own)
            watched = shift.gather(1, self.likeliest)  # (B, C)
            sums = [divergence.sum(), *watched.sum(dim=0)]
            up, *out = (torch.autograd.grad(each, free, retain_graph=True)[0] for each in sums)
        moved = shift.detach().abs().sum(dim=1, keepdim=True) / 2 / self.epsilon
        return _Point(divergence.detach(), moved, watched.detach(), up, torch.stack(out, dim=1))


class _Point(NamedTuple):
    """What is known where a search stands."""

    divergence: Tensor  # (B,)
    moved: Tensor  # (B, 1): how far the output is, in units of epsilon
    shift: Tensor  # (B, C): by how much the likeliest classes' probabilities are moved
    up: Tensor  # (B, T): gradient of the divergence
    out: Tensor  # (B, C, T): gradients of the shifts


def _ascend(goal: _Goal, slopes: Tensor, steps: int) -> tuple[Tensor, Tensor]:
    """The best slopes (B, T) that were passed, and their divergence (B,): 0 where none was within epsilon."""
    best, farthest = torch.zeros_like(slopes), torch.zeros(len(slopes), dtype=slopes.dtype)
    mean, square = torch.zeros_like(slopes), torch.zeros_like(slopes)
    for step in range(1, steps + 1):
        point = goal(slopes)
        better = (point.moved[:, 0] <= WITHIN) & (point.divergence > farthest)
        best, farthest = torch.where(better[:, None], slopes, best), torch.where(better, point.divergence, farthest)
        level, back = _level(point)
        mean = DECAY * mean + (1 - DECAY) * level
        square = SQUARES * square + (1 - SQUARES) * level**2
        direction = mean / (1 - DECAY**step) / ((square / (1 - SQUARES**step)).sqrt() + STABLE)
        rate = RATE * (1 + math.cos(math.pi * step / steps)) / 2
        slopes = (slopes + rate * direction - back).clamp(-LARGEST, LARGEST)
    return best, farthest


def _level(point: _Point) -> tuple[Tensor, Tensor]:
    """Where to go (B, T): upwards, and near the border along it; and beyond it, the step back."""
    out = point.out
    size = out @ out.transpose(1, 2)  # (B, C, C)
    ridge = RIDGE * size.diagonal(dim1=1, dim2=2).sum(dim=1) + 1e-30
    inverse: Tensor = torch.linalg.inv(size + ridge[:, None, None] * torch.eye(size.shape[1], dtype=size.dtype))

    def lifted(shift: Tensor) -> Tensor:
        """The least change of slopes (B, T) that shifts the output so, (B, C, 1)."""
        return (out.transpose(1, 2) @ (inverse @ shift))[..., 0]

    along = lifted(out @ point.up[..., None])
    level = point.up - torch.where(point.moved > NEAR, along, 0.0)
    part = torch.where(point.moved > WITHIN, 1 - NEAR / point.moved.clamp(min=WITHIN), 0.0)
    back = lifted((part * point.shift)[..., None])
    return level, back * (BACK / back.abs().amax(dim=1, keepdim=True).clamp(min=BACK))


def _output(logits: Tensor) -> Tensor:
    """Probabilities (B, K), two classes of a single output."""
    if logits.shape[1] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], dim=1)
    return logits.softmax(dim=1)


def _divergence(other: Tensor, own: Tensor) -> Tensor:
    """Jensen-Shannon divergence of maps (B, T), (B,)."""

    def term(x: Tensor) -> Tensor:
        return x * (x + INSIDE).log()

    return ((term(other) + term(own)) / 2 - term((other + own) / 2)).sum(dim=1)
