"""How different could attention be without changing the output? Jain & Wallace 2019, section 4.2.2, by search."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.adapters.changes import tilted
from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.climbing import climb
from heedful.audits.battery.counted import GRADIENT
from heedful.audits.battery.readings import by, outputs_of
from heedful.audits.battery.with_items import with_items
from heedful.evidence import decide
from heedful.experiments.adversaries.candidates import PROVEN, decoder_free_bound
from heedful.experiments.adversary import check_epsilon
from heedful.experiments.counts import check_count
from heedful.measures import jsd, tvd
from heedful.nested import nested

RESTARTS, STEPS = 4, 25


def readings(items: float, *, epsilon: float = 0.01, restarts: int = RESTARTS, steps: int = STEPS) -> float:
    """Of each text."""
    return restarts * steps * GRADIENT + 1


@with_items
def adversary(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    epsilon: float = 0.01,
    restarts: int = RESTARTS,
    steps: int = STEPS,
    seed: int = 0,
) -> pl.DataFrame:
    """The columns of `heedful.experiments.adversary`: the map most different from the model's own (`jsd`) that a search
    found to move the output by at most epsilon (`tvd`); at worst the model's own map, which does not move it.

    `tvd`, `weights` and `jsd` are of one more reading under what was found. It is a lower bound of what there is:
    `upper` holds of any model, and `certified` is true only where it is met. Many steps may magnify rounding, so that
    another batch ends elsewhere; what is reported is measured in any.
    """
    check_epsilon(epsilon)
    check_count("restarts", restarts, least=1)
    check_count("steps", steps, least=1)
    options = {"restarts": restarts, "steps": steps}
    slopes = climb(subject, ids, texts, seen, epsilon=epsilon, seed=seed, **options)
    read, own, output = subject.read(texts, by(slopes, tilted)), seen.weights, outputs_of(seen.logits)
    met = tvd(outputs_of(read.logits), output) <= epsilon  # (n,)
    found = outputs_of(np.where(met[:, None], read.logits, seen.logits))
    weights = own.like(np.where(met[own.row_of_value], read.weights.values, own.values))
    divergence, upper = jsd(weights, own), decoder_free_bound(own)
    met_bound = np.abs(upper - divergence) <= PROVEN
    return pl.DataFrame(
        {
            "id": pl.Series(list(ids), dtype=pl.String),
            "decision": decide(output).astype(np.int32),
            "weights": nested(weights),
            "jsd": divergence,
            "tvd": tvd(found, output),
            "upper": np.where(met_bound, np.maximum(upper, divergence), upper),
            "certified": met_bound,
            "adversary_decision": decide(found).astype(np.int32),
        }
    )
