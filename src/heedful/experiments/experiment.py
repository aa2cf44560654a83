"""Bounded memory: an experiment sees so many items at a time, however much evidence it is given."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from numbers import Integral
from typing import Concatenate, ParamSpec

import polars as pl

from heedful.errors import BadConfig, BadInput
from heedful.evidence import Evidence
from heedful.tanh_decoder import row_slices

ITEMS = 1 << 19  # at a time, one instance at least
NUMBERS = 1 << 22  # scores, or features, at a time: 32 MB an array

Options = ParamSpec("Options")
Experiment = Callable[Concatenate[Evidence, Options], pl.DataFrame]


def bounded(experiment: Experiment[Options]) -> Experiment[Options]:
    """Run an experiment over slices of its evidence; rows do not depend on one another, so the frame is the same."""

    @wraps(experiment)
    def whole(evidence: Evidence, /, *args: Options.args, **options: Options.kwargs) -> pl.DataFrame:
        parts = (part.validate() for part in _parts(evidence))  # evidence may come from anywhere
        return pl.concat([experiment(part, *args, **options) for part in parts], rechunk=False)

    return whole


def _parts(evidence: Evidence) -> Iterator[Evidence]:
    """Consecutive slices of so many items, without copying; evidence without instances is a slice, too."""
    width = evidence.outputs if evidence.decoder is None else max(evidence.decoder.weight.shape)
    items = max(1, min(ITEMS, NUMBERS // width))
    for start, stop in row_slices(evidence.weights, items) or [(0, 0)]:
        yield evidence.slice(start, stop)


def check_count(name: str, value: object, *, least: int) -> None:
    """Raise unless an option is a whole number, and large enough."""
    if not isinstance(value, Integral) or int(value) < least:
        raise BadConfig(f"{name} = {value!r}: give a whole number of {least} or more")


def check_frame(frame: object, experiment: str, columns: Iterable[str]) -> None:
    """Raise unless it is the frame of an experiment: has the columns that tell it from others."""
    if not isinstance(frame, pl.DataFrame):
        raise BadInput(f"the frame of `{experiment}` is needed, as a polars DataFrame, and not {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise BadInput(f"the frame of `{experiment}` is needed, and this one has no column '{missing[0]}'")
