"""Hostile inputs made from good ones: damaged bytes, changed values of JSON and TOML, changed columns of tables."""

import copy
import io
import json
import tomllib
from collections.abc import Callable
from random import Random
from typing import Any

import tomli_w

# what readers are known to stumble over
_BYTES = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\r",
    b"\n\n",
    b",,,,",
    b"\t",
    b"(" * 3000,
    b"[" * 3000,
    b'{"a":' * 3000,
    b"9" * 5000,
    b"-1",
    b"NaN",
    b"1e999",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"../../../etc/passwd",
    b"<script>",
    b"%s%n",
    b"\x1b[2J",
    b"null",
    b"PK\x05\x06" + bytes(18),
    b"PAR1",
]
_VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**31,
    2**63,
    -(10**30),
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "x" * 10_000,
    "\x00",
    "\ud800",
    "../../../etc/passwd",
    "/dev/full",
    "https://example.org/a",
    "org/name",
    "[bold]",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    [1, "a", None],
    {"a": [1, {"b": 2}]},
]


def damaged(content: bytes, draw: Random) -> bytes:
    """The content with some bytes flipped, overwritten, cut out, doubled or put in, or cut short."""
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        _DAMAGE[draw.randrange(len(_DAMAGE))](data, _place(data, draw), draw)
    return bytes(data)


def _place(data: bytearray, draw: Random) -> int:
    """Anywhere, or near the beginning or the end, where formats keep what they say about themselves."""
    where, near = draw.random(), int(draw.expovariate(1 / 200))
    if where < 0.4:
        return draw.randrange(len(data) + 1)
    return min(near, len(data)) if where < 0.6 else max(0, len(data) - near)


def _flip(data: bytearray, at: int, draw: Random) -> None:
    if at < len(data):
        data[at] ^= 1 << draw.randrange(8)


def _overwrite(data: bytearray, at: int, draw: Random) -> None:
    size = draw.choice((1, 2, 4, 8, 64))
    data[at : at + size] = draw.choice((bytes(size), b"\xff" * size, draw.randbytes(size)))


def _cut(data: bytearray, at: int, draw: Random) -> None:
    del data[at : at + draw.choice((1, 4, 40, 400))]


def _double(data: bytearray, at: int, draw: Random) -> None:
    data[at:at] = data[at : at + draw.choice((1, 4, 40, 400))]


def _put_in(data: bytearray, at: int, draw: Random) -> None:
    data[at:at] = draw.choice(_BYTES)


def _shorten(data: bytearray, at: int, draw: Random) -> None:
    if draw.random() < 0.3:
        del data[at:]


_DAMAGE: list[Callable[[bytearray, int, Random], None]] = [_flip, _flip, _overwrite, _cut, _double, _put_in, _shorten]


def changed(value: Any, draw: Random) -> Any:
    """The value with some part of it replaced, left out, added or wrapped."""
    value = copy.deepcopy(value)
    for _ in range(draw.choice((1, 1, 2, 4))):
        value = _change(value, draw)
    return value


def _change(value: Any, draw: Random) -> Any:
    if not isinstance(value, dict | list) or not value or draw.random() < 0.05:
        kind = draw.random()
        return draw.choice(_VALUES) if kind < 0.8 else [value] if kind < 0.9 else {"a": value}
    key = draw.choice(list(value) if isinstance(value, dict) else range(len(value)))
    kind = draw.random()
    if kind < 0.12:
        del value[key]
    elif kind < 0.24:
        if isinstance(value, dict):
            value[draw.choice(("", "x", "seed", "..", "a.b", str(key)[::-1]))] = draw.choice(_VALUES)
        else:
            value.insert(key, draw.choice(_VALUES))
    else:
        value[key] = _change(value[key], draw)
    return value


def changed_json(content: bytes, draw: Random) -> bytes:
    """A JSON text whose value is changed."""
    value = changed(json.loads(content), draw)
    if draw.random() < 0.02:
        return b"[" * 200_000 + b"]" * draw.choice((0, 200_000))
    return json.dumps(value, ensure_ascii=draw.random() < 0.9).encode("utf-8", "surrogatepass")


def changed_lines(content: bytes, draw: Random) -> bytes:
    """JSON lines, one or two of which are changed."""
    lines = content.splitlines()
    for at in draw.sample(range(len(lines)), min(len(lines), draw.choice((1, 2)))):
        lines[at] = changed_json(lines[at], draw) if lines[at].strip() else b"{}"
    return b"\n".join(lines) + b"\n"


def changed_toml(content: bytes, draw: Random) -> bytes:
    """A TOML file whose values are changed; TOML has no null."""
    value = changed(tomllib.loads(content.decode()), draw)
    try:
        return tomli_w.dumps(_without_null(value)).encode("utf-8", "surrogatepass")
    except (TypeError, AttributeError):  # no longer a table
        return damaged(content, draw)


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_null(each) for each in value if each is not None]
    return value


def changed_table(content: bytes, draw: Random) -> bytes:
    """A Parquet table, whole as a file, with a column of other values or of another type, or with other rows."""
    import polars as pl

    frame = pl.read_parquet(io.BytesIO(content))
    name = draw.choice(frame.columns)
    kind = frame.schema[name]
    column, first = pl.col(name), pl.int_range(pl.len()) == draw.randrange(max(1, len(frame)))
    changes: list[Callable[[], pl.DataFrame]] = [
        lambda: frame.drop(name),
        lambda: frame.rename({name: f"{name}2"}),
        lambda: frame.with_columns(pl.lit(None).alias(name)),
        lambda: frame.with_columns(pl.lit(draw.choice((0, 1.5, "x", True))).alias(name)),
        lambda: frame.with_columns(pl.when(first).then(None).otherwise(column).alias(name)),
        lambda: frame.with_columns(pl.concat_list(column) if not isinstance(kind, pl.List) else column.list.first()),
        lambda: frame.with_columns(column.cast(draw.choice((pl.String, pl.Int8, pl.Binary, pl.Float64)), strict=False)),
        lambda: frame.with_columns(column.shift(1)),
        lambda: frame.with_columns(column.reverse()),
        lambda: pl.concat([frame, frame.head(1)]),
        lambda: frame.head(draw.choice((0, 1))),
    ]
    if isinstance(kind, pl.List):
        inner = pl.element()
        if kind.inner.is_float():
            odd = pl.lit(draw.choice((float("nan"), float("inf"), -1.0, 1e30, None)), dtype=kind.inner)
            spoilt = column.list.eval(pl.when(inner.cum_count() == 1).then(odd).otherwise(inner))
            changes += [lambda: frame.with_columns(pl.when(first).then(spoilt).otherwise(column).alias(name))] * 3
        changes += [
            lambda: frame.with_columns(pl.when(first).then(column.list.head(0)).otherwise(column).alias(name)),
            lambda: frame.with_columns(pl.when(first).then(column.list.tail(1)).otherwise(column).alias(name)),
            lambda: frame.with_columns(column.list.reverse()),
        ]
    result = io.BytesIO()
    try:
        draw.choice(changes)().write_parquet(result)
    except pl.exceptions.PolarsError:  # a change that this column does not allow
        return damaged(content, draw)
    return result.getvalue()


_CHANGES = {".json": changed_json, ".jsonl": changed_lines, ".toml": changed_toml, ".parquet": changed_table}


def hostile(name: str, content: bytes, draw: Random) -> bytes:
    """The content of a file of this name, damaged or changed."""
    ending = f".{name.rpartition('.')[2]}"
    if ending in _CHANGES and draw.random() < 0.6:
        return _CHANGES[ending](content, draw)
    return damaged(content, draw)
