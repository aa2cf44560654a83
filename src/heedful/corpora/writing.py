"""Write a corpus to one Parquet file, in bounded memory: documents tokenised, split and with class indices."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import polars as pl

from heedful.corpora.corpus import SPLITS, Document, LeftOut
from heedful.corpora.locating import Found
from heedful.corpora.reader import Options, Reader
from heedful.errors import BadInput
from heedful.files import Parts, atomic

PART_TOKENS = 2_000_000  # tokens held in memory while a corpus is written, or read
PROGRESS_DOCUMENTS = 200  # documents between two reports of progress

# columns in the order of the file; of all but split, id and label, the type of the items of their lists
_COLUMNS: dict[str, Any] = dict.fromkeys(("split", "id", "tokens", "label"), pl.String)
_COLUMNS |= {"truth": pl.Boolean, "query": pl.String, "candidates": pl.String, "sentences": pl.Int32}

Progress = Callable[[int], None]


def write_corpus(reader: Reader, options: Options, found: Found, path: Path, progress: Progress) -> None:
    """Write every document that a reader finds, checked; `progress` gets the number of documents as they come."""
    parts, left_out = Parts(path), Counter[str]()
    for batch in _batches(_kept(_reporting(reader.documents(found, options), progress), left_out)):
        parts.add(_frame(batch))
    where = ", ".join(str(file) for file in found.files.values()) or reader.name
    if not parts.done:
        raise BadInput(f"{where}: no documents were found in it; is it the right file for corpus {reader.name}?")
    table = _table(parts.scan())
    notes = [f"{count:,} rows {why} were left out" for why, count in left_out.items()]
    notes = [*reader.notes(found, table["label"], options), *notes]
    same = reader.same_labels(table["label"], options)
    table = table.with_columns(pl.col("label").replace(same))
    _check_documents(parts.scan(), table["id"], where)
    table = table.filter(pl.col("length") > 0)  # nothing to attend to; the papers drop them, `table` refuses them
    try:
        table = table.with_columns(split=reader.split(table, options)).drop_nulls("split")
    except BadInput as error:
        raise BadInput(f"{where}: {error}{_aside(notes)}") from error
    training = table.filter(pl.col("split") == "train")
    named = reader.classes(options)
    if named is None:
        rows = parts.scan().join(training.select("id").lazy(), on="id", how="semi").drop("id", "split")
        rows = rows.with_columns(pl.col("label").replace(same))
        classes = tuple(reader.answers(rows))
    else:
        classes = named
    known = set(classes) if named is None else set(classes) & set(training["label"])
    _check_labels(table, where, _aside(notes), known=known, unseen=reader.unseen)
    group = PART_TOKENS * len(table) // int(table["length"].sum())  # rows in memory, here and in whoever reads the file
    with atomic(path) as temporary:
        _indexed(parts, table, classes).sink_parquet(
            temporary,
            metadata={"classes": json.dumps(classes), "notes": json.dumps(notes)},
            row_group_size=max(1, group),
        )
    parts.discard()


def _check_documents(documents: pl.LazyFrame, ids: pl.Series, where: str) -> None:
    """Ids are unique; questions and sentences have tokens; sentences add up to the text."""
    repeated = ids.filter(ids.is_duplicated())
    if len(repeated):
        raise BadInput(f"{where}: the id '{repeated[0]}' occurs more than once; ids must be unique")
    columns = documents.collect_schema()
    if "query" in columns:
        empty = documents.filter(pl.col("query").list.len() == 0).select("id").head(1).collect()
        if len(empty):
            raise BadInput(f"{where}: the question of '{empty.item()}' has no tokens; remove the row or fill it in")
    if "sentences" in columns:
        length, total = pl.col("tokens").list.len(), pl.col("sentences").list.sum()
        wrong = documents.filter((total != length) | (pl.col("sentences").list.min() < 1))
        for name, sentences, tokens in wrong.select("id", "sentences", length=length).head(1).collect().iter_rows():
            raise BadInput(
                f"{where}: the sentences of '{name}' have {str(sentences)[:80]} tokens, and the text {tokens}; each "
                "must have one or more, and together those of the text"
            )


def _aside(notes: Sequence[str]) -> str:
    """What was noticed may be why something is wrong."""
    return f" ({'; '.join(notes)})" if notes else ""


def _check_labels(table: pl.DataFrame, where: str, aside: str, *, known: Set[str], unseen: bool) -> None:
    """Every split has instances, and only of `known` classes unless `unseen` allows others; there are at least two."""
    for name in SPLITS:
        labels = set(table.filter(pl.col("split") == name)["label"])
        if not labels:
            raise BadInput(f"{where}: no {name} instance is there, or none is left after cleaning and length filters")
        if len(known) < 2:
            raise BadInput(
                f"{where}: all training labels are '{labels.pop()}'; a classifier needs two classes or more{aside}"
            )
        strange = sorted(labels - known)
        if strange and not unseen:
            raise BadInput(
                f"{where}: label '{strange[0]}' occurs in {name} but never in training; drop or relabel it{aside}"
            )


def _table(documents: pl.LazyFrame) -> pl.DataFrame:
    """What a split may depend on: see `Reader.split`."""
    columns = {"length": pl.col("tokens").list.len()}
    if "sentences" in documents.collect_schema():
        columns |= {"sentences": pl.col("sentences").list.len(), "longest": pl.col("sentences").list.max()}
    return documents.select("id", "label", "split", **columns).collect()


def _indexed(parts: Parts, table: pl.DataFrame, classes: Sequence[str]) -> pl.LazyFrame:
    """The documents with their final splits, and class indices for class names."""
    final = table.select("id", "split", label=_index(pl.col("label"), classes))
    merged = parts.scan().drop("split", "label").join(final.lazy(), on="id", how="inner", maintain_order="left")
    if "candidates" not in merged.collect_schema():
        return merged
    there = pl.col("candidates").list.eval(_index(pl.element(), classes).drop_nulls().unique().sort())
    every = pl.lit(list(range(len(classes))), dtype=pl.List(pl.Int32))
    # where training saw none of them, any class is as good as another
    return merged.with_columns(candidates=pl.when(there.list.len() > 0).then(there).otherwise(every))


def _index(names: pl.Expr, classes: Sequence[str]) -> pl.Expr:
    return names.replace_strict(list(classes), list(range(len(classes))), default=None, return_dtype=pl.Int32)


def _kept(documents: Iterable[Document | LeftOut], left_out: Counter[str]) -> Iterator[Document]:
    """The documents without what the user's options leave out, which is counted."""
    for document in documents:
        if isinstance(document, LeftOut):
            left_out[document.why] += 1
        else:
            yield document


def _reporting(documents: Iterable[Document | LeftOut], progress: Progress) -> Iterator[Document | LeftOut]:
    count = 0
    for count, document in enumerate(documents, start=1):
        yield document
        if count % PROGRESS_DOCUMENTS == 0:
            progress(PROGRESS_DOCUMENTS)
    progress(count % PROGRESS_DOCUMENTS)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    tokens = 0
    for document in documents:
        batch.append(document)
        tokens += len(document.tokens) + len(document.query or ())
        if tokens >= PART_TOKENS:
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch


def _frame(documents: Sequence[Document]) -> pl.DataFrame:
    columns: dict[str, Any] = {}
    for name, kind in _COLUMNS.items():
        values = [getattr(document, name) for document in documents]
        if name in ("split", "id", "label"):
            columns[name] = values
        elif values.count(None) < len(values):
            columns[name] = pl.Series([list(value) for value in values], dtype=pl.List(kind))
    return pl.DataFrame(columns)
