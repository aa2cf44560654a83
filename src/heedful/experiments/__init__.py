"""Experiments: evidence in, a frame with one row an instance out. No model, no torch.

A new experiment is a file that declares an `Experiment`, and a line below.
"""

from importlib import import_module

from heedful.experiments.adversary import adversary, adversary_scores
from heedful.experiments.correlation import correlation
from heedful.experiments.curves import curves, removal_curve
from heedful.experiments.erasure import erasure_scores
from heedful.experiments.experiment import Experiment
from heedful.experiments.permutation import permutation
from heedful.experiments.reach import reach
from heedful.experiments.removal import removal
from heedful.experiments.removal_scores import claims, never_flipped, removal_scores, removal_wins
from heedful.experiments.single_weight import flip_table, single_weight
from heedful.experiments.substitution import substitution, substitution_scores
from heedful.experiments.summary import Estimate, estimates, summary
from heedful.experiments.truth import truth
from heedful.experiments.violation import violation

__all__ = [
    "EXPERIMENTS",
    "EXPERIMENT_NAMES",
    "Estimate",
    "Experiment",
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

# one line an experiment: module and descriptor, in the order in which runs perform them
_DECLARED = (
    "correlation.CORRELATION",  # takes importance beside evidence
    "permutation.PERMUTATION",
    "adversary.ADVERSARY",
    "adversary.ADVERSARY_SEARCH",
    "reach.REACH",
    "substitution.SUBSTITUTION",
    "violation.VIOLATION",
    "single_weight.SINGLE_WEIGHT",
    "removal.REMOVAL",
    "curves.CURVES",
    "truth.TRUTH",
    "erasure.ERASURE",  # takes a model: see runs/experiment_stages.py
    "highlights.HIGHLIGHTS",  # takes a model, too
)


def _descriptor(place: str) -> Experiment:
    module, _, name = place.partition(".")
    experiment: Experiment = getattr(import_module(f"heedful.experiments.{module}"), name)
    return experiment


EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in map(_descriptor, _DECLARED)}
EXPERIMENT_NAMES = tuple(EXPERIMENTS)
