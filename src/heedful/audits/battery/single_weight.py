"""Does the highest weight matter more than another? Serrano & Smith 2019, section 4, by forward passes."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from heedful.adapters.changes import without
from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.readings import Floats, outputs_of, read_under, with_items
from heedful.evidence import decide
from heedful.experiments.experiment import instance_frame
from heedful.experiments.single_weight import LEADERS, Without, compared, drawn_rivals
from heedful.measures import output_jsd
from heedful.ragged import Flags, Indices, Ragged
from heedful.randomness import Stream, keys


@with_items
def single_weight(
    subject: Subject, ids: Sequence[str], texts: Texts, seen: Seen, *, exact: bool = False, seed: int = 0
) -> pl.DataFrame:
    """The columns of `heedful.experiments.single_weight`: the most attended item's weight is zeroed in every head, then
    that of the experiment's seeded rival instead. Two forward passes.

    Means over all rivals, `attention_expected_...`, need `exact`: one forward pass per item. The other rankings'
    columns are null.
    """
    weights, output = seen.weights, outputs_of(seen.logits, subject.rounding)
    lengths, top = weights.lengths, weights.argmax()
    uniform = Stream(seed, "single weight: attention").uniform(keys(ids))
    rivals = drawn_rivals(weights, top, uniform, "other")
    cells = np.arange(len(weights.values)) if exact else np.union1d(top, rivals)
    found = _without(subject, texts, seen, cells, output)
    figures: Mapping[str, Floats | Flags] = compared(weights, found, top, uniform, "other")
    several = pl.Series(lengths > 1)
    columns: dict[str, pl.Series] = {}
    for name in LEADERS:
        for figure, values in figures.items():
            known = name == "attention" and (exact or not figure.startswith("expected"))
            series = pl.Series(values)
            columns[f"{name}_{figure}"] = pl.select(pl.when(several & known).then(series)).to_series()
    return instance_frame(ids, decide(output), items=lengths.astype(np.int32), **columns)


def _without(subject: Subject, texts: Texts, seen: Seen, cells: Indices, output: Floats) -> Without:
    """Effects of zeroing each of some items, given by their places among all; zeros for the others."""
    items, lengths = texts.names, texts.lengths
    text = items.row_of_value[cells]
    place = cells - items.offsets[text]

    def flags_of(some: Indices) -> Ragged:
        positions = np.arange(int(lengths[text[some]].max(initial=0)))
        flags = positions == place[some, None]
        return Ragged.from_padded(flags, positions < lengths[text[some], None])

    found = read_under(subject, texts, seen, text, values_of=flags_of, change=without)
    js, flips = np.zeros(len(items.values)), np.zeros(len(items.values), dtype=bool)
    js[cells] = output_jsd(found, output[text])
    flips[cells] = decide(found) != decide(output)[text]
    return Without(items.like(js), items.like(flips))
