"""Data as scripts: a page opened from disk may not fetch files, but it may load scripts."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

_KINDS = {"figure": "float64", "count": "int32", "class": "int32", "flag": "uint8"}
_UNDEFINED = {"int32": -(2**31), "uint8": 255}  # arrays of integers know no NaN
_NAMES = {"float64": "f64", "float32": "f32", "int32": "i32", "uint8": "u8"}
_ESCAPED = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}  # what could end a script or a line of it


def write_data(site: Path, name: str, value: Any) -> None:
    """Write a data file: a script that hands a value to the page under a name. Text inside is data, whatever it is."""
    write_json_data(site, name, to_json(value))


def write_json_data(site: Path, name: str, text: str) -> None:
    """The same for a value that is JSON already, made by `to_json`."""
    write_file(site / "data" / f"{name}.js", f"heedful.store.add({to_json(name)}, {text});\n")


def write_file(path: Path, text: str) -> None:
    """Write a file of a site that is being made; the site as a whole appears at once, so this need not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def to_json(value: Any) -> str:
    """JSON that is also a safe piece of a script."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, escaped in _ESCAPED.items():
        text = text.replace(letter, escaped)
    return text


def pack(values: NDArray[Any]) -> dict[str, str]:
    """An array as text, exactly: the bytes of its numbers in base64, little-endian."""
    data = np.ascontiguousarray(values)
    little = data.astype(data.dtype.newbyteorder("<"), copy=False)
    return {"kind": _NAMES[data.dtype.name], "data": base64.b64encode(little.tobytes()).decode("ascii")}


def pack_column(column: pl.Series, kind: str) -> dict[str, str]:
    """A column of `rows` as an array of its kind, undefined values marked."""
    to = _KINDS[kind]
    if to == "float64":
        return pack(column.cast(pl.Float64).fill_null(np.nan).to_numpy())
    return pack(column.cast(pl.Int32).fill_null(_UNDEFINED[to]).to_numpy().astype(to))
