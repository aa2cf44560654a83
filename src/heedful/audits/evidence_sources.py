"""Evidence from elsewhere, read in batches: a Parquet or JSON lines file, or an `Evidence` in memory."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from heedful.corpora.archives import lines
from heedful.corpora.locating import source_fingerprint
from heedful.corpora.tabular import json_object
from heedful.damage import guarded
from heedful.errors import BadInput, NotFound
from heedful.evidence import Evidence, damage_reported, metadata, read_metadata, scan
from heedful.evidence_checks import described
from heedful.files import fingerprint
from heedful.printable import is_plain

ROWS = 256  # instances in memory at a time


@dataclass(frozen=True)
class EvidenceSource:
    """Evidence that can be read in batches."""

    name: str
    fingerprint: str
    columns: tuple[str, ...]
    about: Mapping[str, str]  # Parquet metadata
    frames: Callable[[int], Iterator[pl.DataFrame]]  # from a given instance on, ROWS at a time

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, if known."""
        return tuple(described(self.about, "classes", list, self.name))

    def batches(self, start: int) -> Iterator[Evidence]:
        """Validated evidence from instance `start` on."""
        return (Evidence.from_frame(frame, self.about, self.name) for frame in self.frames(start))


def evidence_source(evidence: Evidence | Path | str) -> EvidenceSource:
    """From an `Evidence` or a file; its suffix names the format."""
    if isinstance(evidence, Evidence):
        return _in_memory(evidence.validate())
    path = Path(evidence)
    if not path.is_file():
        raise NotFound(f"{path}: no such evidence file")
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if path.suffix == ".parquet":
        return _parquet(path)
    if kind in (".jsonl", ".ndjson"):
        return _json(path)
    raise BadInput(f"{path}: unknown evidence format; valid: .parquet, .jsonl (also .jsonl.gz)")


def _in_memory(evidence: Evidence) -> EvidenceSource:
    def frames(start: int) -> Iterator[pl.DataFrame]:
        return (batch.to_frame() for batch in evidence.slice(start, len(evidence)).batches(ROWS))

    about = metadata(evidence.classes, evidence.provenance, evidence.decoder)
    hashes = [blake2b(frame.write_json().encode(), digest_size=8).hexdigest() for frame in frames(0)]
    columns = tuple(evidence.slice(0, 1).to_frame().columns)
    return EvidenceSource("evidence", fingerprint([hashes, about]), columns, about, frames)


def _parquet(path: Path) -> EvidenceSource:
    table = scan(path)

    def frames(start: int) -> Iterator[pl.DataFrame]:
        with damage_reported(path):
            batches = table.slice(start).collect_batches(chunk_size=ROWS, engine="streaming")
        yield from guarded(batches, partial(damage_reported, path))

    with damage_reported(path):
        columns = tuple(table.collect_schema().names())
    return EvidenceSource(str(path), source_fingerprint(path), columns, read_metadata(path), frames)


def _json(path: Path) -> EvidenceSource:
    def frames(start: int) -> Iterator[pl.DataFrame]:
        return islice(_json_frames(path, ROWS), start // ROWS, None)

    first = next(frames(0), None)
    if first is None:
        raise BadInput(f"{path}: the file has no instances")
    return EvidenceSource(str(path), source_fingerprint(path), tuple(first.columns), {}, frames)


class _Column(NamedTuple):
    kind: pl.DataType
    levels: int  # of lists
    leaf: tuple[type, ...]
    description: str


def _column(leaf: pl.DataType, levels: int, *python: type) -> _Column:
    kind = leaf
    for _ in range(levels):
        kind = pl.List(kind)
    names = {
        pl.String(): "UTF-8 text",
        pl.Float64(): "numbers",
        pl.Int64(): "whole numbers",
        pl.Boolean(): "true or false",
    }
    return _Column(kind, levels, python, "a list of " * levels + names[leaf])


_COLUMNS = {
    "id": _column(pl.String(), 0, str),
    "tokens": _column(pl.String(), 1, str),
    "weights": _column(pl.Float64(), 1, float, int),
    "scores": _column(pl.Float64(), 2, float, int),
    "bias": _column(pl.Float64(), 1, float, int),
    "output": _column(pl.Float64(), 1, float, int),
    "label": _column(pl.Int64(), 0, int, type(None)),
    "query": _column(pl.String(), 1, str),
    "words": _column(pl.String(), 1, str),
    "sentences": _column(pl.Int64(), 1, int),
    "truth": _column(pl.Boolean(), 1, bool),
}


def _json_frames(path: Path, size: int) -> Iterator[pl.DataFrame]:
    """The instances of a JSON lines file, `size` at a time; all must have the columns of the first."""
    rows = ((f"{path}, line {number}", line) for number, line in lines(path) if line.strip())
    columns: list[str] | None = None
    while some := list(islice(rows, size)):
        objects = [json_object(line, where) for where, line in some]
        columns = columns or [name for name in _COLUMNS if name in objects[0]]
        for (where, _), row in zip(some, objects, strict=True):
            _check_json(row, columns, where)
        kinds = {name: _COLUMNS[name].kind for name in columns}
        yield pl.DataFrame({name: pl.Series([row[name] for row in objects], dtype=kinds[name]) for name in columns})


def _check_json(row: dict[str, Any], columns: list[str], where: str) -> None:
    for name, column in _COLUMNS.items():
        if (name in row) != (name in columns):
            state = "has" if name in row else "lacks"
            raise BadInput(f"{where}: {state} '{name}', unlike the first line; all lines need the same columns")
        if name in row and not _fits(row[name], column, column.levels):
            raise BadInput(f"{where}: '{name}' is not {column.description}; see docs/formats.md")


def _fits(value: Any, column: _Column, levels: int) -> bool:
    if levels:
        return isinstance(value, list) and all(_fits(each, column, levels - 1) for each in value)
    if isinstance(value, str) and not is_plain(value):
        return False
    whole = not isinstance(value, int) or isinstance(value, bool) or abs(value) < 1 << 62
    return whole and isinstance(value, column.leaf) and (not isinstance(value, bool) or bool in column.leaf)
