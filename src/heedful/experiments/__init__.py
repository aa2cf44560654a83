"""Experiments: evidence in, a frame with one row an instance out. No model, no torch."""

from collections.abc import Callable
from functools import partial

import polars as pl

from heedful.experiments.adversary import adversary
from heedful.experiments.adversary_scores import adversary_scores
from heedful.experiments.claims import claims
from heedful.experiments.correlation import correlation
from heedful.experiments.curves import curves
from heedful.experiments.erasure_scores import erasure_scores
from heedful.experiments.estimates import Estimate, estimates
from heedful.experiments.flip_table import flip_table
from heedful.experiments.never_flipped import never_flipped
from heedful.experiments.permutation import permutation
from heedful.experiments.reach import reach
from heedful.experiments.removal import removal
from heedful.experiments.removal_curve import removal_curve
from heedful.experiments.removal_scores import removal_scores
from heedful.experiments.removal_wins import removal_wins
from heedful.experiments.single_weight import single_weight
from heedful.experiments.substitution import substitution
from heedful.experiments.substitution_scores import substitution_scores
from heedful.experiments.summary import summary
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
