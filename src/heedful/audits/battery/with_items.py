"""Texts without items have nothing to test: all that is told of them is null."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import numpy as np
import polars as pl

from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery.readings import outputs_of
from heedful.evidence import decide

Options = ParamSpec("Options")
Function = Callable[Concatenate[Subject, Sequence[str], Texts, Seen, Options], pl.DataFrame]


def with_items(test: Function[Options]) -> Function[Options]:
    """Perform a test on the texts that have items; the others have an id, a decision, and nulls."""

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
        some = Seen(seen.logits[rows], seen.weights.take(rows), seen.aside[rows])
        names = np.array(ids, dtype=object)
        frame = test(subject, names[rows].tolist(), texts.take(rows), some, *args, **options)
        decided = decide(outputs_of(seen.logits[without]))
        told: dict[str, Any] = {"id": names[without].tolist(), "decision": decided, "items": 0 * without}
        empty = pl.DataFrame({name: pl.Series(told[name], dtype=frame.schema[name]) for name in told if name in frame})
        both = pl.concat([frame, empty], how="diagonal")
        return both[np.argsort(np.concatenate([rows, without]), kind="stable")]

    return whole
