"""What each item says for a subject's decision, signed, by several measures: the orders of a race."""

from collections.abc import Callable, Sequence

import numpy as np

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.erased_texts import ErasableSubject, without_each
from heedful.audits.battery.readings import outputs_of
from heedful.audits.battery.test import GRADIENT
from heedful.errors import unknown_name
from heedful.evidence import chance, decide
from heedful.importance.attributions import slopes
from heedful.importance.integrated_gradients import NODES, PIECES, integrate
from heedful.ragged import Ragged

Attribution = Callable[[Subject, Texts, Seen, float], Ragged]

REFINED = 1.5  # by how much more gradients integrals take than at least; it depends on the model


def attributions(
    subject: Subject, texts: Texts, seen: Seen, *, names: Sequence[str] | None = None, tolerance: float = 0.01
) -> dict[str, Ragged]:
    """Values (N,) of all items by each of the named measures: positive where an item speaks for the decided class."""
    for name in names or ():
        if name not in ATTRIBUTIONS:
            raise unknown_name("attribution", name, ATTRIBUTIONS)
    chosen = ATTRIBUTIONS if names is None else names
    return {name: ATTRIBUTIONS[name](subject, texts, seen, tolerance) for name in chosen}


def readings(items: float, name: str) -> float:
    """Of each text: what one of the measures takes."""
    whole = REFINED * (PIECES * NODES * GRADIENT + PIECES + 1)
    return {"gradient_input": float(GRADIENT), "integrated_gradients": whole, "leave_one_out": items}.get(name, 0.0)


def gradient_input(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Ragged:
    """e . dp/de with p the decided class's probability: everything is differentiated, attention included."""
    return slopes(subject.differentiable(texts, attention_fixed=False), texts.names)


def integrated(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Ragged:
    """The same integrated from zero vectors, item by item, to the text; tokens that are no items stay as they are."""
    values = integrate(subject.differentiable(texts, attention_fixed=False), texts.names, tolerance=tolerance).values
    if subject.outputs > 1:
        return values
    signs = 2 * decide(outputs_of(seen.logits)) - 1  # the integral is of the second class
    return values.like(values.values * signs[values.row_of_value])


def deletion(subject: Subject, texts: Texts, seen: Seen, tolerance: float) -> Ragged:
    """By how much the decided class's probability falls without an item."""
    instances = ErasableSubject(subject, texts, seen)
    decided, row = decide(instances.output), texts.names.row_of_value
    fall = chance(instances.output, decided)[row] - chance(without_each(instances, "delete"), decided[row])
    return texts.names.like(np.asarray(fall))


ATTRIBUTIONS: dict[str, Attribution] = {
    "gradient_input": gradient_input,
    "integrated_gradients": integrated,
    "leave_one_out": deletion,
}
