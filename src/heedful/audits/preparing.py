"""The stage `texts`: the data read once, row by row, and checked before anything is asked of the model."""

from collections.abc import Iterator
from itertools import islice

import polars as pl

from heedful.adapters.subject import Subject
from heedful.audits.directory import Audit
from heedful.audits.labels import label_indices
from heedful.audits.rows import Row, Source
from heedful.errors import BadInput
from heedful.files import Parts
from heedful.runs.reporter import Reporter

ROWS = 512  # read at a time


def prepare(audit: Audit, source: Source, subject: Subject, reporter: Reporter) -> None:
    """Write texts.parquet: `id`, `text`, `label` (an index) and `tokens`, how many the model reads of it. What it
    cannot be asked is refused with its row, or left out where that was chosen."""
    reporter.start(f"reading {source.name}")
    parts = Parts(audit.folder / "texts.parquet")
    done = parts.rows
    rows = islice(source.rows(), done, None)
    while some := list(islice(rows, ROWS)):
        parts.add(_frame(some, subject))
        done += len(some)
        reporter.reach(done, f"{done:,} texts")
    if not done:
        raise BadInput(f"{source.name}: there is no text in it")
    facts = _checked(audit, parts.scan(), subject)
    kept = parts.scan().filter(pl.col("items") > 0)
    labels = label_indices(kept, subject.classes, source.names) if audit.options.data.label is not None else {}
    index = pl.col("label").replace_strict(labels, return_dtype=pl.Int32) if labels else pl.lit(None, dtype=pl.Int32)
    parts.finish(merged=kept.select("id", "text", index.alias("label"), "tokens"))
    audit.record(data=facts)
    told = [f"{facts['texts']:,} texts"]
    told += [f"{facts[name]:,} {name}" for name in ("skipped", "truncated") if facts[name]]
    reporter.finish(", ".join(told))


def _frame(rows: list[Row], subject: Subject) -> pl.DataFrame:
    encoded = subject.encode([row.text for row in rows])
    empty = pl.Series([not row.text.strip() for row in rows])
    counts = pl.DataFrame({"tokens": encoded.tokens.lengths, "items": encoded.lengths}).cast(pl.Int32)
    kinds = dict.fromkeys(Row._fields, pl.String)
    frame = pl.DataFrame(rows, schema=kinds, orient="row").hstack(counts)
    return frame.with_columns(items=pl.when(empty).then(0).otherwise("items").cast(pl.Int32))


def _checked(audit: Audit, rows: pl.LazyFrame, subject: Subject) -> dict[str, int]:
    """What is in the data: numbers of texts that are audited, skipped and truncated."""
    options = audit.options.data
    for (name,) in _first(rows.filter(pl.col("id").is_duplicated()).select("id")):
        raise BadInput(f"{options.name}: the id '{name}' occurs more than once; ids must be unique")
    empty = rows.filter(pl.col("items") == 0)
    skipped = _count(empty)
    if skipped and not options.skip_empty:
        (where,) = next(_first(empty.select("where")))
        raise BadInput(
            f"{where}: the text is empty, or the tokenizer finds nothing in it ({skipped:,} such texts in all); remove "
            "them, or leave them out with --skip-empty"
        )
    total = _count(rows) - skipped
    if not total:
        raise BadInput(f"{options.name}: every text is empty, so there is nothing to audit")
    longest = subject.longest
    long = rows.filter(pl.col("tokens") > longest) if longest is not None else rows.head(0)
    truncated = _count(long)
    if truncated and not options.truncate:
        where, tokens = next(_first(long.select("where", "tokens")))
        raise BadInput(
            f"{where}: the text has {tokens:,} tokens, and the model reads {longest:,} at most ({truncated:,} such "
            "texts in all); shorten them, or have them cut at the end with --truncate"
        )
    return {"texts": total, "skipped": skipped, "truncated": truncated}


def _count(frame: pl.LazyFrame) -> int:
    return int(frame.select(pl.len()).collect().item())


def _first(frame: pl.LazyFrame) -> Iterator[tuple[object, ...]]:
    return iter(frame.head(1).collect().rows())
