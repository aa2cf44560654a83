"""Between ragged arrays and the list columns of frames, without a Python loop over rows."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import DTypeLike

from heedful.errors import BadInput
from heedful.ragged import Ragged

Kind = Literal["text", "numbers", "doubles", "flags", "indices"]

# kind -> its name in messages, the array's type, and which columns hold such values
_KINDS: dict[Kind, tuple[str, DTypeLike, Callable[[pl.DataType], bool]]] = {
    "text": ("text", object, lambda dtype: dtype in (pl.String, pl.Categorical)),
    "numbers": ("numbers", np.float32, lambda dtype: dtype.is_numeric()),
    "doubles": ("numbers", np.float64, lambda dtype: dtype.is_numeric()),
    "flags": ("flags", np.bool_, lambda dtype: dtype == pl.Boolean),
    "indices": ("whole numbers", np.int32, lambda dtype: dtype.is_integer()),
}


def list_column(rows: Ragged) -> pl.Series:
    """A list column (list of lists if the values are (N, K)) with one entry a row."""
    values = pl.Series(rows.values.tolist() if rows.values.dtype.kind == "O" else rows.values)
    if rows.values.ndim == 2:
        values = values.cast(pl.List(values.dtype.inner))  # type: ignore[attr-defined]
    flat = pl.DataFrame({"row": rows.row_of_value, "values": values})
    filled = flat.group_by("row", maintain_order=True).agg("values")
    every = pl.DataFrame({"row": np.arange(len(rows))}).join(filled, on="row", how="left", maintain_order="left")
    return every["values"].fill_null(pl.lit([], dtype=filled.schema["values"]))


def ragged_column(frame: pl.DataFrame, name: str, kind: Kind, where: str, *, levels: int = 1) -> Ragged:
    """The list column `name` as a ragged array; with two levels, lists of lists that are all of one width."""
    column = frame[name]
    if not _is_list(column):
        raise BadInput(f"{where}: column '{name}' holds {column.dtype}, not lists; see the evidence file format")
    if column.null_count():
        first = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise BadInput(f"{where}, instance '{frame['id'][first]}': '{name}' is null")
    lengths = _lengths(column)
    values = column.filter(pl.Series(lengths > 0)).explode()  # an empty list would explode to a null
    shape: tuple[int, ...] = (-1,)
    if levels == 2 and _is_list(values):
        widths = _lengths(values)
        if len(set(widths)) > 1:
            raise BadInput(f"{where}: the items of '{name}' have between {min(widths)} and {max(widths)} values each")
        if len(widths) and not widths[0]:
            raise BadInput(f"{where}: the items of '{name}' have no values; give one or more an item")
        shape = (-1, int(widths[0]) if len(widths) else 0)
        values = values.explode()
    if values.null_count():
        raise BadInput(f"{where}: column '{name}' has null items; every item needs a value")
    what, array_type, fits = _KINDS[kind]
    if not fits(values.dtype) and not (len(values) == 0 and values.dtype == pl.Null):
        raise BadInput(f"{where}: column '{name}' holds {values.dtype}, not {what}; see docs/formats.md")
    if kind == "indices":
        values = values.cast(pl.Int32, strict=False).fill_null(-1)  # one beyond 32 bits points at nothing, either
    array = _shared(values) if kind == "text" else values.to_numpy().astype(array_type)
    return Ragged.from_lengths(array.reshape(shape), lengths)


def _shared(values: pl.Series) -> np.ndarray[Any, np.dtype[Any]]:
    """Strings as an array of objects, equal ones shared: a text repeats its words."""
    words = values.cast(pl.String).rename("word")
    different = words.unique().to_frame().with_row_index("index")
    places = words.to_frame().join(different, on="word", how="left", maintain_order="left")["index"]
    return np.asarray(different["word"].to_numpy().astype(object)[places.to_numpy()])


def _is_list(column: pl.Series) -> bool:
    return isinstance(column.dtype, pl.List | pl.Array)


def _lengths(column: pl.Series) -> np.ndarray[Any, np.dtype[np.int64]]:
    lengths = column.list.len() if isinstance(column.dtype, pl.List) else column.arr.len()
    return lengths.cast(pl.Int64).to_numpy()
