"""Forward passes of texts under other attention."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.adapters.changes import Change, permuted
from heedful.adapters.subject import ROUNDING, Padded, Seen, Subject
from heedful.adapters.texts import Texts
from heedful.evidence import decide, probabilities
from heedful.ragged import Indices, Ragged

Floats = NDArray[np.float64]


def read_under(
    subject: Subject,
    texts: Texts,
    seen: Seen,
    rows: Indices,
    *,
    values_of: Callable[[Indices], Ragged],
    change: Callable[[Tensor], Change],
) -> Floats:
    """Outputs (M, K) of texts (M,), each with its attention changed.

    `values_of` gives, for some of the M, the values of their items from which `change` makes a change.
    """
    read = subject.read_changed(texts, rows, seen, lambda batch: change(aligned(values_of(batch.rows), batch)))
    return outputs_of(read.logits, subject.rounding)


def by(values: Ragged, change: Callable[[Tensor], Change]) -> Callable[[Padded], Change]:
    """The change of each batch by its texts' values of items."""
    return lambda batch: change(aligned(values.take(batch.rows), batch))


def aligned(values: Ragged, batch: Padded) -> Tensor:
    """Values of a batch's items as it is padded, (B, T); zeros elsewhere."""
    padded, _ = values.pad()
    wide = np.zeros((len(padded), batch.items), dtype=padded.dtype)
    wide[:, : padded.shape[1]] = padded
    return torch.from_numpy(wide)


def moved(shifts: Tensor) -> Change:
    """Item t gets the weight of item t + shift, (B, T): padding, of shift 0, stays in place."""
    return permuted(torch.arange(shifts.shape[1]) + shifts)


def outputs_of(logits: Floats, rounding: float = ROUNDING) -> Floats:
    """Probabilities (n, K) of logits; two for a single logit. Classes that tie at the top but for rounding are made
    equal, so that every batch decides for the lowest."""
    if logits.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(logits)), logits[:, 0]])
    output = probabilities(logits)
    top = output.max(axis=1, keepdims=True)
    return np.where(output >= top * (1 - rounding), top, output)


Options = ParamSpec("Options")
Function = Callable[Concatenate[Subject, Sequence[str], Texts, Seen, Options], pl.DataFrame]


def with_items(test: Function[Options]) -> Function[Options]:
    """Run a test on the texts that have items; the others get an id, a decision, and nulls."""

    @wraps(test)
    def whole(
        subject: Subject,
        ids: Sequence[str],
        texts: Texts,
        seen: Seen,
        /,
        *args: Options.args,
        **options: Options.kwargs,
    ) -> pl.DataFrame:
        rows, without = np.flatnonzero(texts.lengths), np.flatnonzero(texts.lengths == 0)
        if not len(without):
            return test(subject, ids, texts, seen, *args, **options)
        given: Any = options.get("given")
        if given:
            options["given"] = {name: values.take(rows) for name, values in given.items()}
        truth: Any = options.get("truth")
        if truth is not None:
            options["truth"] = truth.take(rows)
        names = np.array(ids, dtype=object)
        frame = test(subject, names[rows].tolist(), texts.take(rows), seen.take(rows), *args, **options)
        decided = decide(outputs_of(seen.logits[without], subject.rounding))
        known: dict[str, Any] = {"id": names[without].tolist(), "decision": decided, "items": 0 * without}
        empty = {name: pl.Series(known[name], dtype=frame.schema[name]) for name in known if name in frame}
        both = pl.concat([frame, pl.DataFrame(empty)], how="diagonal")
        return both[np.argsort(np.concatenate([rows, without]), kind="stable")]

    return whole
