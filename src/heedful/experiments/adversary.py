"""How different could attention be with the same output? The eps-max JSD of Jain & Wallace 2019, section 4.2.2."""

import math
from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Literal, get_args

import numpy as np
import polars as pl

from heedful.errors import BadConfig, BadInput, unknown_name
from heedful.evidence import Evidence
from heedful.experiments.adversaries.divergence import PROVEN, SLACK, Found, decoder_free_bound, farthest
from heedful.experiments.adversaries.many_classes import several_classes, upper_bound
from heedful.experiments.adversaries.paper_search import Objective, Preset, search
from heedful.experiments.adversaries.two_classes import moved, two_classes
from heedful.experiments.adversaries.vertex_search import farthest_found
from heedful.experiments.affine_view import AffineView
from heedful.experiments.experiment import Experiment, Headline, bounded, check_count, check_frame, instance_frame
from heedful.experiments.summary import Estimate, estimates
from heedful.experiments.tanh_view import TanhView
from heedful.experiments.view import View
from heedful.experiments.views import view_of
from heedful.list_columns import list_column
from heedful.measures import jsd
from heedful.ragged import Floats, Indices, Keys, Ragged
from heedful.randomness import Stream, keys

RELEASED_SELECTION = 0.05  # epsilon of the released code when it selects, whatever it searched with
LARGEST_JSD = math.log(2)  # of maps with nothing in common
ROUNDING = 1e-6  # distances that differ by less are the same
Method = Literal["exact", "search"]


@bounded
def adversary(
    evidence: Evidence,
    *,
    epsilon: float = 0.01,
    method: Method = "exact",
    seed: int = 0,
    preset: Preset = "paper",
    distributions: int = 5,
    steps: int = 500,
) -> pl.DataFrame:
    """The attention most different from the model's own (`jsd`) that moves the output by at most epsilon (`tvd`).

    One row an instance: `decision`; `weights`, the attention found; its `jsd` and `tvd`; `upper`, a bound on the JSD of
    any such attention; `certified`, whether the bound is reached; `adversary_decision`, the decision under it.

    `exact` finds the optimum for two classes, and bounds it from both sides for more; for a decoder that is not affine,
    it gives the best found. `search` is the paper's: the best of `distributions` after `steps` of Adam, with the
    details of its text (`preset="paper"`) or of its code (`"released"`, which selects at a distance of 0.05 whatever
    epsilon was searched with). `seed`: for the search and for more than two classes.
    """
    for kind, name, valid in (("method", method, get_args(Method)), ("preset", preset, get_args(Preset))):
        if name not in valid:
            raise unknown_name(kind, name, valid)
    check_epsilon(epsilon)
    check_count("distributions", distributions, least=1)
    check_count("steps", steps, least=1)
    view, stream, instances = view_of(evidence), Stream(seed, "adversary"), keys(evidence.ids)
    if method == "search":
        objective = Objective.of(preset, epsilon=epsilon, distributions=distributions, outputs=evidence.outputs)
        candidates = search(view, objective, stream, instances, distributions=distributions, steps=steps)
        found = _select(view, candidates, epsilon if preset == "paper" else RELEASED_SELECTION)
    else:
        found = _feasible(view, _best(view, epsilon, stream, instances), epsilon)
    decisions = view.decided, view.under(found.weights).decided
    return found_frame(evidence.ids, *decisions, view.weights, found, tvd=moved(view, found.weights))


ADVERSARY = Experiment(
    name="adversary",
    function=adversary,
    question="How different could the weights be with the same output?",
    headline=Headline(
        pl.col("jsd"), f"A map as different as JSD {{:.3f}} (of at most {LARGEST_JSD:.2f}) gives nearly the same output"
    ),
    options=lambda settings: {"epsilon": settings.options.epsilon},
    random=True,
    exact="two classes: the proven optimum; more: bounds",
)
ADVERSARY_SEARCH = Experiment(
    name="adversary_search",
    function=partial(adversary, method="search"),
    question="How different are the weights that the paper's own search finds?",
    headline=Headline(pl.col("jsd"), f"The paper's search gets as far as JSD {{:.3f}} (of at most {LARGEST_JSD:.2f})"),
    options=lambda settings: {"epsilon": settings.options.epsilon, "preset": settings.preset},
    random=True,
    default=False,  # slow, and there only to be compared with
    exact="no: what gradient descent finds, beside the bound",
    page="adversary.md",
)


