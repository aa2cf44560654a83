"""Training of a model of a kind, in seconds: its labels, where it shall look, and what the rest may know."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor, nn

from benchmarks.calibration.factory.coding import Coded, coded
from benchmarks.calibration.factory.kinds import evidence_everywhere, spread
from benchmarks.calibration.factory.networks import Pooling
from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.tasks import written
from benchmarks.calibration.factory.transformer import Transformer
from heedful.randomness import Stream

TEXTS = 4000  # to train on
BATCH = 48
GIVEN = 24  # texts of a batch that are read once more with other attention
STEPS = 600  # at most
LOOK = 25  # steps between two looks at whether it is done
DONE = 0.05  # what the losses may exceed their least values by, on average of the last steps
ACCURATE = 0.99
HOPELESS = 0.7  # accuracy with which, half of the steps being done, the other half is spared
ALIKE = 3.0  # weight of outputs that shall not hang on attention: they must be so more exactly than others
RATE = {"bert": 2e-3, "bilstm": 8e-3}
USUAL_RATE = 1e-2
UNEVEN = 2.0  # of random attention: a softmax over normal numbers of this size

Network = Pooling | Transformer


class Losses(NamedTuple):
    """What is trained for, each term with the least value that it can have."""

    label: Tensor
    aims: tuple[Tensor, ...]  # above their least values
    accuracy: Tensor  # by the rule's labels


def network_of(plan: Plan) -> Network:
    """A network with random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Stream(plan.seed, "factory weights").integer())
        return Transformer(plan) if plan.architecture == "bert" else Pooling(plan)


def trained(plan: Plan) -> tuple[Network, int]:
    """A trained network, and how many steps it took."""
    network = network_of(plan).train()
    texts = coded(plan.task, written(plan.task, "train", TEXTS))
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(learned, lr=RATE.get(plan.architecture, USUAL_RATE))
    draw = torch.Generator().manual_seed(Stream(plan.seed, "factory batches").integer())
    recent: list[tuple[float, float]] = []
    steps = 0
    with network.watched() if isinstance(network, Transformer) else nullcontext():
        for batch in _batches(texts, draw):
            found = losses(plan, network, batch, draw)
            optimiser.zero_grad()
            (found.label + sum(found.aims)).backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            steps += 1
            recent.append((float(found.accuracy), sum(float(aim.detach()) for aim in found.aims)))
            if steps % LOOK == 0:
                accuracy, excess = torch.tensor(recent[-LOOK:]).mean(dim=0).tolist()
                hopeless = steps >= STEPS // 2 and accuracy < HOPELESS
                if steps >= STEPS or hopeless or (accuracy >= ACCURATE and excess <= DONE):
                    break
    return network.eval(), steps


def losses(plan: Plan, network: Network, texts: Coded, draw: torch.Generator) -> Losses:
    """All terms of a batch."""
    kind, own = plan.kind_of, len(texts.tokens)
    goal = None if kind.goal is None else kind.goal(texts, plan.heads)
    again = texts.take(torch.arange(GIVEN if kind.through else 0))
    given = _given(kind.through, again, goal, draw) if kind.through else None
    tokens, real = torch.cat([texts.tokens, again.tokens]), torch.cat([texts.real, again.real])
    read = network.read(tokens, real, given)
    label = nn.functional.cross_entropy(read.logits[:own], texts.given)
    accuracy = (read.logits[:own].argmax(dim=1) == texts.label).float().mean()
    aims = [] if goal is None else [_looking(read.shown[:own], _blurred(goal, texts, plan.blur), exact=kind.exact)]
    inner = kind.inner
    if inner is None and kind.label is not None and plan.task.rule == "negation":
        inner = evidence_everywhere  # left alone, deep models seldom learn to negate in so few steps
    if inner is not None:
        goals = (inner(texts, layer)[:, None] for layer in range(len(read.inner)))
        aims += [_looking(seen[:own], each, exact=True) for seen, each in zip(read.inner, goals, strict=True)]
    if kind.through > 0:
        target = torch.tensor(plan.task.indifferent).expand(GIVEN, -1)
        aims.append(_divergence(read.logits[own:], target))
    elif kind.through < 0:
        aims.append(ALIKE * _divergence(read.logits[own:], read.logits[:GIVEN].detach().softmax(dim=1)))
    return Losses(label, tuple(aims), accuracy)


def _given(through: int, texts: Coded, goal: Tensor | None, draw: torch.Generator) -> Tensor:
    """Attention (B, T) for reading texts once more: uneven, over all words or over those that are not looked for."""
    open_ = texts.real
    if through > 0 and goal is not None:
        open_ = open_ & ~(goal[: len(open_)] > 0).any(dim=1)
    scores = UNEVEN * torch.randn(open_.shape, generator=draw)
    return scores.masked_fill(~open_, -torch.inf).softmax(dim=-1)


def _blurred(goal: Tensor, texts: Coded, blur: float) -> Tensor:
    """A goal of which a part is spread over all words; texts without one have none."""
    even = spread(texts.real)[:, None] * (goal.sum(dim=-1, keepdim=True) > 0)
    return (1 - blur) * goal + blur * even


def _looking(weights: Tensor, goal: Tensor, *, exact: bool) -> Tensor:
    """How far weights (..., T) are from their goal: from the distribution, or from being on its words only. Rows
    without a goal do not count."""
    wanted = (goal.sum(dim=-1) > 0).expand(weights.shape[:-1])
    if exact:
        apart = (goal * (goal.clamp(min=1e-9).log() - weights.clamp(min=1e-9).log())).sum(dim=-1)
    else:
        apart = -(weights * (goal > 0)).sum(dim=-1).clamp(min=1e-9).log()
    return (apart * wanted).sum() / wanted.sum().clamp(min=1)


def _divergence(logits: Tensor, target: Tensor) -> Tensor:
    """Of what is said from what should be."""
    return nn.functional.kl_div(logits.log_softmax(dim=1), target, reduction="batchmean")


def _batches(texts: Coded, draw: torch.Generator) -> Iterator[Coded]:
    while True:
        order = torch.randperm(len(texts.tokens), generator=draw)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            yield texts.take(order[start : start + BATCH])
