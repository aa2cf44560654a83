"""Settings of planted subjects: those that thresholds are fixed on, and others that they are tested on.

No length, noise, encoder, number of classes beyond two, blur or seed of one set is in the other.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from benchmarks.calibration.planted import UNFAITHFUL, Plan

INSTANCES = 60  # texts of a subject: fewer than an audit's sample, so intervals are wider than they will be


class Setting(NamedTuple):
    """A plan, and how much comes through attention in the faithful subject and in the others."""

    plan: Plan
    most: float
    least: float


FIXED = (
    Setting(Plan(encoder="none", length=12, noise=0.1, blur=0.4, deciding=2, sure=2.0), 1.0, 0.05),
    Setting(Plan(encoder="none", length=24, noise=0.2, blur=0.8, deciding=4, sure=4.0), 0.7, 0.3),
    Setting(Plan(encoder="window", length=24, noise=0.1, blur=0.8, deciding=2, sure=3.0), 0.6, 0.2),
    Setting(Plan(encoder="window", length=44, noise=0.2, blur=0.4, deciding=4, classes=3, sure=2.0), 0.8, 0.1),
    Setting(Plan(encoder="average", length=12, noise=0.1, blur=0.8, deciding=2, contrary=0.3, sure=4.0), 0.8, 0.3),
    Setting(Plan(encoder="average", length=44, noise=0.1, blur=0.4, deciding=4, sure=3.0), 0.6, 0.1),
)
UNSEEN = (
    Setting(Plan(encoder="recurrent", length=16, noise=0.15, blur=0.6, deciding=3, sure=1.5), 0.65, 0.15),
    Setting(Plan(encoder="recurrent", length=34, noise=0.25, blur=1.0, deciding=2, classes=4, sure=3.5), 0.9, 0.25),
    Setting(Plan(encoder="selective", length=16, noise=0.25, blur=1.0, deciding=2, contrary=0.2, sure=2.5), 0.75, 0.25),
    Setting(Plan(encoder="selective", length=34, noise=0.15, blur=0.6, deciding=5, sure=3.5), 0.65, 0.0),
)
FIXED_SEEDS = {True: range(6), False: range(2)}  # faithful or not
UNSEEN_SEEDS = {True: range(100, 120), False: range(100, 110)}
STEPS = tuple(step / 10 for step in range(11))  # from a head that attention does not reach to one that knows no more
STEP_SEEDS = range(200, 205)


def plans(settings: tuple[Setting, ...], seeds: dict[bool, range]) -> Iterator[Plan]:
    """Every setting with every kind of attention and every seed."""
    for plan, most, least in settings:
        for kind in ("faithful", *UNFAITHFUL):
            faithful = kind == "faithful"
            through = most if kind in ("faithful", "shifted") else least
            for seed in seeds[faithful]:
                yield replace(plan, kind=kind, through=through, seed=seed, instances=INSTANCES)


def steps() -> Iterator[Plan]:
    """One subject with right attention, from unused to all that is used."""
    for through in STEPS:
        for seed in STEP_SEEDS:
            plan = Plan(encoder="selective", length=20, noise=0.15, deciding=3)
            yield replace(plan, through=through, seed=seed, instances=INSTANCES)
