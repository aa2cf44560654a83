"""How much does the output depend on the top-ranked items? Comprehensiveness and sufficiency at the attention."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.rankings import Given, names_of, ranked, unknown
from heedful.audits.battery.readings import with_items
from heedful.audits.battery.removal import RANKINGS, random_order
from heedful.audits.battery.subject_texts import AttendedTexts
from heedful.experiments.curves import SHARES, check_shares
from heedful.experiments.experiment import instance_frame
from heedful.importance.erasure import Race, places_of


@with_items
def curves(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    rankings: Sequence[str] = RANKINGS,
    given: Given | None = None,
    shares: Sequence[float] = SHARES,
    tolerance: float = 0.01,
    seed: int = 0,
) -> pl.DataFrame:
    """The columns of `heedful.experiments.curves` for each ranking (and all `given` ones): items' attention is zeroed
    in every head, and the others share it; the text is unchanged. Two forward passes per share and ranking."""
    names, taken = names_of(rankings, given), check_shares(shares)
    race = Race(AttendedTexts(subject, texts, seen), 1)
    columns: dict[str, object] = {"items": texts.lengths.astype(np.int32)}
    values = ranked(subject, texts, seen, names, given=given, tolerance=tolerance)
    for name in names:
        order = random_order(ids, texts, seed, 0) if name == "random" else values[name]
        known = pl.Series(~unknown(order))
        falls = race.falls(places_of(order), "", taken)
        for figure, fall in zip(("comprehensiveness", "sufficiency"), falls, strict=True):
            figures = {"": pl.Series(fall.mean(axis=1)), "_at": pl.Series(fall).cast(pl.List(pl.Float64))}
            for end, series in figures.items():
                columns[f"{name}_{figure}{end}"] = pl.select(pl.when(known).then(series)).to_series()
    return instance_frame(ids, race.decided, **columns)
