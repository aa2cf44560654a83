"""Adversarial attention: the exact optimum against the paper's search, done plainly on hidden states with autograd; and
where there is no closed form, many instances at once against one after the other."""

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

import numpy as np
import torch
from scipy.special import expit, softmax
from torch import Tensor

from benchmarks.plain_adversary.many_classes import several_classes as plain_several_classes
from benchmarks.plain_adversary.tanh_decoders import beyond_affine as plain_beyond_affine
from benchmarks.report import Result
from heedful.evidence import Evidence
from heedful.experiments.adversaries.divergence import Found
from heedful.experiments.adversaries.paper_search import Objective
from heedful.experiments.adversary import adversary
from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.experiments.views import view_of
from heedful.measures import jsd
from heedful.ragged import Ragged, length_batches
from heedful.randomness import Stream, keys
from heedful.tanh_decoder import TanhDecoder

HIDDEN, BATCH, DISTRIBUTIONS, STEPS, EPSILON = 256, 32, 5, 500, 0.01


def adversary_result(name: str, evidence: Evidence, *, least: float = 200, every: int = 6) -> Result:
    """Time the exact answer for all instances, and the plain search on every so many batches of similar length.

    `evidence` has one output. Hidden states are made up so that the decoder gives its scores; the search is timed on
    one batch in `every`, short and long ones alike, and its time for all instances is in proportion.
    """
    margins, seed = AffineView.of(evidence), Stream(0, "adversary")
    batches = length_batches(evidence.weights.lengths, rows=BATCH)
    timed = batches[every // 2 :: every]
    plain_seconds, found = 0.0, []
    for rows in timed:
        states, decoder = hidden_states(margins.odds.take(rows))
        own = margins.weights.take(rows)
        start = 3 * seed.normal(
            keys(evidence.ids[row] for row in rows)[:, None, None],
            np.arange(DISTRIBUTIONS)[:, None],
            np.arange(states.shape[1]),
        )  # (B, k, T)
        started = time.perf_counter()
        attention = plain_search(states, decoder, *own.pad(), start)  # (B, k, T)
        plain_seconds += time.perf_counter() - started
        found.append(farthest(attention, own, margins.odds.take(rows)))
    rows = np.concatenate(timed)
    exact_seconds, frame = [], None
    for _ in range(3):
        started = time.perf_counter()
        frame = adversary(evidence, epsilon=EPSILON)
        exact_seconds.append(time.perf_counter() - started)
    assert frame is not None
    exact, plain = frame["jsd"].to_numpy()[rows], np.concatenate(found)
    if (plain > exact + 1e-6).any():
        raise AssertionError(f"{name}: the search beats the optimum by {(plain - exact).max()}")
    return Result(
        name=name,
        plain_seconds=plain_seconds * len(evidence) / len(rows),
        fast_seconds=median(exact_seconds),
        least=least,
        details={
            "instances": len(evidence),
            "instances the plain search was timed on": len(rows),
            "mean eps-max JSD of these, plain": float(plain.mean()),
            "mean eps-max JSD of these, exact": float(exact.mean()),
        },
    )


def sst_like_evidence() -> Evidence:
    """Random instances with the lengths of SST's test split, for machines that have no run on it."""
    draw = np.random.default_rng(0)
    lengths = np.clip(draw.normal(18, 8, size=1725).round(), 5, 50).astype(np.int64)
    weights = Ragged.from_rows([draw.dirichlet(np.ones(length)) for length in lengths], dtype=np.float32)
    scores = weights.like(draw.normal(0, 2, (len(weights.values), 1)).astype(np.float32))
    evidence = Evidence(
        ids=[f"i{row}" for row in range(len(lengths))],
        tokens=weights.like(np.full(len(weights.values), "w", dtype=object)),
        weights=weights,
        output=np.zeros((len(lengths), 1), dtype=np.float32),
        scores=scores,
        bias=np.zeros((len(lengths), 1), dtype=np.float32),
    )
    return Evidence.from_frame(evidence.to_frame().with_columns(output=evidence.decode(weights).astype(np.float32)))


def hidden_states(odds: Ragged) -> tuple[Tensor, Tensor]:
    """Random states (B, T, H) and a decoder (H,) that says of each item what `odds` do."""
    padded, _ = odds.pad()
    generator = torch.Generator().manual_seed(0)
    decoder = torch.randn(HIDDEN, generator=generator)
    states = torch.randn(*padded.shape, HIDDEN, generator=generator)
    missing = torch.from_numpy(padded.astype(np.float32)) - states @ decoder  # (B, T)
    return states + missing[..., None] * decoder / (decoder @ decoder), decoder


def plain_search(states: Tensor, decoder: Tensor, own: np.ndarray, real: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The paper's objective as one would first write it: every step decodes (B, k, T, H) products, with autograd."""
    objective = Objective.of("paper", epsilon=EPSILON, distributions=DISTRIBUTIONS, outputs=1)
    alpha = torch.from_numpy(own.astype(np.float32))[:, None]  # (B, 1, T)
    padding = torch.from_numpy(~real)[:, None]
    free = torch.from_numpy(start.astype(np.float32)).requires_grad_()
    adam = torch.optim.Adam([free], lr=0.01, amsgrad=True)

    def output(weights: Tensor) -> Tensor:
        return ((weights[..., None] * states[:, None]).sum(dim=2) @ decoder).sigmoid()  # (B, k)

    def divergence(p: Tensor, q: Tensor) -> Tensor:
        middle = (p + q) / 2
        log_middle = (middle + 1e-10).log()
        return (p * ((p + 1e-10).log() - log_middle) + q * ((q + 1e-10).log() - log_middle)).sum(dim=-1) / 2

    own_output = output(alpha)  # (B, 1)
    for _ in range(STEPS):
        attention = free.masked_fill(padding, -torch.inf).softmax(dim=-1)  # (B, k, T)
        over = ((output(attention) - own_output).abs() - objective.epsilon).relu()
        pairs = divergence(attention[:, :, None], attention[:, None]).sum() / 2  # (B, k, k), ordered
        loss = (objective.penalty * over - divergence(attention, alpha)).sum() - objective.diversity * pairs
        adam.zero_grad()
        loss.backward()
        adam.step()
    return free.detach().masked_fill(padding, -torch.inf).softmax(dim=-1).numpy().astype(np.float64)


def farthest(attention: np.ndarray, own: Ragged, odds: Ragged) -> np.ndarray:
    """The largest divergence among feasible distributions, the model's own included, (B,)."""
    said, real = odds.pad()
    outputs = expit((attention * said[:, None]).sum(axis=2))  # (B, k)
    feasible = np.abs(outputs - expit(odds.like(own.values * odds.values).sum())[:, None]) <= EPSILON
    columns = [jsd(own.like(attention[:, draw][real]), own) for draw in range(attention.shape[1])]
    return np.where(feasible, np.stack(columns, axis=1), 0.0).max(axis=1)


def batched_results() -> Iterator[Result]:
    """Tanh decoders and more than two classes, at the sizes of the papers' corpora; lengths vary by a third."""

    def lengths(mean: int, count: int) -> np.ndarray:
        return np.random.default_rng(mean).normal(mean, mean / 3, count).round().clip(mean // 4, 2 * mean).astype(int)

    evidence = {
        "SNLI-like (14 tokens, 3 classes), tanh decoder": features_like(lengths(14, 300), outputs=3, width=128),
        "bAbI-3-like (421 tokens, 36 classes), tanh decoder": features_like(lengths(421, 12), outputs=36, width=30),
        "CNN-like (760 tokens, 25 candidates), tanh decoder": features_like(lengths(760, 6), outputs=25, width=128),
        "AG-News-like (40 tokens, 4 classes)": scores_like(lengths(40, 150), outputs=4),
        "reviews (150 tokens, 5 classes)": scores_like(lengths(150, 40), outputs=5),
        "20-Newsgroups-like (200 tokens, 20 classes)": scores_like(lengths(200, 10), outputs=20),
    }
    for name, instances in evidence.items():
        yield batched_result(f"adversary, {name}, {len(instances)} instances together", instances, least=5)


def batched_result(name: str, evidence: Evidence, *, least: float, turns: int = 3) -> Result:
    """All instances together against one after the other, in turns; the best of each, in processor time."""
    plain_seconds, fast_seconds = [], []
    for _ in range(turns):
        started = time.process_time()
        frame = adversary(evidence, epsilon=EPSILON)
        fast_seconds.append(time.process_time() - started)
        started = time.process_time()
        found = plain_found(evidence, EPSILON)
        plain_seconds.append(time.process_time() - started)
    plain = jsd(found.weights, view_of(evidence).weights)
    gained = frame["jsd"].to_numpy() - plain
    if frame["tvd"].max() > EPSILON + 1e-9 or gained.mean() < -1e-4:
        raise AssertionError(f"{name}: not feasible, or {-gained.mean()} less than plainly in the mean")
    return Result(
        name=name,
        plain_seconds=min(plain_seconds),
        fast_seconds=min(fast_seconds),
        least=least,
        details={
            "mean eps-max JSD, plain": float(plain.mean()),
            "mean eps-max JSD, heedful": float(frame["jsd"].mean()),
            "largest loss": float(max(0.0, -gained.min())),
            "share that loses more than 0.001": float((gained < -1e-3).mean()),
            "share that gains more than 0.001": float((gained > 1e-3).mean()),
        },
    )


def plain_found(evidence: Evidence, epsilon: float) -> Found:
    """One instance after the other."""
    view, stream, instances = view_of(evidence), Stream(0, "adversary"), keys(evidence.ids)
    if isinstance(view, TanhView):
        return plain_beyond_affine(view, epsilon, stream, instances, distributions=DISTRIBUTIONS, steps=STEPS)
    return plain_several_classes(view, epsilon, stream, instances)


def features_like(lengths: np.ndarray, *, outputs: int, width: int, sharpness: float = 1.5, seed: int = 0) -> Evidence:
    """Random instances of a tanh decoder: attention logits and features are normal, outputs neither sure nor flat."""
    draw = np.random.default_rng(seed)
    plain = _attended(draw, lengths, outputs, sharpness)
    weight = draw.normal(0, 3 / np.sqrt(width), (outputs, width)).astype(np.float32)
    evidence = replace(
        plain,
        features=plain.weights.like(draw.normal(size=(len(plain.weights.values), width)).astype(np.float32)),
        context=draw.normal(0, 0.7, (len(plain), width)).astype(np.float32),
        decoder=TanhDecoder(weight, draw.normal(0, 0.3, outputs).astype(np.float32)),
    )
    return replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))


def scores_like(lengths: np.ndarray, *, outputs: int, sharpness: float = 1.5, seed: int = 0) -> Evidence:
    """Random instances of an affine decoder."""
    draw = np.random.default_rng(seed)
    plain = _attended(draw, lengths, outputs, sharpness)
    scores = plain.weights.like(draw.normal(0, 2, (len(plain.weights.values), outputs)).astype(np.float32))
    evidence = replace(plain, scores=scores, bias=np.zeros((len(plain), outputs), dtype=np.float32))
    return replace(evidence, output=evidence.decode(evidence.weights).astype(np.float32))


def _attended(draw: np.random.Generator, lengths: np.ndarray, outputs: int, sharpness: float) -> Evidence:
    weights = Ragged.from_rows([softmax(sharpness * draw.normal(size=n)) for n in lengths], dtype=np.float32)
    return Evidence(
        ids=[f"i{row}" for row in range(len(lengths))],
        tokens=weights.like(np.full(len(weights.values), "w", dtype=object)),
        weights=weights,
        output=np.zeros((len(lengths), outputs), dtype=np.float32),
    )
