"""Experiments: evidence in, a frame with one row an instance out. No model, no torch."""

from collections.abc import Callable
from functools import partial

import polars as pl

from heedful.experiments.adversary import adversary
from heedful.experiments.correlation import correlation
from heedful.experiments.permutation import permutation
from heedful.experiments.reach import reach
from heedful.experiments.substitution import substitution, substitution_scores
from heedful.experiments.summary import summary
from heedful.experiments.truth import truth
from heedful.experiments.violation import violation

__all__ = [
    "EXPERIMENTS",
    "adversary",
    "correlation",
    "permutation",
    "reach",
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
    "truth": truth,
}
