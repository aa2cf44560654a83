"""Does the output change under uniform, random or permuted attention in every head?"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.adapters.changes import assigned
from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.readings import by, moved, outputs_of, with_items
from heedful.evidence import decide
from heedful.experiments.substitution import KINDS, substitutes
from heedful.measures import tvd


@with_items
def substitution(subject: Subject, ids: Sequence[str], texts: Texts, seen: Seen, *, seed: int = 0) -> pl.DataFrame:
    """The columns and the draws of `heedful.experiments.substitution`; `label` is null here, for the caller to fill.

    All heads get the same `uniform` or `random` shares; each keeps its own shares in the same `permuted` order. One
    forward pass each.
    """
    weights, output = seen.weights, outputs_of(seen.logits, subject.rounding)
    decided, every = decide(output), np.arange(len(ids))
    columns: dict[str, object] = {
        "id": pl.Series(list(ids), dtype=pl.String),
        "label": pl.Series([None] * len(ids), dtype=pl.Int32),
        "decision": decided.astype(np.int32),
    }
    positions = weights.place_in_row
    drawn = substitutes(weights.like(positions), ids, seed)
    for kind in KINDS:
        # permuted positions say which item's share each item gets
        shifts = weights.like(drawn[kind].values - positions)
        changes = by(shifts, moved) if kind == "permuted" else by(drawn[kind], assigned)
        read = subject.read_changed(texts, every, seen, changes)
        found = outputs_of(read.logits, subject.rounding)
        columns[f"{kind}_tvd"] = tvd(found, output)
        columns[f"{kind}_decision"] = decide(found).astype(np.int32)
        columns[f"{kind}_changed"] = decide(found) != decided
    return pl.DataFrame(columns)
