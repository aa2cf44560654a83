"""More than two classes, or a decoder that is not affine: the farthest attention that a search finds.

Among distributions with one output, those on few items hold one that diverges most: on at most as many as there are
classes if the decoder is affine. So the search goes over vertices. Linear programs whose costs favour items of little
weight, differently in each try, end at some of them (`programs`); from there it climbs to neighbouring vertices that
diverge more. If the decoder is not affine, its tangent takes its place, and is taken anew where the programs end, until
what they end at is true: at first at the model's own attention in some tries, anywhere in the others. Then the ball
that programs kept to is widened, or narrowed, until the output moves by epsilon.

Few items for many classes leave no vertices to choose from but a small, curved body around the model's attention. There
random rays, and climbs from their ends, go on. Whatever is returned was decoded and found feasible.
"""

import numpy as np

from heedful.experiments.adversaries.blocks import Block, blocks
from heedful.experiments.adversaries.divergence import HALF, PROVEN, Found, phi
from heedful.experiments.adversaries.programs import Ball, Programs, solve
from heedful.experiments.adversaries.rays import Lines, last_feasible
from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.ragged import Flags, Floats, Keys
from heedful.randomness import Stream

LIGHT = 1e-4  # a weight: lighter items have its slope
TIGHT = 2  # items a class: so few are held near the model's attention, and every direction is worth a try
TANGENTS = 6  # of a decoder that is not affine
SETTLING = 2  # the last of these, in which programs do not climb
STEPS, BENT_STEPS = 10, 2  # of a climb over vertices
KEEP = 0.3  # times its cost: what an item of the last tangent's vertex costs at the next
SPREAD = 2.0  # standard deviation of the logits of random starts
OWN = 4  # one try in so many starts at the model's own attention
INSIDE = 0.98  # of epsilon, at which programs aim if the decoder bends: the tangent does not
ROUNDING = 1 - 1e-9
WIDEST = 0.5  # by which the ball is widened, as a share of it


def farthest_found(
    view: AffineView | TanhView, upper: Floats, epsilon: float, stream: Stream, instances: Keys
) -> Found:
    """The best attention found for each instance, where `upper` (n,) is not reached by a single item."""
    found = view.weights.like(view.weights.values.copy())
    every = np.arange(len(upper))
    for rows, block in blocks(view, instances, every):
        best = _search(block, upper[rows], Lines(block, epsilon, stream))
        found.values[found.cells(rows)] = best[block.real]
    return Found(found, upper)


def _search(block: Block, upper: Floats, lines: Lines) -> Floats:
    """The best attention of each instance, (B, T)."""
    best, reached = _single_items(block, lines)
    rest = np.flatnonzero(upper - reached > PROVEN)
    if len(rest):
        part = lines if len(rest) == len(upper) else lines.take(rest)
        points = _vertices(part)
        if block.shape.items <= TIGHT * block.shape.classes:
            cloud = part.random_rays()
            corners = part.outwards(np.broadcast_to(np.eye(block.shape.items), (len(rest), *[block.shape.items] * 2)))
            points = np.concatenate([points, corners, cloud, part.outwards(points)], axis=1)
            points = part.feasible_or_own(points)
            points = np.concatenate([points, part.climb(points, cloud)], axis=1)
        points = part.feasible_or_own(points)
        divergence = part.block.divergences(points)
        top = divergence.argmax(axis=1)
        farther = divergence.max(axis=1) > reached[rest]
        best[rest[farther]] = points[np.arange(len(rest)), top][farther]
    return best


def _single_items(block: Block, lines: Lines) -> tuple[Floats, Floats]:
    """All weight on the lightest item that alone gives the same output, else the model's own attention; and how far
    that is."""
    alone = block.distances(block.vectors, lines.output) <= lines.epsilon
    light = np.where(alone & block.real, block.weights, np.inf)
    least = light.min(axis=1)
    some = np.isfinite(least)
    item = np.arange(block.shape.items) == light.argmin(axis=1)[:, None]
    best = np.where(some[:, None], item.astype(np.float64), block.weights)
    return best, np.where(some, HALF + phi(1.0, np.where(some, least, 1.0)), 0.0)


def _vertices(lines: Lines) -> Floats:
    """What linear programs end at, (B, R, T), feasible or not."""
    block = lines.block
    count, items, tries = len(block.keys), block.shape.items, block.shape.tries
    noise = lines.draw(0, 2 * tries, items)
    costs = far_costs(block.weights[:, None], noise[:, :tries])
    if items <= TIGHT * block.shape.classes and not block.bent:
        costs[:, tries // 2 :] = near_costs(block.weights[:, None], noise[:, tries // 2 : tries])
    costs = np.where(block.real[:, None], costs, np.inf).reshape(count * tries, items)
    here = np.broadcast_to(block.weights[:, None], (count, tries, items)).copy()
    if block.bent:
        starts = np.exp(SPREAD * noise[:, tries:]) * block.real[:, None]
        starts[:, ::2] *= block.weights[:, None]
        away = np.arange(tries) % OWN != 0
        here[:, away] = (starts / starts.sum(axis=-1, keepdims=True))[:, away]
    row = np.repeat(np.arange(count), tries)
    log_output, kept, weights = block.log_output[row], block.kept[row], block.weights[row]
    ball = Ball(lines.epsilon * (INSIDE if block.bent else ROUNDING), np.arange(count * tries) % tries % 2 == 1)
    found, last = [], TANGENTS if block.bent else 1
    held = np.ones_like(costs)
    for tangent in range(1, last + 1):
        logits = block.item_logits(here).reshape(count * tries, items, -1)
        programs = solve(logits, log_output, kept, weights, costs * held, ball)
        if not block.bent or tangent <= last - SETTLING:
            programs.climb(BENT_STEPS if block.bent else STEPS)
        points = programs.points()
        here = np.where(programs.solved.reshape(count, tries, 1), points.reshape(here.shape), here)
        held = np.where(points > 0, KEEP, 1.0)
        if tangent > last - SETTLING:
            found += [here, _widened(lines, programs)]
    return np.concatenate(found, axis=1)


def far_costs(weights: Floats, noise: Floats) -> Floats:
    """What items of these weights (..., T) fall short of log 2, perturbed by standard normal noise; the first try has
    none."""
    first = np.arange(noise.shape[-2])[:, None] == 0
    return np.asarray((HALF - phi(1.0, weights)) * np.where(first, 1.0, np.exp(noise / 2)))


def near_costs(weights: Floats, noise: Floats) -> Floats:
    """In any direction, by standard normal noise: slopes of the divergence near weights (..., T)."""
    return np.asarray(noise / np.sqrt(np.maximum(weights, LIGHT)))


def _widened(lines: Lines, programs: Programs) -> Floats:
    """Where the ball is as wide as the output allows, (B, R, T): the basis stays."""
    values, ways = programs.wider()  # (P, M)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(ways < 0, values / -ways, np.inf).min(axis=1)
        least = -np.where(ways > 0, values / ways, np.inf).min(axis=1)
    shape = (len(lines.block.keys), -1)
    low, high = np.maximum(least, -1.0).reshape(shape), np.minimum(most, WIDEST).reshape(shape)

    def points(part: Floats) -> Floats:
        return programs.points(values + part.reshape(-1, 1) * ways).reshape(*low.shape, programs.items)

    return points(last_feasible(lambda part: lines.excess(points(part)), low, high))
