"""Between ragged arrays and the list columns of frames, without a Python loop over rows."""

from typing import Any

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.ragged import Ragged


def nested(rows: Ragged) -> pl.Series:
    """A list column (list of lists if the values are (N, K)) with one entry a row."""
    values = pl.Series(rows.values.tolist() if rows.values.dtype.kind == "O" else rows.values)
    if rows.values.ndim == 2:
        values = values.cast(pl.List(values.dtype.inner))  # type: ignore[attr-defined]
    filled = (
        pl.DataFrame({"row": rows.row_of_value, "values": values}).group_by("row", maintain_order=True).agg("values")
    )
    every = pl.DataFrame({"row": np.arange(len(rows))}).join(filled, on="row", how="left", maintain_order="left")
    return every["values"].fill_null(pl.lit([], dtype=filled.schema["values"]))


def ragged(frame: pl.DataFrame, name: str, dtype: np.dtype[Any], where: str) -> Ragged:
    """The list column `name` as a ragged array; lists of lists must all be of one width."""
    column = frame[name]
    if not isinstance(column.dtype, pl.List | pl.Array):
        raise BadInput(f"{where}: column '{name}' is {column.dtype}, not a list; see the evidence file format")
    if column.null_count():
        first = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise BadInput(f"{where}, instance '{frame['id'][first]}': '{name}' is null")
    lengths = column.list.len() if isinstance(column.dtype, pl.List) else column.arr.len()
    values = column.filter(lengths > 0).explode()  # an empty list would explode to a null
    width = None
    if isinstance(values.dtype, pl.List | pl.Array):
        widths = values.list.len() if isinstance(values.dtype, pl.List) else values.arr.len()
        sizes = widths.to_numpy()
        if len(set(sizes)) > 1:
            raise BadInput(f"{where}: the items of '{name}' have between {min(sizes)} and {max(sizes)} values each")
        width = int(sizes[0]) if len(sizes) else 0
        values = values.explode()
    if values.null_count():
        raise BadInput(f"{where}: column '{name}' has null items; every item needs a value")
    if dtype.kind != "O" and not (values.dtype.is_numeric() or values.dtype == pl.Boolean):
        raise BadInput(f"{where}: column '{name}' holds {values.dtype}, not numbers; see the evidence file format")
    array = values.to_numpy().astype(dtype)
    return Ragged.from_lengths(array if width is None else array.reshape(-1, width), lengths.to_numpy())
