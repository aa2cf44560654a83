"""Does the output change when the weights are shuffled? Jain & Wallace 2019, section 4.2.1, by forward passes."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.readings import moved, outputs_of, read_under, with_items
from heedful.evidence import decide
from heedful.experiments.experiment import check_count
from heedful.experiments.permutation import shuffled_frame
from heedful.measures import tvd
from heedful.ragged import Indices, Ragged
from heedful.randomness import Stream, keys

PERMUTATIONS = 20


@with_items
def permutation(
    subject: Subject, ids: Sequence[str], texts: Texts, seen: Seen, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> pl.DataFrame:
    """The columns of `heedful.experiments.permutation`, from its first `permutations` draws, one forward pass each;
    every head is shuffled alike. Columns about all orders are null: a sample cannot give them."""
    check_count("permutations", permutations, least=1)
    output, count = outputs_of(seen.logits, subject.rounding), len(ids)
    decided = decide(output)
    stream, names, lengths = Stream(seed, "permutation"), keys(ids), texts.lengths

    def shifts(some: Indices) -> Ragged:
        text, draw = np.divmod(some, permutations)
        orders = stream.orders(lengths[text], names[text], draw)  # (M, T)
        positions = np.arange(orders.shape[1])
        return Ragged.from_padded(orders - positions, positions < lengths[text, None])

    found = read_under(subject, texts, seen, np.repeat(np.arange(count), permutations), values_of=shifts, change=moved)
    tvds = np.sort(tvd(found, output.repeat(permutations, axis=0)).reshape(count, permutations), axis=1)
    changed = (decide(found) != decided.repeat(permutations)).reshape(count, permutations)
    return shuffled_frame(ids, decided, seen.weights, tvds, changed.mean(axis=1))
