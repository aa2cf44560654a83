"""Every measure of importance of a subject's items, in the frame that a run has (importance/table.py)."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery import attributions
from heedful.audits.battery.erased_texts import ErasableSubject, check_way, without_each
from heedful.audits.battery.test import GRADIENT
from heedful.errors import unknown_name
from heedful.importance.attributions import slopes
from heedful.importance.gradient import FEW_OUTPUTS, gradients
from heedful.importance.integrated_gradients import integrate
from heedful.importance.table import Measured, tabled
from heedful.measures import tvd
from heedful.ragged import Ragged

Measure = Callable[[Subject, Texts, Seen, float], Measured]


def readings(items: float, *, measures: Sequence[str] | None = None, tolerance: float = 0.01) -> float:
    """Of each text."""
    chosen = MEASURES if measures is None else measures
    others = {"gradient": 2 * GRADIENT, "leave_one_out_blank": items}
    return sum(others.get(name, 0) + attributions.readings(items, name) for name in chosen)


def importance(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen,
    *,
    measures: Sequence[str] | None = None,
    tolerance: float = 0.01,
) -> pl.DataFrame:
    """Columns `id`, `measure`, `output`, `values`, `error`; all measures that the subject allows, or those named.

    `gradient`: |e . dy/de| of each output y, attention held fixed, as in the paper (of the decided one alone where
    there are more than three outputs). `gradient_input`: e . dp/de, signed, with p the decided class's probability and
    attention free. `integrated_gradients`, with its `error`. `leave_one_out`: the TVD of the output without an item,
    deleted; `leave_one_out_blank`: the same with its tokens blanked.
    """
    chosen = available(subject) if measures is None else measures
    for name in chosen:
        if name not in MEASURES:
            raise unknown_name("measure", name, MEASURES)
        if name == "leave_one_out_blank":
            check_way(subject, "blank")
    return tabled(ids, ((name, MEASURES[name](subject, texts, seen, tolerance)) for name in chosen))


def available(subject: Subject) -> tuple[str, ...]:
    """The measures that a subject allows."""
    return tuple(name for name in MEASURES if subject.blank is not None or name != "leave_one_out_blank")


def _gradient(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Measured:
    batches = subject.differentiable(texts, attention_fixed=True)
    many = subject.outputs > FEW_OUTPUTS
    return Measured(gradients(batches, texts.names, outputs=subject.outputs, decided=many))


def _gradient_input(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Measured:
    return Measured(_single(slopes(subject.differentiable(texts, attention_fixed=False), texts.names)))


def _integrated(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Measured:
    batches = subject.differentiable(texts, attention_fixed=False)
    return Measured(*integrate(batches, texts.names, tolerance=tolerance))


def _left_out(way: str) -> Measure:
    def measure(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Measured:
        instances = ErasableSubject(subject, texts, seen)
        whole = instances.output[texts.names.row_of_value]
        return Measured(_single(texts.names.like(tvd(whole, without_each(instances, way)))))

    return measure


def _single(values: Ragged) -> Ragged:
    return values.like(values.values.astype(np.float32))


MEASURES: dict[str, Measure] = {
    "gradient": _gradient,
    "gradient_input": _gradient_input,
    "integrated_gradients": _integrated,
    "leave_one_out": _left_out("delete"),
    "leave_one_out_blank": _left_out("blank"),
}
