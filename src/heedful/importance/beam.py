"""Beam search for the sets of items that do most: those that a ranking of items could at best have found."""

from collections.abc import Callable, Sequence

import numpy as np

from heedful.ragged import Flags, Floats, Indices

BEAM = 2  # sets that the search goes on with
CANDIDATES = 24  # items that it tries to add to a set
ROUNDS = 6  # in which it adds items: several at a time if there are many

Score = Callable[[Indices, Flags], Floats]  # of sets of items (M, T) of texts (M,): the larger the better


def best_sets(score: Score, lengths: Indices, sizes: Indices, others: Sequence[Flags]) -> Flags:
    """The best sets found of `sizes` (n, L) among `lengths` (n,) items, as flags (n, L, T): by adding items to the best
    sets so far, or among `others` (n, L, T) each. Texts do not depend on one another."""
    width = int(lengths.max(initial=1))
    found = _Found(sizes, width)
    every = np.arange(len(lengths))
    for sets in others:
        rows = np.repeat(every, sets.shape[1])
        flat = sets.reshape(len(rows), sets.shape[-1])
        found.offer(rows, flat, score(rows, flat))
    beams = [np.zeros((1, width), dtype=bool) for _ in every]
    order = [np.arange(length) for length in lengths]  # items, those that do most alone first
    most = width  # items tried with each set: all with the empty one
    for target in _targets(sizes):
        growing = [row for row in every if beams[row][0].sum() < target[row]]
        if not growing:
            continue
        pairs = [
            (row, state, item)
            for row in growing
            for state in range(len(beams[row]))
            for item in order[row][~beams[row][state][order[row]]][:most]
        ]
        rows, states, items = (np.array(each) for each in zip(*pairs, strict=True))
        sets = np.stack([beams[row][state] for row, state in zip(rows, states, strict=True)])
        sets[np.arange(len(sets)), items] = True
        scores = score(rows, sets)
        found.offer(rows, sets, scores)
        for row, own in zip(growing, np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rows)) + 1), strict=True):
            first = own[np.argsort(-scores[own], kind="stable")]
            if not beams[row].any():
                order[row] = items[first]
            step = int(target[row] - beams[row][0].sum())
            beams[row] = _grown(beams[row], states[first], items[first], order[row], step)
        most = CANDIDATES
        rows = np.repeat(growing, [len(beams[row]) for row in growing])
        sets = np.concatenate([beams[row] for row in growing])
        found.offer(rows, sets, score(rows, sets))
    return found.sets


class _Found:
    """The best sets so far."""

    def __init__(self, sizes: Indices, width: int) -> None:
        self.sizes = sizes  # (n, L)
        self.sets = np.zeros((*sizes.shape, width), dtype=bool)
        self.scores = np.full(sizes.shape, -np.inf)

    def offer(self, rows: Indices, sets: Flags, scores: Floats) -> None:
        """Keep the sets (M, T) of texts (M,) that are of a size asked for, and better than the ones before."""
        counts = sets.sum(axis=1)
        for level in range(self.sizes.shape[1]):
            for place in np.flatnonzero((counts == self.sizes[rows, level]) & (scores > self.scores[rows, level])):
                if scores[place] > self.scores[rows[place], level]:
                    self.scores[rows[place], level], self.sets[rows[place], level] = scores[place], sets[place]


def _targets(sizes: Indices) -> list[Indices]:
    """How many items are chosen after each round, (n,) each: the search halts at every size that is asked for."""
    rounds: list[list[int]] = []
    for row in sizes:
        stops = {int(size) for size in row}
        step = max(1, -(-int(row.max()) // ROUNDS))
        stops |= set(range(step, int(row.max()) + 1, step))
        rounds.append(sorted(stops))
    longest = max((len(row) for row in rounds), default=0)
    return [np.array([row[min(count, len(row) - 1)] for row in rounds]) for count in range(longest)]


def _grown(beam: Flags, states: Indices, items: Indices, order: Indices, step: int) -> Flags:
    """The sets to go on with, from single additions, the best first: the best ones or, if several items are added at a
    time, each set with the items that add most to it, and then those that do most alone."""
    sets: list[Flags] = []
    if step == 1:
        for state, item in zip(states, items, strict=True):
            grown = beam[state].copy()
            grown[item] = True
            if not any((grown == each).all() for each in sets):
                sets.append(grown)
            if len(sets) == BEAM:
                break
        return np.stack(sets)
    for state, chosen in enumerate(beam):
        wanted = dict.fromkeys([*items[states == state].tolist(), *order[~chosen[order]].tolist()])
        grown = chosen.copy()
        grown[list(wanted)[:step]] = True
        sets.append(grown)
    return np.stack(sets)
