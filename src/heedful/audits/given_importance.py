"""Importance measured elsewhere, compared with attention on equal terms: `id`, `method`, `values`, maybe `tokens`."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.audits.directory import Audit
from heedful.corpora.locating import source_fingerprint
from heedful.damage import first_line, guarded, panics_as_errors, unreadable
from heedful.errors import BadInput, NotFound
from heedful.files import Parts, row_count, rows_of, scan_parquet
from heedful.list_columns import ragged_column
from heedful.ragged import Indices, Ragged

COLUMNS: dict[str, pl.DataType] = {"id": pl.String(), "method": pl.String(), "values": pl.List(pl.Float64)}
ROWS, RANGES = 4096, 64  # rows read at a time; ranges of instances that they are dealt out to, at most
OURS = frozenset(
    "attention random gradient gradient_attention gradient_input gradient_through_attention integrated_gradients "
    "leave_one_out leave_one_out_blank contribution ascending optimal".split()
)


class Misfit(BadInput):
    """Importance that does not fit the evidence. Another file makes another audit, so this one cannot be resumed."""


@dataclass(frozen=True)
class GivenImportance:
    """A checked table of importance, not yet matched with the evidence."""

    name: str
    fingerprint: str
    methods: tuple[str, ...]
    table: pl.LazyFrame


def read_given_importance(importance: pl.DataFrame | Path | str) -> GivenImportance:
    """From a frame or a Parquet or JSON lines file; checks its columns and methods."""
    if isinstance(importance, pl.DataFrame):
        name, table = "importance", importance.lazy()
        fingerprint = blake2b(importance.write_json().encode(), digest_size=8).hexdigest()
    else:
        path = Path(importance)
        name, table, fingerprint = str(path), _scan(path), source_fingerprint(path)
    with _damage_named(name):
        there = table.collect_schema()
        for column in COLUMNS:
            if column not in there:
                raise BadInput(f"{name}: no column '{column}'; importance needs id, method and values")
        _check_lists(there, name)
        wanted = [pl.col(column).cast(kind) for column, kind in COLUMNS.items()]
        table = table.select(*wanted, *([pl.col("tokens").cast(pl.List(pl.String))] if "tokens" in there else []))
        methods = table.select(pl.col("method").unique(maintain_order=True)).collect()["method"].to_list()
    _check_methods(methods, name)
    return GivenImportance(name, fingerprint, tuple(methods), table)


def write_given(audit: Audit, importance: GivenImportance) -> str:
    """Write given.parquet: `row` of the evidence, `id`, `method` and `values`, one row an instance and method.

    The file is read once, in batches, whatever its order: each batch is dealt out to ranges of instances, and these are
    sorted one by one.
    """
    evidence = scan_parquet(audit.folder / "evidence.parquet")
    instances = evidence.select("id", items=pl.col("tokens").list.len()).with_row_index("row")
    known = instances.collect(engine="streaming")
    parts = Parts(audit.folder / "given.parquet")
    parts.discard()
    times = {method: np.zeros(len(known), dtype=np.uint32) for method in importance.methods}
    size = max(ROWS, -(-len(known) // RANGES))
    batches = importance.table.collect_batches(chunk_size=ROWS, engine="streaming")
    for number, batch in enumerate(guarded(batches, partial(_damage_named, importance.name))):
        found = batch.join(known, on="id", how="inner", maintain_order="left")
        _check_values(found, importance)
        for (method,), rows in found.partition_by("method", as_dict=True).items():
            np.add.at(times[method], rows["row"].to_numpy(), 1)
        dealt = found.drop("items").with_columns(place=pl.col("row") // size)
        for (place,), rows in dealt.partition_by("place", as_dict=True, include_key=False).items():
            rows.write_parquet(parts.folder / f"range-{place}" / f"{number:06d}.parquet", mkdir=True)
    _check_times(times, known["id"], importance)
    for place, start in enumerate(range(0, len(known), size)):
        files = sorted((parts.folder / f"range-{place}").iterdir())
        frame = scan_parquet(files).sort("row", pl.col("method").cast(pl.Enum(importance.methods))).collect()
        if "tokens" in frame.columns:
            own = evidence.select(own="tokens").with_row_index("row").slice(start, size).collect()
            differs = frame.join(own, on="row", how="left", maintain_order="left").filter(
                pl.col("tokens") != pl.col("own")
            )
            _refuse(differs, importance, "its tokens differ from the evidence's")
        parts.add(frame.select("row", *COLUMNS))
    parts.finish()
    return f"{', '.join(importance.methods)} of {len(known):,} instances"


def given_values(audit: Audit, rows: Indices) -> dict[str, Ragged]:
    """Values by method for ascending rows of the evidence."""
    groups = _rows(audit, rows).partition_by("method", as_dict=True)
    return {str(name): ragged_column(frame, "values", "doubles", "given") for (name,), frame in groups.items()}


def as_importance(audit: Audit, rows: Indices) -> pl.DataFrame:
    """The given values with the columns of importance.parquet."""
    output, error = pl.lit(None, dtype=pl.Int32).alias("output"), pl.lit(None, dtype=pl.Float32).alias("error")
    values = pl.col("values").cast(pl.List(pl.Float32))
    return _rows(audit, rows).select("id", pl.col("method").alias("measure"), output, values, error)


def _rows(audit: Audit, rows: Indices) -> pl.DataFrame:
    """The rows of given.parquet for ascending rows of the evidence: one a method."""
    table = scan_parquet(audit.folder / "given.parquet")
    each = row_count(table) // audit.manifest["data"]["texts"]
    return rows_of(table, (rows[:, None] * each + np.arange(each)).ravel())


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    try:
        with panics_as_errors():
            yield
    except (pl.exceptions.PolarsError, OSError) as error:
        problem = f": cannot be read as importance ({first_line(error)})"
        raise unreadable(Path(name), problem, error) from error


def _scan(path: Path) -> pl.LazyFrame:
    if not path.is_file():
        raise NotFound(f"{path}: no such importance file")
    if path.suffix == ".parquet":
        return scan_parquet(path)
    if path.suffix in (".jsonl", ".ndjson"):
        return pl.scan_ndjson(path, infer_schema_length=None)
    raise BadInput(f"{path}: unknown importance format; valid: .parquet, .jsonl")


def _check_lists(there: pl.Schema, name: str) -> None:
    """Refuse wrong types now: casts are lazy and would fail only when values are read."""
    for column, leaf in (("values", "numbers"), ("tokens", "text")):
        kind = there.get(column)
        if kind is None and column == "tokens":
            continue
        inner = kind.inner if isinstance(kind, pl.List | pl.Array) else None
        fits = inner is not None and (inner.is_numeric() if leaf == "numbers" else inner == pl.String)
        if not fits and inner != pl.Null:
            raise BadInput(f"{name}: column '{column}' is not a list of {leaf} in each row, but {kind}")


def _check_methods(methods: list[str | None], name: str) -> None:
    if not methods:
        raise BadInput(f"{name}: the table is empty")
    for method in methods:
        if method is None or not re.fullmatch(r"[A-Za-z][\w.+-]{0,39}", method):
            raise BadInput(f"{name}: {method!r} is not a valid method name; use letters, digits and _, at most 40")
        if method in OURS:
            raise BadInput(
                f"{name}: '{method}' is the name of one of heedful's own methods; rename it, e.g. 'my_{method}'"
            )


def _check_times(times: dict[str, NDArray[np.uint32]], ids: pl.Series, importance: GivenImportance) -> None:
    """Refuse methods that do not have one row for each instance; `times`: how many they have, (n,)."""
    for method, counts in times.items():
        if np.any(counts > 1):
            raise Misfit(f"{importance.name}, method '{method}': an id has several rows; give one per instance")
        if not np.all(counts):
            lost = ids[int(np.argmin(counts))]
            raise Misfit(f"{importance.name}, method '{method}': no row for instance '{lost}'; give one for each")


def _check_values(found: pl.DataFrame, importance: GivenImportance) -> None:
    differs = pl.col("values").list.len() != pl.col("items")
    _refuse(found.filter(differs), importance, "the number of values differs from the number of items")
    bad = pl.col("values").list.eval(pl.element().is_null() | ~pl.element().is_finite()).list.any()
    _refuse(found.filter(bad), importance, "a value is null, NaN or infinite")


def _refuse(rows: pl.DataFrame, importance: GivenImportance, problem: str) -> None:
    for name, method in rows.select("id", "method").head(1).iter_rows():
        raise Misfit(
            f"{importance.name}, method '{method}', instance '{name}': {problem}; give one finite value per item"
        )
