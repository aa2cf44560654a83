"""Does the most attended item argue for the decision? It is erased from the text, and the rest is read."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.readings import Floats, with_items
from heedful.audits.battery.subject_texts import SubjectTexts, check_way
from heedful.evidence import chance, decide
from heedful.experiments.experiment import instance_frame
from heedful.ragged import Indices
from heedful.randomness import Stream, keys


@with_items
def violation(
    subject: Subject, ids: Sequence[str], texts: Texts, seen: Seen, *, way: str = "delete", seed: int = 0
) -> pl.DataFrame:
    """One row per text. `violates`: whether erasing the most attended item (the first on ties) makes the decision more
    likely. `margin`: by how much the decided class's log-odds fall without it. `erased_fall`: by how much its
    probability falls; `random_fall`: the same for one seeded random item (any item). Two forward passes.

    The experiment of the same name asks what the item decides alone; here, what it adds to its text.
    """
    check_way(subject, way)
    instances = SubjectTexts(subject, texts, seen)
    decided, lengths = decide(instances.output), texts.lengths
    top = seen.weights.argmax() - texts.names.offsets[:-1]
    drawn = Stream(seed, "violation: random").uniform(keys(ids))
    falls, margins = [], []
    for place in (top, np.minimum((drawn * lengths).astype(np.int64), lengths - 1)):
        left = _without(instances, place, way)
        falls.append(chance(instances.output, decided) - chance(left, decided))
        margins.append(_odds(instances.output, decided) - _odds(left, decided))
    first = {"violates": margins[0] < -subject.rounding, "margin": margins[0], "erased_fall": falls[0]}
    return instance_frame(ids, decided, **first, random_fall=falls[1])


def _without(instances: SubjectTexts, place: Indices, way: str) -> Floats:
    items = instances.items
    gone = np.zeros(len(items.values), dtype=bool)
    gone[items.offsets[:-1] + place] = True
    return instances.erased(np.arange(len(items)), gone, way)


def _odds(output: Floats, decided: Indices) -> Floats:
    """Log-odds of the decided class, (n,): finite, however sure a model is; one minus it is summed up from the rest."""
    own = np.take_along_axis(output, decided[:, None], axis=1)[:, 0]
    rest = np.where(np.arange(output.shape[1]) == decided[:, None], 0.0, output).sum(axis=1)
    least = np.finfo(np.float64).tiny
    return np.asarray(np.log(np.maximum(own, least)) - np.log(np.maximum(rest, least)))
