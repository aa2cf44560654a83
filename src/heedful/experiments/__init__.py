"""Experiments: evidence in, a frame with one row an instance out. No model, no torch.

A new experiment is a file that declares an `Experiment`, and a line below.
"""

from heedful.experiments.adversary import ADVERSARY, ADVERSARY_SEARCH, adversary, adversary_scores
from heedful.experiments.correlation import CORRELATION, correlation
from heedful.experiments.curves import CURVES, curves, removal_curve
from heedful.experiments.erasure import ERASURE, erasure_scores
from heedful.experiments.experiment import Experiment
from heedful.experiments.permutation import PERMUTATION, permutation
from heedful.experiments.reach import REACH, reach
from heedful.experiments.removal import REMOVAL, removal
from heedful.experiments.removal_scores import claims, never_flipped, removal_scores, removal_wins
from heedful.experiments.single_weight import SINGLE_WEIGHT, flip_table, single_weight
from heedful.experiments.substitution import SUBSTITUTION, substitution, substitution_scores
from heedful.experiments.summary import Estimate, estimates, summary
from heedful.experiments.truth import TRUTH, truth
from heedful.experiments.violation import VIOLATION, violation

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

# in the order in which runs perform them
_DECLARED = (
    CORRELATION,  # takes importance beside evidence
    PERMUTATION,
    ADVERSARY,
    ADVERSARY_SEARCH,
    REACH,
    SUBSTITUTION,
    VIOLATION,
    SINGLE_WEIGHT,
    REMOVAL,
    CURVES,
    TRUTH,
    ERASURE,  # takes a model: see runs/experiment_stages.py
)
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _DECLARED}
EXPERIMENT_NAMES = tuple(EXPERIMENTS)
