"""How far the paper's search for adversarial attention stays behind what there is."""

import polars as pl

from heedful.errors import BadInput
from heedful.experiments.estimates import Estimate, estimates
from heedful.experiments.frames import check_frame

ROUNDING = 1e-6  # distances that differ by less are the same


def adversary_scores(
    found: pl.DataFrame, search: pl.DataFrame | None, *, epsilon: float, seed: int = 0, draws: int = 2000
) -> dict[str, Estimate]:
    """From the frames of `adversary` and of the search (None: not performed), means over instances with intervals:
    `jsd`, `upper`, `certified`; and, of the search, `search_jsd` and `within`, the share whose output moved by
    `epsilon` at most (the released code accepts more). Where it did, `beaten`, the share in which `adversary` found
    attention that is further away, and `missed`, by how much.
    """
    check_frame(found, "adversary", ["jsd", "upper", "certified"])
    quantities = found.select("jsd", "upper", "certified")
    if search is not None:
        check_frame(search, "adversary", ["jsd", "tvd"])
        if not found["id"].equals(search["id"]):
            raise BadInput(
                "the frames of `adversary` and of its search are of different instances: give those of one run"
            )
        within, missed = search["tvd"] <= epsilon * (1 + ROUNDING), found["jsd"] - search["jsd"]
        quantities = quantities.with_columns(search["jsd"].alias("search_jsd"), within=within).with_columns(
            beaten=pl.when(within).then(missed > ROUNDING),
            missed=pl.when(within).then(missed),
        )
    return estimates(quantities, seed=seed, draws=draws)
