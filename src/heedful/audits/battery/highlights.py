"""Are the highlighted words the ones the decision rests on, and does the model decide through their weights?"""

from collections.abc import Sequence

import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.rankings import Given, ranked
from heedful.audits.battery.readings import outputs_of, with_items
from heedful.audits.battery.subject_texts import SubjectTexts, ways_of
from heedful.importance import VERDICT_MEASURES
from heedful.importance.highlights import Donors
from heedful.importance.highlights import highlights as measured
from heedful.importance.table import signed_measures
from heedful.ragged import Ragged
from heedful.randomness import keys


@with_items
def highlights(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    donors: Donors | None = None,
    given: Given | None = None,
    truth: Ragged | None = None,
    tolerance: float = 0.01,
    seed: int = 0,
) -> pl.DataFrame:
    """The columns of `heedful.importance.highlights`, with the attributions that a verdict compares attention with and
    all `given` ones as rankings. Words come from `donors`, or from these texts themselves; `truth`: items that are
    known to decide."""
    names = [name for name in VERDICT_MEASURES if name in signed_measures()]
    rankings = ranked(subject, texts, seen, [*names, *(given or ())], given=given, tolerance=tolerance)
    return measured(
        SubjectTexts(subject, texts, seen),
        ids,
        seen.weights,
        donors or donors_of(subject, ids, texts, seen),
        rankings=rankings,
        ways=ways_of(subject),
        truth=truth,
        seed=seed,
    )


def donors_of(subject: Subject, ids: Sequence[str], texts: Texts, seen: Seen, *, truth: Ragged | None = None) -> Donors:
    """Texts of a subject to take words from."""
    return Donors(texts, seen.weights, outputs_of(seen.logits, subject.rounding), keys(ids), truth)
