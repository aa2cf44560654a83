"""Every measure of importance in one frame: one row for each text, measure and, where there are several, output."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import BadConfig, unknown_name
from heedful.importance import ATTRIBUTIONS, MEASURES
from heedful.importance.classifier_texts import ClassifierTexts
from heedful.importance.measure import Instances, Measured
from heedful.list_columns import list_column
from heedful.models.batches import Texts
from heedful.models.classifier import Classifier
from heedful.ragged import Ragged

NO_BLANK = "this model has no token that stands for nothing (mask, unknown), so items cannot be blanked; delete them"


def importance_table(
    model: Classifier,
    ids: Sequence[str],
    texts: Texts,
    *,
    measures: Sequence[str],
    tolerance: float,
    leave_one_out_tolerance: float = 0.0,
) -> pl.DataFrame:
    """Columns `id`, `measure`, `output` (null: the measure is of the output as a whole), `values`, `error`. All rows of
    a text stand together, in the order of `measures` and outputs."""
    instances = ClassifierTexts(model, texts, leave_one_out_tolerance=leave_one_out_tolerance)
    return table_of(instances, ids, measures=measures, tolerance=tolerance)


def table_of(
    instances: Instances, ids: Sequence[str], *, measures: Sequence[str], tolerance: float, signed: bool = False
) -> pl.DataFrame:
    """The same of texts of any model; `signed` adds the column `attribution`, where a measure is one: positive where an
    item speaks for the decided class, null in rows of single outputs."""
    for name in measures:
        if name not in MEASURES:
            raise unknown_name("measure", name, MEASURES)
        if MEASURES[name].blank and len(instances.ways) < 2:
            raise BadConfig(NO_BLANK)
    frames = []
    for name in measures:
        measure, measured = MEASURES[name], MEASURES[name].values(instances, tolerance)
        frame = _tabled(ids, name, measured)
        if signed and measure.signed is not None:
            attribution = list_column(measure.signed(instances, measured))
            frame = frame.with_columns(attribution.cast(pl.List(pl.Float64)).alias("attribution"))
        elif signed:
            frame = frame.with_columns(attribution=pl.lit(None, dtype=pl.List(pl.Float64)))
        frames.append(frame)
    return pl.concat(frames).sort("row", maintain_order=True).drop("row")


def attributions(
    instances: Instances, *, names: Sequence[str] = ATTRIBUTIONS, tolerance: float = 0.01
) -> dict[str, Ragged]:
    """Values (N,) of all items by each of the named measures: positive where an item speaks for the decided class."""
    found = {}
    for name in names:
        signed = MEASURES[name].signed if name in MEASURES else None
        if signed is None:
            raise unknown_name("attribution", name, signed_measures())
        found[name] = signed(instances, MEASURES[name].values(instances, tolerance))
    return found


def signed_measures() -> tuple[str, ...]:
    """Measures that say whether an item speaks for or against the decision: these can rank items."""
    return (*ATTRIBUTIONS, *(name for name in MEASURES if MEASURES[name].signed and name not in ATTRIBUTIONS))


def _tabled(ids: Sequence[str], measure: str, measured: Measured) -> pl.DataFrame:
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
        for output, values, error in _by_output(measured)
    ]
    return pl.concat(rows)


def _by_output(measured: Measured) -> list[tuple[int | None, Ragged, NDArray[np.float32] | None]]:
    values, error = measured.values.like(measured.values.values.astype(np.float32, copy=False)), measured.error
    if values.values.ndim == 1:
        return [(None, values, error)]
    return [
        (output, values.like(np.ascontiguousarray(values.values[:, output])), error)
        for output in range(values.values.shape[1])
    ]