def adversary_scores(
    found: pl.DataFrame, search: pl.DataFrame | None, *, epsilon: float, seed: int = 0, draws: int = 2000
) -> dict[str, Estimate]:
    """From the frames of `adversary` and of the search (None: not performed), means over instances with intervals:
    `jsd`, `upper`, `certified`; and, of the search, `search_jsd` and `within`, the share whose output moved by
    `epsilon` at most (the released code accepts more). Where it did, `beaten`, the share in which `adversary` found
    attention that is further away, and `missed`, by how much."""
    check_frame(found, "adversary", ["jsd", "upper", "certified"])
    quantities = found.select("jsd", "upper", "certified")
    if search is not None:
        check_frame(search, "adversary", ["jsd", "tvd"])
        if not found["id"].equals(search["id"]):
            raise BadInput("the frames of `adversary` and its search have different instances: give those of one run")
        within, missed = search["tvd"] <= epsilon * (1 + ROUNDING), found["jsd"] - search["jsd"]
        quantities = quantities.with_columns(search["jsd"].alias("search_jsd"), within=within).with_columns(
            beaten=pl.when(within).then(missed > ROUNDING), missed=pl.when(within).then(missed)
        )
    return estimates(quantities, seed=seed, draws=draws)


def found_frame(
    ids: Sequence[str], decided: Indices, adversary_decided: Indices, own: Ragged, found: Found, *, tvd: Floats
) -> pl.DataFrame:
    """The frame of attention that was found, and how far it moves the output, `tvd` (n,)."""
    divergence = jsd(found.weights, own)
    met = np.abs(found.upper - divergence) <= PROVEN
    return instance_frame(
        ids,
        decided,
        weights=list_column(found.weights),
        jsd=divergence,
        tvd=tvd,
        upper=np.where(met, np.maximum(found.upper, divergence), found.upper),  # rounding may turn them round
        certified=met,
        adversary_decision=adversary_decided.astype(np.int32),
    )


def check_epsilon(epsilon: float) -> None:
    """Raise unless an output may move by so much."""
    if not (isinstance(epsilon, Real) and 0 < epsilon < 1):
        raise BadConfig(
            f"epsilon={epsilon!r}: how far the output may move, in total variation distance; give a number "
            "between 0 and 1, such as 0.01"
        )


def _best(view: AffineView | TanhView, epsilon: float, stream: Stream, instances: Keys) -> Found:
    """The proven optimum, or the best found."""
    if isinstance(view, TanhView):
        return farthest_found(view, decoder_free_bound(view.weights), epsilon, stream, instances)
    if view.classes == 2:
        return two_classes(view, epsilon)
    return several_classes(view, epsilon, stream, instances)


def _select(view: View, candidates: Ragged, epsilon: float) -> Found:
    """The most divergent feasible candidate (N, k), the model's own attention among them."""
    columns = [candidates.like(column) for column in candidates.values.T]
    columns.append(view.weights)
    divergence = np.stack([jsd(column, view.weights) for column in columns], axis=1)  # (n, k + 1)
    distance = np.stack([moved(view, column) for column in columns], axis=1)
    best = farthest(divergence, distance, epsilon)[candidates.row_of_value]  # (N,)
    weights: Floats = np.stack([column.values for column in columns], axis=1)[np.arange(len(best)), best]
    upper = upper_bound(view, epsilon) if isinstance(view, AffineView) else decoder_free_bound(view.weights)
    return Found(candidates.like(weights), upper)


def _feasible(view: View, found: Found, epsilon: float) -> Found:
    """Fall back on the model's own attention where huge scores (1e8) leave too few digits to meet epsilon."""
    met = moved(view, found.weights) <= epsilon + SLACK  # (n,)
    weights = np.where(met[found.weights.row_of_value], found.weights.values, view.weights.values)
    return found._replace(weights=found.weights.like(weights))
