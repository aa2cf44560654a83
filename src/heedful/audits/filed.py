"""Evidence that somebody else wrote: a Parquet or JSON lines file, or an `Evidence` in memory; some at a time."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import polars as pl

from heedful.audits.jsonl import json_frames
from heedful.columns import described
from heedful.corpora.fingerprints import source_fingerprint
from heedful.errors import BadInput, NotFound
from heedful.evidence import Evidence, collect, metadata, read_metadata, scan
from heedful.files import fingerprint

ROWS = 256  # instances held in memory at a time


@dataclass(frozen=True)
class Filed:
    """Evidence and where it is."""

    name: str
    fingerprint: str
    columns: tuple[str, ...]
    about: Mapping[str, str]  # Parquet metadata
    frames: Callable[[int], Iterator[pl.DataFrame]]  # from an instance on, ROWS at a time

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names, if they have any."""
        return tuple(described(self.about, "classes", list, self.name))

    def batches(self, start: int) -> Iterator[Evidence]:
        """Checked evidence from an instance on."""
        return (Evidence.from_frame(frame, self.about, self.name) for frame in self.frames(start))


def filed(evidence: Evidence | Path | str) -> Filed:
    """What is given; the kind of a file is told by its name."""
    if isinstance(evidence, Evidence):
        return _in_memory(evidence.validate())
    path = Path(evidence)
    if not path.is_file():
        raise NotFound(f"{path}: there is no such evidence file")
    kind = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if path.suffix == ".parquet":
        return _parquet(path)
    if kind in (".jsonl", ".ndjson"):
        return _json(path)
    raise BadInput(f"{path}: unknown kind of evidence file; valid: .parquet, .jsonl (also .jsonl.gz)")


def _in_memory(evidence: Evidence) -> Filed:
    def frames(start: int) -> Iterator[pl.DataFrame]:
        return (batch.to_frame() for batch in evidence.slice(start, len(evidence)).batches(ROWS))

    about = metadata(evidence.classes, evidence.provenance, evidence.decoder)
    hashes = [blake2b(frame.write_json().encode(), digest_size=8).hexdigest() for frame in frames(0)]
    columns = tuple(evidence.slice(0, 1).to_frame().columns)
    return Filed("evidence", fingerprint([hashes, about]), columns, about, frames)


def _parquet(path: Path) -> Filed:
    table = scan(path)

    def frames(start: int) -> Iterator[pl.DataFrame]:
        total = int(collect(table.select(pl.len()), path).item())
        return (collect(table.slice(first, ROWS), path) for first in range(start, total, ROWS))

    columns = tuple(table.collect_schema().names())
    return Filed(str(path), source_fingerprint(path), columns, read_metadata(path), frames)


def _json(path: Path) -> Filed:
    def frames(start: int) -> Iterator[pl.DataFrame]:
        return islice(json_frames(path, ROWS), start // ROWS, None)

    first = next(frames(0), None)
    if first is None:
        raise BadInput(f"{path}: there are no instances in it")
    return Filed(str(path), source_fingerprint(path), tuple(first.columns), {}, frames)
