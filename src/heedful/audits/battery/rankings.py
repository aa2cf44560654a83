"""Rankings: orders in which a subject's items are erased. Values, largest first; the first item on ties."""

from collections.abc import Mapping, Sequence

import numpy as np

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.errors import BadConfig, unknown_name
from heedful.importance.table import attributions, signed_measures
from heedful.ragged import Flags, Ragged

Given = Mapping[str, Ragged]  # values (N,) of items by name; NaN throughout a text of which nothing is known


def own_rankings() -> tuple[str, ...]:
    """The rankings that we make; a given one may not have such a name by chance."""
    return ("attention", *signed_measures(), "ascending", "random")


def names_of(rankings: Sequence[str], given: Given | None) -> tuple[str, ...]:
    """The named rankings and all given ones, each once."""
    if isinstance(rankings, str):
        raise BadConfig(f"rankings = {rankings!r}: give a list of names, such as ['attention']")
    valid = (*own_rankings(), *(given or ()))
    for name in rankings:
        if name not in valid:
            raise unknown_name("ranking", str(name), valid)
    names = tuple(dict.fromkeys((*rankings, *(given or ()))))
    if not names:
        raise BadConfig(f"no ranking is named; choose from {', '.join(valid)}")
    return names


def ranked(
    subject: Subject, texts: Texts, seen: Seen, names: Sequence[str], *, given: Given | None, tolerance: float
) -> dict[str, Ragged]:
    """Values (N,) of each ranking but `random`; what is given is not measured."""
    known = dict(given or {})
    wanted = [name for name in names if name in signed_measures() and name not in known]
    known |= attributions(SubjectTexts(subject, texts, seen), names=wanted, tolerance=tolerance)
    known |= {"attention": seen.weights, "ascending": seen.weights.like(-seen.weights.values)}
    return {name: known[name] for name in names if name != "random"}


def unknown(values: Ragged) -> Flags:
    """Texts (n,) of which a given ranking says nothing."""
    return np.asarray(values.like(np.isnan(values.values.astype(np.float64))).sum() > 0)
