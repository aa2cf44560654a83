"""Measures of importance of a subject's items, in the frame that a run has (importance/table.py)."""

from collections.abc import Sequence

import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.importance import AUDIT_MEASURES, MEASURES, VERDICT_MEASURES
from heedful.importance.table import table_of


def importance(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    measures: Sequence[str] | None = None,
    tolerance: float = 0.01,
    full: bool = True,
) -> pl.DataFrame:
    """Columns `id`, `measure`, `output`, `values`, `error`, `attribution`; the usual measures that the subject allows,
    those that a verdict rests on (not `full`), or those named.

    `gradient`: |e . dy/de| of each output y (of the decided one alone if there are more than three), attention held
    fixed, as in the paper. `gradient_input`: e . dp/de, signed, with p the decided class's probability and attention
    free. `leave_one_out`: the TVD of the output without an item, deleted; `leave_one_out_blank`: its tokens blanked.
    """
    instances = SubjectTexts(subject, texts, seen)
    if measures is None:
        usual = AUDIT_MEASURES if full else VERDICT_MEASURES
        measures = [name for name in usual if subject.blank is not None or not MEASURES[name].blank]
    return table_of(instances, ids, measures=measures, tolerance=tolerance, signed=True)
