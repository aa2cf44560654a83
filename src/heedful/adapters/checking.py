"""Checks of a subject before anything is measured: a model that is hooked wrongly gives wrong figures silently.

- Observing the attention, or putting it back unchanged, does not change the logits.
- A text's logits depend neither on the other texts of a batch nor on padding.
- Replacing attention changes the logits: some models return weights and decide from others.
- The map is a distribution, and the outputs are logits.
- A replay from the audited layer on gives the logits of the whole model; where it does not, the whole model is read.
- So does reading on from a kept beginning; where it does not, texts are read as a whole.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heedful.adapters.changes import assigned
from heedful.adapters.hardware import tolerance
from heedful.adapters.subject import Padded, Reading, Subject, padded
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.adapters.variants import read_from, shared_prefixes
from heedful.errors import BadInput

PROBES = 16  # texts read for the checks, from the shortest to the longest
WIDER = 3  # cells of padding beyond the longest text
# how far logits of size one may move where nothing was changed, and logits and weights with the shape of the batch, as
# sums are then taken in another order: in single precision, and in units of coarser precisions
SAME, SAME_UNITS = 1e-5, 8
INVARIANT, INVARIANT_UNITS = 1e-4, 16


class Contract(NamedTuple):
    """Measured differences of logits, relative to their size, or to one where they are smaller."""

    identity: float  # how far observing, and putting the same attention back, move the logits
    invariance: float  # how far the other texts of a batch and padding move logits and weights
    moved: float  # how far other attention moves the logits
    replay: float | None = None  # how far replays are from the whole model; None: there are none, or they fail
    replays: bool = False  # whether the model is replayed, and not read as a whole, under changed attention
    prefix: float | None = None  # how far reading on from a beginning is from reading all; None: no beginning is kept
    resumes: bool = False  # whether texts are read on from beginnings


def check(subject: Subject, texts: Texts) -> Contract:
    """Read some of the texts in several ways; refuse a model that cannot be audited, with the reason."""
    chosen = probes(subject, texts)
    if not len(chosen):
        raise BadInput(
            "no text has an item, or each is longer than the model can read, so nothing can be audited; look at the "
            "texts and at the tokenizer"
        )
    same = tolerance(subject.precision, SAME, units=SAME_UNITS)
    invariant = tolerance(subject.precision, INVARIANT, units=INVARIANT_UNITS)
    with torch.no_grad():
        alone = [padded(chosen, np.array([row])) for row in range(len(chosen))]
        originals = torch.cat([subject.original(batch) for batch in alone])
        _check_logits(subject, originals)
        readings = [subject.forward(batch) for batch in alone]
        put_back = [subject.forward(batch, change=_unchanged) for batch in alone]
        _check_maps(subject, readings)
        identity = _largest(
            _apart(torch.cat([each.logits for each in ways]), originals) for ways in (readings, put_back)
        )
        if not identity <= same:
            raise BadInput(
                f"{_name(subject)}: with the very attention that was there put back, logits move by {identity:.3g} "
                f"(at most {same:g} is rounding), so what is replaced is not all that the model computes with; audit "
                "another map, or give evidence as a file"
            )
        together = subject.forward(_wider(padded(chosen, np.arange(len(chosen))), subject.longest))
        invariance = _largest([_apart(together.logits, originals), _maps_apart(together, readings)])
        if not invariance <= invariant:
            raise BadInput(
                f"{_name(subject)}: read in a batch with longer texts, logits or weights move by {invariance:.3g} (at "
                f"most {invariant:g} is rounding): padding, or another text, is read; mask padding in every layer"
            )
        _check_nothing(subject, chosen)
        moved = _moved(subject, chosen, alone, readings)
        replay, prefix = _replay(subject, chosen), _prefix(subject, chosen)
        subject.replays, subject.resumes = (far is not None and far <= same for far in (replay, prefix))
        return Contract(identity, invariance, moved, replay, subject.replays, prefix, subject.resumes)


def probes(subject: Subject, texts: Texts) -> Texts:
    """Some texts that have items, of all lengths that the model can read."""
    lengths = texts.tokens.lengths
    some = np.flatnonzero((texts.lengths > 0) & (lengths <= (subject.longest or np.inf)))
    order = some[np.argsort(lengths[some], kind="stable")]
    spread = np.unique(np.linspace(0, max(0, len(order) - 1), min(PROBES, len(order))).astype(np.int64))
    return texts.take(order[spread])


def _moved(subject: Subject, texts: Texts, alone: list[Padded], readings: list[Reading]) -> float:
    """How far the logits move with attention on one item only, or with half of it taken away.

    Where all states of a text are alike, moving attention does nothing, but having less of it does. Weights that are
    returned and not used leave every bit as it was.
    """
    far = 0.0
    for batch, reading in zip(alone, readings, strict=True):
        last = assigned(torch.eye(batch.items)[None, -1])
        for change in (last, lambda shares: shares / 2):
            far = max(far, _apart(subject.forward(batch, change=change).logits, reading.logits))
    if far == 0:
        raise BadInput(
            f"{_name(subject)}: whatever weights are put in place of its own, the {len(texts)} texts tried have the "
            "same logits to the last bit: the weights that are returned are not what the model computes with (as in "
            "torch.nn.MultiheadAttention); name a module that hands its weights to the sum over states"
        )
    return far


def _replay(subject: Subject, texts: Texts) -> float | None:
    """How far replays are from the whole model, under its own attention and under other; None: there are none.

    A model of an unknown family may fail in ways of its own when layers are skipped; it is then read as a whole.
    """
    batch = padded(texts, np.arange(len(texts)))
    last = torch.zeros(len(texts), batch.items).scatter(1, batch.lengths[:, None] - 1, 1.0)
    far = []
    try:
        states = subject.prepare(batch)
        if states is None:
            return None
        for change in (_unchanged, assigned(last)):
            replayed, whole = subject.replay(batch, states, change), subject.forward(batch, change=change)
            far += [_apart(replayed.logits, whole.logits), _apart(replayed.weights, whole.weights)]
    except Exception:  # whatever skipping layers may lead to
        return None
    return _largest(far)


def _prefix(subject: Subject, texts: Texts) -> float | None:
    """How far variants read on from their texts' beginnings are from variants read as a whole; None: no beginning is
    kept. Each text without its last item, without that in the middle, and without all from the middle on."""
    rows = np.repeat(np.arange(len(texts)), 3)
    copies = texts.take(rows)
    place, count = copies.names.place_in_row, copies.lengths[copies.names.row_of_value]
    kind = copies.names.row_of_value % 3
    gone = np.choose(kind, [place == count - 1, place == count // 2, place >= count // 2])
    variants = [copies.keep(~gone)]
    if subject.blank is not None:
        variants.append(copies.replaced(gone, subject.blank))
    far = []
    try:
        if subject.begin(padded(texts, np.arange(len(texts)))) is None:
            return None
        for each in variants:
            resumed = read_from(subject, texts, rows, each, shared_prefixes(texts, rows, each))
            far.append(_apart(torch.from_numpy(resumed), torch.from_numpy(subject.read(each).logits)))
    except Exception:  # as above
        return None
    return _largest(far)


def _unchanged(shares: Tensor) -> Tensor:
    return shares


def _check_logits(subject: Subject, logits: Tensor) -> None:
    if logits.ndim != 2 or logits.shape[1] != subject.outputs:
        raise BadInput(f"{_name(subject)}: logits are of shape {tuple(logits.shape)}, not (texts, {subject.outputs})")
    if not torch.isfinite(logits).all():
        raise BadInput(f"{_name(subject)}: some logits are NaN or infinite; nothing can be measured on such outputs")
    total = logits.double().sum(dim=1)
    if subject.outputs > 1 and bool((logits >= 0).all()) and _apart(total, torch.ones_like(total)) < SAME:
        raise BadInput(
            f"{_name(subject)}: what should be logits is positive and sums to 1 for all texts tried: these are "
            "probabilities; give what comes before the softmax"
        )


def _check_maps(subject: Subject, readings: list[Reading]) -> None:
    for reading in readings:
        least, total = float(reading.weights.min()), float(reading.weights.double().sum())
        if least >= 0 and (abs(total - 1) <= INVARIANT or (total == 0 and float(reading.aside) > 1 - INVARIANT)):
            continue
        raise BadInput(
            f"{_name(subject)}: the weights of a text's items sum to {total:.6g}, the least is {least:.3g}; attention "
            "is a distribution, and nothing else can be permuted, replaced or shown as one"
        )


def _check_nothing(subject: Subject, texts: Texts) -> None:
    """Items are erased until none is left: the model must be able to read that, too."""
    nothing = texts.take([0]).keep(np.zeros(int(texts.lengths[0]), dtype=bool))
    if not torch.isfinite(subject.forward(padded(nothing, np.array([0]))).logits).all():
        raise BadInput(f"{_name(subject)}: of a text whose items are all deleted, logits are NaN or infinite")


def _maps_apart(together: Reading, alone: list[Reading]) -> float:
    """The largest difference between weights, or between parts of attention that go to no item."""
    far = []
    for row, each in enumerate(alone):
        width = each.weights.shape[1]
        far.append(float((together.weights[row, :width] - each.weights[0]).abs().max()))
        far.append(float((together.aside[row] - each.aside[0]).abs()))
    return _largest(far)


def _largest(distances: Iterable[float]) -> float:
    """The largest distance; NaN where one of them is, which Python's own max may drop."""
    return float(np.max(list(distances)))


def _apart(values: Tensor, others: Tensor) -> float:
    """The largest difference, relative to the size of values above one; NaN where one of them is."""
    values, others = values.double(), others.double()
    return float((values - others).abs().max() / max(1.0, float(others.abs().max())))


def _wider(batch: Padded, longest: int | None) -> Padded:
    """The same texts with some more padding, as far as the model can read it."""
    width = batch.tokens.shape[1]
    more = WIDER if longest is None else min(WIDER, max(0, longest - width))

    def longer(values: Tensor, fill: int) -> Tensor:
        return torch.nn.functional.pad(values, (0, more), value=fill)

    tokens, real = longer(batch.tokens, 0), longer(batch.real, 0)
    return Padded(batch.rows, tokens, real, longer(batch.item, NO_ITEM), batch.lengths)


def _name(subject: Subject) -> str:
    return str(subject.about.get("name", type(subject).__name__))
