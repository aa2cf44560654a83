"""Every measure of importance in one frame: one row an instance and measure (and output, where there are several)."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import unknown_name
from heedful.importance.gradient import gradient
from heedful.importance.integrated_gradients import integrated_gradients
from heedful.importance.leave_one_out import leave_one_out
from heedful.list_columns import list_column
from heedful.models.batches import Inputs, Texts
from heedful.models.classifier import Classifier
from heedful.ragged import Ragged


class Measured(NamedTuple):
    """What a measure says of a batch."""

    values: Ragged  # (N,), or (N, K) with one value for each output
    error: NDArray[np.float32] | None = None  # (n,): what the measure knows of its own inexactness


Measure = Callable[[Classifier, Inputs, float], Measured]  # of a model, its input and the tolerance of an integral

REGISTRY: dict[str, Measure] = {
    "gradient": lambda model, inputs, _: Measured(gradient(model, inputs)),
    "gradient_through_attention": lambda model, inputs, _: Measured(gradient(model, inputs, attention_fixed=False)),
    "leave_one_out": lambda model, inputs, _: Measured(leave_one_out(model, inputs)),
    "integrated_gradients": lambda model, inputs, tolerance: Measured(
        *integrated_gradients(model, inputs, tolerance=tolerance)
    ),
}


def importance_table(
    model: Classifier, ids: Sequence[str], texts: Texts, *, measures: Sequence[str], tolerance: float
) -> pl.DataFrame:
    """Columns `id`, `measure`, `output` (null: the measure is of the output as a whole), `values`, `error`.

    All rows of an instance stand together, in the order of `measures` and outputs.
    """
    for measure in measures:
        if measure not in REGISTRY:
            raise unknown_name("measure", measure, REGISTRY)
    inputs = Inputs.of(texts)
    return tabled(ids, ((measure, REGISTRY[measure](model, inputs, tolerance)) for measure in measures))


def tabled(ids: Sequence[str], measured: Iterable[tuple[str, Measured]]) -> pl.DataFrame:
    """The same of what any named measures say of instances."""
    names = pl.Series(list(ids), dtype=pl.String)
    rows = [
        pl.DataFrame(
            {
                "row": np.arange(len(names)),
                "id": names,
                "measure": pl.Series([measure] * len(names), dtype=pl.String),
                "output": pl.Series([output] * len(names), dtype=pl.Int32),
                "values": list_column(values),
                "error": pl.Series([None] * len(names) if error is None else error, dtype=pl.Float32),
            }
        )
        for measure, what in measured
        for output, values, error in _by_output(what)
    ]
    return pl.concat(rows).sort("row", maintain_order=True).drop("row")


def _by_output(measured: Measured) -> list[tuple[int | None, Ragged, NDArray[np.float32] | None]]:
    values, error = measured
    if values.values.ndim == 1:
        return [(None, values, error)]
    return [
        (output, values.like(np.ascontiguousarray(values.values[:, output])), error)
        for output in range(values.values.shape[1])
    ]
