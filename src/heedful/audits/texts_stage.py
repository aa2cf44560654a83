"""The stage `texts`: the data are read once and checked before the model is run on them."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from heedful.adapters.subject import Subject
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.audits.directory import Audit
from heedful.audits.text_sources import Row, Source
from heedful.corpora.bad_rows import BadRow, BadRowList, BlankRow, EmptyText, NoLabel
from heedful.corpora.labels import same_key
from heedful.errors import BadInput
from heedful.evidence_checks import NO_LABEL
from heedful.files import Parts, row_count, rows_of, scan_parquet
from heedful.list_columns import ragged_column
from heedful.progress import Reporter
from heedful.ragged import Indices, Ragged

MANY = 12  # classes that an error message lists
ROWS = 512  # rows of the data encoded at a time


def prepare(audit: Audit, source: Source, subject: Subject, reporter: Reporter) -> None:
    """Write texts.parquet: `id`, `text`, `label` (an index), `tokens`, their number, and `truth`, where it is known.
    Texts that the model cannot read are refused with their row, or left out if the options say so."""
    reporter.start(f"reading {source.name}")
    parts = Parts(audit.folder / "texts.parquet")
    if parts.rows and not {"unknown", "truth"} <= {*parts.scan().collect_schema()}:  # begun by an earlier version
        parts.discard()
    done = parts.rows
    rows = islice(source.rows(), done, None)
    while some := list(islice(rows, ROWS)):
        parts.add(_frame(some, subject))
        done += len(some)
        reporter.reach(done, f"{done:,} texts")
    if not done:
        raise BadInput(f"{source.name}: it has no texts")
    facts = _checked(audit, parts.scan(), subject)
    kept = parts.scan().filter(~_lacking(audit))
    options, labels = audit.options.data, {}
    if options.label is not None:
        labels = label_indices(kept, subject.classes, source.names, merge=options.merge_labels)
    index = pl.col("label").replace_strict(labels, return_dtype=pl.Int32) if labels else pl.lit(None, dtype=pl.Int32)
    unknown = float(kept.select(pl.col("unknown").sum() / pl.col("items").sum()).collect().item())  # share of items
    known = ["truth"] if source.truth else []
    parts.finish(merged=kept.select("id", "text", index.alias("label"), "tokens", *known))
    audit.record(data=facts, unknown=unknown)
    counts = [f"{facts['texts']:,} texts"]
    counts += [f"{facts[name]:,} {name}" for name in ("skipped", "truncated") if facts[name]]
    reporter.finish("; ".join([", ".join(counts), *([source.note] if source.note else [])]))


class TextBatch(NamedTuple):
    """Encoded texts."""

    ids: list[str]
    texts: Texts
    labels: Indices  # NO_LABEL: unknown


class Reader:
    """Reads texts.parquet in parts; only the lengths of all texts are held in memory."""

    def __init__(self, audit: Audit, subject: Subject) -> None:
        self.subject = subject
        self._table = scan_parquet(audit.folder / "texts.parquet")
        counts = self._table.select("tokens").collect()["tokens"].to_numpy().astype(np.int64)
        longest = subject.longest if audit.options.data.truncate else None
        self.lengths = counts if longest is None else np.minimum(counts, longest)  # (n,): tokens
        self._longest = longest

    def __call__(self, rows: Indices) -> TextBatch:
        """The texts of the given rows, in ascending order."""
        frame = rows_of(self._table, rows)
        ids = frame["id"].to_list()
        texts = cut(self.subject.encode(frame["text"].to_list()), self._longest)
        if not texts.lengths.all():
            name = ids[int(np.argmin(texts.lengths))]
            raise BadInput(f"text '{name}': its first word is longer than the model can read; remove it")
        return TextBatch(ids, texts, frame["label"].cast(pl.Int64).fill_null(NO_LABEL).to_numpy())

    def truth(self, rows: Indices) -> Ragged | None:
        """Which items of these texts are known to decide; None: that is not known."""
        if "truth" not in self._table.collect_schema():
            return None
        return ragged_column(rows_of(self._table, rows), "truth", "flags", "texts.parquet")


def cut(texts: Texts, longest: int | None) -> Texts:
    """Truncate texts with more than `longest` tokens after the last item that fits."""
    if longest is None or not np.any(texts.tokens.lengths > longest):
        return texts
    inside = texts.item.values != NO_ITEM
    added = texts.tokens.like(~inside).sum()  # (n,)
    places = texts.names.offsets[texts.tokens.row_of_value[inside]] + texts.item.values[inside]
    sizes = texts.names.like(np.bincount(places, minlength=len(texts.names.values)))  # (N,): tokens per item
    sums = np.cumsum(sizes.values)
    before = np.concatenate([[0], sums])[sizes.offsets[:-1]]  # (n,)
    return texts.keep(sums <= (before + longest - added)[sizes.row_of_value])


def label_indices(
    frame: pl.LazyFrame, classes: Sequence[str], names: Sequence[str] = (), *, merge: bool = False
) -> dict[str, int]:
    """The class index of each value of the column `label`; the column `where` locates its row.

    If every value is a class name, values are names; otherwise all must be indices, 1 or 1.0. `names`: the names that
    the data set itself gives to its indices. `merge`: a value may differ from a class's name in case or spaces.
    """
    first = frame.drop_nulls("label").group_by("label", maintain_order=True).agg(pl.col("where").first()).collect()
    places: dict[str, str] = dict(zip(first["label"], first["where"], strict=True))
    known = {name: index for index, name in enumerate(classes)}
    if names and set(names) <= known.keys():
        named_by_data = {value: _index(value, len(names)) for value in places}
        if None not in named_by_data.values():
            return {value: known[names[index]] for value, index in named_by_data.items() if index is not None}
    alike = {same_key(name): name for name in classes}
    loosely = len(alike) == len(known) and all(same_key(value) in alike for value in places)
    if merge and loosely:
        return {value: known[alike[same_key(value)]] for value in places}
    for spelt in (str, _whole):
        if all(spelt(value) in known for value in places):
            return {value: known[spelt(value)] for value in places}
    indices = {value: _index(value, len(known)) for value in places}
    found = {value: index for value, index in indices.items() if index is not None}
    if len(found) == len(places):
        return found
    named = places.keys() & known.keys()
    strange = next(value for value in places if value not in (known if named else found))
    remedy = "give names or indices of classes, the same way in all rows"
    if loosely:
        remedy = "--merge-labels takes labels that differ from a class's name only in case or spaces for it"
    raise BadInput(
        f"{places[strange]}: label '{strange}' is not a class of the model, which has {_listed(known)}: {remedy}"
    )


def _index(value: str, count: int) -> int | None:
    whole = _whole(value)
    return int(whole) if whole.isascii() and whole.isdigit() and len(whole) < 10 and int(whole) < count else None


def _whole(value: str) -> str:
    """A whole number without its decimals: tables write 1.0 for 1 where some labels are missing."""
    return re.sub(r"^(\d+)\.0+$", r"\1", value)


def _listed(known: dict[str, int]) -> str:
    names = [f"{index} {name}" for name, index in list(known.items())[:MANY]]
    return ", ".join(names) + (f" and {len(known) - MANY} more" if len(known) > MANY else "")


def _frame(rows: list[Row], subject: Subject) -> pl.DataFrame:
    encoded = subject.encode([row.text for row in rows])
    empty = pl.Series([not row.text.strip() for row in rows])
    numbers = {"tokens": encoded.tokens.lengths, "items": encoded.lengths, "unknown": _unknown(encoded, subject)}
    counts = pl.DataFrame(numbers).cast(pl.Int32)
    kinds: dict[str, Any] = {**dict.fromkeys(Row._fields, pl.String), "truth": pl.List(pl.Boolean)}
    frame = pl.DataFrame(rows, schema=kinds, orient="row").hstack(counts)
    return frame.with_columns(items=pl.when(empty).then(0).otherwise("items").cast(pl.Int32))


def _unknown(texts: Texts, subject: Subject) -> Indices:
    """How many items of each text are nothing but tokens that stand for unknown words, or for nothing, (n,)."""
    tokens = [token for token in (subject.unknown, subject.blank) if token is not None]
    inside = texts.item.values != NO_ITEM
    places = (texts.item.values + texts.names.offsets[:-1][texts.tokens.row_of_value])[inside]
    known = ~np.isin(texts.tokens.values[inside], tokens)
    said = np.bincount(places, weights=known, minlength=len(texts.names.values))
    return np.asarray(texts.names.like(said == 0).sum(), dtype=np.int64)


def _checked(audit: Audit, rows: pl.LazyFrame, subject: Subject) -> dict[str, int]:
    """Check the rows; returns the numbers of texts that are audited, skipped and truncated."""
    options = audit.options.data
    for (name,) in _first(rows.filter(pl.col("id").is_duplicated()).select("id")):
        raise BadInput(f"{options.name}: the id '{name}' occurs more than once; ids must be unique")
    lacking = rows.filter(_lacking(audit)).select("where", "items", "label").collect()
    bad = BadRowList(options.name, skip_empty=options.skip_empty, skip_unlabelled=options.skip_unlabelled)
    for where, items, label in lacking.iter_rows():
        bad.refuse(_lack(where, text=items > 0, label=label is not None or not _needs_labels(audit)))
    bad.check()
    skipped, rows = len(lacking), rows.filter(~_lacking(audit))
    total = row_count(rows)
    if not total:
        raise BadInput(f"{options.name}: every text is empty or left out: there is nothing to audit")
    longest = subject.longest
    long = rows.filter(pl.col("tokens") > longest) if longest is not None else rows.head(0)
    truncated = row_count(long)
    if truncated and not options.truncate:
        where, tokens = next(_first(long.select("where", "tokens")))
        raise BadInput(
            f"{where}: the text has {tokens:,} tokens, and the model reads {longest:,} at most ({truncated:,} such "
            "texts in all); shorten them, or have them cut at the end with --truncate"
        )
    return {"texts": total, "skipped": skipped, "truncated": truncated}


def _lacking(audit: Audit) -> pl.Expr:
    """Rows without text, or without a label where labels are wanted."""
    empty = pl.col("items") == 0
    return empty | pl.col("label").is_null() if _needs_labels(audit) else empty


def _needs_labels(audit: Audit) -> bool:
    """Whether every row must have one; a run may have test texts whose answer is no class of its model."""
    return audit.options.data.label is not None and audit.options.route != "run"


def _lack(where: str, *, text: bool, label: bool) -> BadRow:
    """What is wrong with such a row."""
    remedy = "remove the row or fill it in"
    if not text and not label:
        return BlankRow(where, "there is neither text nor label", remedy)
    if not text:
        return EmptyText(where, "the text is empty, or has no tokens", remedy)
    return NoLabel(where, "there is no label", remedy)


def _first(frame: pl.LazyFrame) -> Iterator[tuple[object, ...]]:
    return iter(frame.head(1).collect().rows())
