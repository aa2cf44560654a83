"""How many items' attention must be zeroed to flip the decision? Serrano & Smith 2019, section 5, by forward passes."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import entr

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.rankings import Given, names_of, ranked, unknown
from heedful.audits.battery.readings import Floats, with_items
from heedful.audits.battery.subject_texts import AttendedTexts
from heedful.evidence import decide
from heedful.experiments.experiment import check_count, instance_frame
from heedful.experiments.removal import figures, lists
from heedful.importance.erasure import Race, places_of
from heedful.ragged import Ragged
from heedful.randomness import Stream, keys

RANKINGS = ("attention", "gradient_input", "random")


@with_items
def removal(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    rankings: Sequence[str] = RANKINGS,
    given: Given | None = None,
    orders: int = 1,
    steps: int = 50,
    tolerance: float = 0.01,
    seed: int = 0,
) -> pl.DataFrame:
    """The columns of `heedful.experiments.removal`, and `step`. Items' attention is zeroed in every head, in the order
    of each ranking (and of all `given` ones), and the other items share it; the text itself is unchanged.

    An order takes at most `steps` forward passes: of longer texts, `step` items go at a time, and counts are exact to
    that number. `random` is the first of the experiment's seeded `orders`. The smallest set cannot be found this way.
    """
    check_count("orders", orders, least=1)
    check_count("steps", steps, least=1)
    names = names_of(rankings, given)
    instances = AttendedTexts(subject, texts, seen)
    race, output = Race(instances, steps), instances.output
    lengths, every = texts.lengths, np.arange(len(ids))
    columns: dict[str, object] = {
        "items": lengths.astype(np.int32),
        "step": race.step.astype(np.int32),
        "confidence": output[every, race.decided],
        "entropy": entr(output).sum(axis=1),
        "default": decide(instances.erased(every, np.ones(len(texts.names.values), dtype=bool), "")) == race.decided,
    }
    values = ranked(subject, texts, seen, names, given=given, tolerance=tolerance)
    for name in names:
        draws = [values[name]] if name != "random" else [random_order(ids, texts, seed, draw) for draw in range(orders)]
        found = [_first_flips(race, draw, seen.weights) for draw in draws]
        counts, masses = (np.stack(of, axis=1) for of in zip(*found, strict=True))  # (n, draws)
        columns |= figures(name, counts[:, 0], masses[:, 0], lengths)
        if name == "random":
            columns |= {"random_counts": lists(counts, pl.Int32), "random_masses": lists(masses, pl.Float64)}
    return instance_frame(ids, race.decided, **columns)


def random_order(ids: Sequence[str], texts: Texts, seed: int, draw: int) -> Ragged:
    """One of the random orders of `heedful.experiments.removal`, as values (N,)."""
    items = texts.names
    row = items.row_of_value
    positions = np.arange(len(row)) - items.offsets[row]
    return items.like(-Stream(seed, "ranking: random").uniform(keys(ids)[row], draw, positions))


def _first_flips(race: Race, values: Ragged, weights: Ragged) -> tuple[Floats, Floats]:
    """Items removed at the first flip and the attention on them, (n,) each; NaN where none flips or is known."""
    places = places_of(values)
    count = race.first_flips(places, "")
    mass = weights.like(weights.values * (places.values < count[places.row_of_value])).sum()
    known = (count > 0) & ~unknown(values)
    return np.where(known, count, np.nan), np.where(known, mass, np.nan)
