"""Experiments: evidence in, a frame with one row an instance out. No model, no torch."""

from collections.abc import Callable
from functools import partial

import polars as pl

from heedful.experiments.adversary import adversary, adversary_scores
from heedful.experiments.correlation import correlation
from heedful.experiments.curves import curves, removal_curve
from heedful.experiments.permutation import permutation
from heedful.experiments.reach import reach
from heedful.experiments.removal import removal
from heedful.experiments.removal_scores import claims, never_flipped, removal_scores, removal_wins
from heedful.experiments.single_weight import flip_table, single_weight
from heedful.experiments.substitution import substitution, substitution_scores
from heedful.experiments.summary import Estimate, erasure_scores, estimates, summary
from heedful.experiments.truth import truth
from heedful.experiments.violation import violation

__all__ = [
    "EXPERIMENTS",
    "Estimate",
    "adversary",
    "adversary_scores",
    "claims",
    "correlation",
    "curves",
    "erasure_scores",
    "estimates",
    "flip_table",
    "never_flipped",
    "permutation",
    "reach",
    "removal",
    "removal_curve",
    "removal_scores",
    "removal_wins",
    "single_weight",
    "substitution",
    "substitution_scores",
    "summary",
    "truth",
    "violation",
]

# every experiment by its name; `correlation` takes importance beside evidence
EXPERIMENTS: dict[str, Callable[..., pl.DataFrame]] = {
    "correlation": correlation,
    "permutation": permutation,
    "adversary": adversary,
    "adversary_search": partial(adversary, method="search"),
    "reach": reach,
    "substitution": substitution,
    "violation": violation,
    "single_weight": single_weight,
    "removal": removal,
    "curves": curves,
    "truth": truth,
}


ERASURE = "erasure"
EXPERIMENT_NAMES = (*EXPERIMENTS, ERASURE)
