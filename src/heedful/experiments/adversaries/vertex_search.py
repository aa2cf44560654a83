"""More than two classes, or a decoder that is not affine: the farthest attention that a search finds.

Among distributions with one output, those on few items hold one that diverges most: on at most as many as there are
classes if the decoder is affine. So the search goes over vertices. Linear programs whose costs favour items of little
weight, differently in each try, end at some of them (`programs`); from there it climbs to neighbouring vertices that
diverge more. If the decoder is not affine, its tangent takes its place, and is taken anew where the programs end, until
what they end at is true: at first at the model's own attention in some tries, anywhere in the others. Then the ball
that programs kept to is widened, or narrowed, until the output moves by epsilon. Pairs of items are tried one by one
if the decoder is affine (`pairs`).

Few items for many classes leave no vertices to choose from but a small, curved body around the model's attention. There
random rays, and climbs from their ends, go on. Whatever is returned was decoded and found feasible.
"""

import numpy as np

from heedful.evidence import probabilities
from heedful.experiments.adversaries.blocks import blocks
from heedful.experiments.adversaries.divergence import HALF, PROVEN, Found, phi
from heedful.experiments.adversaries.pairs import best_pairs
from heedful.experiments.adversaries.programs import Ball, Programs, Setting, solve
from heedful.experiments.adversaries.rays import Lines, last_feasible, simplex
from heedful.experiments.affine_view import AffineView
from heedful.experiments.tanh_view import TanhView
from heedful.measures import tvd
from heedful.ragged import Floats, Keys, Ragged
from heedful.randomness import Stream

CORNERS = 128  # items towards which rays lead, the lightest
PAIRED = 5  # classes: of more, two items rarely give the same output
LIGHT = 1e-4  # a weight: lighter items have its slope
FAR = 0.15  # from the bound: hard instances are searched again, with more of everything
TANGENTS, HARD_TANGENTS = 4, 8  # of a decoder that is not affine, for every try, and some more for
BEST = 2  # of the tries of an instance
STEPS, BENT_STEPS = 10, 4  # of a climb over vertices, and where a tangent is not good for many
KEEP, HARD_KEEP = 0.3, 0.1  # times its cost: what an item of the last tangent's vertex costs at the next
SPREAD = 2.0  # standard deviation of the logits of random starts
OWN = 4  # one try in so many starts near the model's own attention
INSIDE = 0.98  # of epsilon, at which programs aim if the decoder bends: the tangent does not
ROUNDING = 1 - 1e-9
WIDEST = 0.5  # by which the ball is widened, as a share of it


def farthest_found(
    view: AffineView | TanhView, upper: Floats, epsilon: float, stream: Stream, instances: Keys
) -> Found:
    """The best attention found for each instance, of which none exceeds `upper` (n,)."""
    found, reached = _single_items(view, epsilon)
    for hard in (False, True):
        wanted = upper - reached > (FAR if hard else PROVEN)
        for rows, block in blocks(view, instances, np.flatnonzero(wanted), hard=hard):
            if hard and block.shape._replace(hard=False).tight:
                continue
            lines = Lines(block, epsilon, stream)
            points = _search(lines)
            divergence = np.where(lines.excess(points) <= 0, block.divergences(points), -np.inf)
            better = divergence.max(axis=1) > reached[rows]
            best = np.take_along_axis(points, divergence.argmax(axis=1)[:, None, None], axis=1)[:, 0]  # (B, T)
            reached[rows[better]] = divergence.max(axis=1)[better]
            found.values[found.cells(rows[better])] = 0.0
            some = block.real & better[:, None]
            found.values[(found.offsets[rows, None] + block.items)[some]] = best[some]
    return Found(found, upper)


def _single_items(view: AffineView | TanhView, epsilon: float) -> tuple[Ragged, Floats]:
    """All weight on the lightest item that alone gives the same output, else the model's own attention; and how far
    that is, (n,)."""
    own = view.weights
    alone = probabilities(view.decode_single(np.arange(len(own.values))).logits)
    feasible = tvd(alone, view.output[own.row_of_value]) <= epsilon  # (N,)
    best = own.like(np.where(feasible, -own.values, -np.inf)).argmax()  # (n,)
    chosen = feasible[best]
    values = np.where(chosen[own.row_of_value], 0.0, own.values)
    values[best[chosen]] = 1.0
    return own.like(values), np.where(chosen, HALF + phi(1.0, own.values[best]), 0.0)


