"""The columns and the metadata of an evidence file as arrays; errors name the column and, if they can, the instance."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.nested import Kind, ragged
from heedful.ragged import Ragged
from heedful.validation import NO_LABEL

REQUIRED = ("id", "tokens", "weights", "output")


def check_columns(frame: pl.DataFrame, where: str) -> None:
    """Raise unless all required columns are there."""
    missing = [name for name in REQUIRED if name not in frame.columns]
    if missing:
        raise BadInput(
            f"{where}: column '{missing[0]}' is missing; an evidence file has {', '.join(REQUIRED)} at least"
        )


def ids(frame: pl.DataFrame, where: str) -> list[str]:
    """The names of the instances, of which there must be some."""
    if not len(frame):
        raise BadInput(f"{where}: there are no instances in it")
    if frame["id"].dtype != pl.String:
        raise BadInput(f"{where}: column 'id' holds {frame['id'].dtype}; ids are strings")
    return frame["id"].to_list()


def labels(frame: pl.DataFrame, where: str) -> NDArray[np.int64] | None:
    """The true classes, NO_LABEL where there is none."""
    if "label" not in frame.columns:
        return None
    column = frame["label"]
    if not column.dtype.is_integer() and column.dtype != pl.Null:
        raise BadInput(f"{where}: column 'label' holds {column.dtype}; labels are indices into the class names")
    # an index beyond 64 bits is as wrong as any other that names no class
    whole = column.cast(pl.Int64, strict=False).fill_null(2**62)
    return pl.select(pl.when(column.is_null()).then(NO_LABEL).otherwise(whole)).to_series().to_numpy()


def matrix(frame: pl.DataFrame, name: str, where: str) -> NDArray[np.float32]:
    """A column of equally long lists of numbers, (n, width)."""
    rows = ragged(frame, name, "numbers", where)
    lengths = rows.lengths
    if len(lengths) and np.any(lengths != lengths[0]):
        row = int(np.flatnonzero(lengths != lengths[0])[0])
        raise BadInput(
            f"{where}, instance '{frame['id'][row]}': '{name}' has {lengths[row]} values where others have {lengths[0]}"
        )
    return rows.values.reshape(len(rows), -1)


def optional_matrix(frame: pl.DataFrame, name: str, where: str) -> NDArray[np.float32] | None:
    """The same, None if there is no such column."""
    return matrix(frame, name, where) if name in frame.columns else None


def optional(frame: pl.DataFrame, name: str, kind: Kind, where: str, *, levels: int = 1) -> Ragged | None:
    """A column of lists, None if there is no such column."""
    return ragged(frame, name, kind, where, levels=levels) if name in frame.columns else None


def described(about: Mapping[str, str], key: str, kind: type[Any], where: str) -> Any:
    """A list of names or an object of the metadata; an empty one if it has none."""
    try:
        value = json.loads(about.get(key, "null"))
    except ValueError as error:
        raise BadInput(f"{where}: the metadata '{key}' is not JSON ({error})") from error
    names = value if kind is list and isinstance(value, list) else []
    if value is not None and not (isinstance(value, kind) and all(isinstance(name, str) for name in names)):
        raise BadInput(
            f"{where}: the metadata '{key}' must be a JSON {'list of strings' if kind is list else 'object'}"
        )
    return value or kind()