def _search(lines: Lines) -> Floats:
    """Attention that may be far away, (B, R, T), feasible or not."""
    points, block = _vertices(lines), lines.block
    if not block.shape.tight:
        return points
    cloud = lines.random_rays()
    lightest = np.where(block.real, block.weights, np.inf).argsort(axis=1, kind="stable")[:, :CORNERS]
    items = (lightest[:, :, None] == np.arange(block.shape.items)) & block.real[:, None]
    ends = lines.outwards(np.concatenate([simplex(items, block.weights[:, None]), points], axis=1))
    points = lines.feasible_or_own(np.concatenate([points, ends, cloud], axis=1))
    return np.concatenate([points, lines.climb(points, cloud)], axis=1)


def _vertices(lines: Lines) -> Floats:
    """What linear programs end at, (B, R, T), feasible or not."""
    block, tries = lines.block, lines.block.shape.tries
    number = np.arange(tries)[:, None] + (tries if block.shape.hard else 0)
    noise = lines.stream.normal(block.keys[:, None, None], number, block.items[:, None])  # (B, R, T)
    costs = far_costs(block.weights[:, None], noise)
    if block.shape.bent:
        starts = np.exp(np.where(number % OWN, -SPREAD, 0.0) * noise)  # mostly where it is cheap
        starts *= np.where(number % 2, block.real[:, None], block.weights[:, None])
        starts = simplex(starts, block.real[:, None] / block.real.sum(axis=1)[:, None, None])
        tangents = HARD_TANGENTS if block.shape.hard else TANGENTS
        found = _along_tangents(lines, costs, starts, tangents, climb_at=(2,), steps=BENT_STEPS)
        reached = np.where(lines.excess(found[0]) <= 0, block.divergences(found[0]), -np.inf)
        best = np.argsort(-reached, axis=1, kind="stable")[:, :BEST, None]
        costs, starts = (np.take_along_axis(each, best, axis=1) for each in (costs, found[0]))
        every = tuple(range(TANGENTS))
        found += _along_tangents(lines, costs, starts, TANGENTS, climb_at=(1, 3), steps=BENT_STEPS, widen_at=every)
    else:
        if block.shape.tight:
            costs = np.where(number % 2 == 0, costs, near_costs(block.weights[:, None], noise))
        found = _along_tangents(lines, costs, np.zeros_like(costs), 1, climb_at=(1,), steps=STEPS)
        if block.shape.hard or block.shape.classes <= PAIRED:
            found.append(lines.feasible_or_own(best_pairs(block, lines.epsilon)))
    return np.concatenate(found, axis=1)


def _along_tangents(
    lines: Lines,
    costs: Floats,
    starts: Floats,
    tangents: int,
    *,
    climb_at: tuple[int, ...],
    steps: int,
    widen_at: tuple[int, ...] = (),
) -> list[Floats]:
    """Solve programs with costs (B, R, T), and again with the decoder's tangent where they end, so many times; at some
    tangents so many steps of a climb follow. What they end at, in the ball that is as wide as it may be: at some
    tangents, and at the last."""
    block, (count, tries, items) = lines.block, starts.shape
    costs = np.where(block.real[:, None], costs, np.inf).reshape(count * tries, items)
    row, held, found = np.repeat(np.arange(count), tries), np.ones_like(costs), []
    ball = Ball(lines.epsilon * (INSIDE if block.shape.bent else ROUNDING), np.arange(count * tries) % tries % 2 == 1)
    setting, programs = Setting(block.log_output[row], block.kept[row], block.weights[row], ball), None
    for tangent in range(1, tangents + 1):
        logits = block.item_logits(starts).reshape(count * tries, items, -1)
        programs = solve(logits, costs * held, setting, programs)
        if tangent in climb_at:
            programs.climb(steps)
        points = programs.points()
        nearer = (starts + block.weights[:, None]) / (1 + block.weights.sum(axis=1)[:, None, None])
        # from near the model's own attention the ball is in reach
        starts = np.where(programs.solved.reshape(count, tries, 1), points.reshape(starts.shape), nearer)
        held = np.where(points > 0, HARD_KEEP if block.shape.hard else KEEP, 1.0)
        if tangent == tangents or tangent in widen_at:
            found.append(_widened(lines, programs))
    return found


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
