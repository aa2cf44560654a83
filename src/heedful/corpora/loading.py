"""Load a corpus: find its files, tokenise them once, keep the result in a cache known by content and code."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from heedful.corpora.building import private_draft
from heedful.corpora.checks import check_ids, check_labels
from heedful.corpora.corpus import Corpus, Document
from heedful.corpora.finding import Found
from heedful.corpora.fingerprints import source_fingerprint
from heedful.corpora.places import cache_folder, data_folders
from heedful.corpora.reader import Options, Reader
from heedful.corpora.registry import reader_of
from heedful.errors import BadConfig, BadInput, NotFound, unknown_name
from heedful.files import Parts, atomic, content_fingerprint, fingerprint

PART_TOKENS = 2_000_000  # tokens held in memory while a corpus is read
PROGRESS_DOCUMENTS = 200  # documents between two reports of progress

Progress = Callable[[int], None]


def load(
    name: str,
    *,
    options: Mapping[str, Any] | None = None,
    data: Path | str | None = None,
    subset: bool = False,
    progress: Progress = lambda count: None,
) -> Corpus:
    """Load a corpus by name, from the cache if the same files were read by the same code before.

    >>> load("planted", options={"train": 20, "dev": 10, "test": 10}).counts()["test"]
    [5, 5]
    """
    reader, chosen, found = _found(name, options or {}, data, subset)
    content = _content(reader, chosen, found)
    key = fingerprint([content, _code()])
    path = cache_folder() / "corpora" / f"{name}-{key}.parquet"
    if not path.exists():
        with private_draft(path) as draft:
            _tokenise(reader, chosen, found, draft, progress)
    try:
        classes = tuple(json.loads(pl.read_parquet_metadata(path)["classes"]))
        corpus = Corpus(name, classes, path, content, key, found.subset)
        corpus.counts()
    except (pl.exceptions.PolarsError, KeyError) as error:
        raise BadInput(f"{path}: this part of the cache is damaged; delete it and run again") from error
    return corpus


def content_of(name: str, *, options: Mapping[str, Any], data: Path | str | None = None, subset: bool = False) -> str:
    """What `load` would give as the corpus's `content`, without reading more than the files' bytes."""
    return _content(*_found(name, options, data, subset))


def _found(
    name: str, options: Mapping[str, Any], data: Path | str | None, subset: bool
) -> tuple[Reader, Options, Found]:
    """The files of a corpus, or an error that says how to get them."""
    reader = reader_of(name)
    chosen = _options(reader, options)
    roots = data_folders(None if data is None else Path(data))
    found = reader.find(roots, chosen, subset=subset)
    if found is None:
        hint = ""
        if not subset and reader.find(roots, chosen, subset=True) is not None:
            hint = " (a subset is there: --subset uses it)"
        places = ", ".join(map(str, roots))
        raise NotFound(f"corpus {reader.name} was not found below {places}{hint}: {reader.how_to_get}")
    return reader, chosen, found


def _options(reader: Reader, options: Mapping[str, Any]) -> Options:
    try:
        return reader.options(**options)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            raise unknown_name(f"option of corpus {reader.name}", key, reader.options.model_fields) from error
        raise BadConfig(f"corpus {reader.name}, option {key}: {problem['msg']}") from error


def _content(reader: Reader, options: Options, found: Found) -> str:
    """What a corpus is made of: the bytes and kinds of its files, wherever they lie, and the options."""
    files = {role: [path.suffixes, source_fingerprint(path)] for role, path in found.files.items()}
    return fingerprint([reader.name, options.model_dump(mode="json", exclude={"file"}), files, found.subset])


def _code() -> list[str]:
    """What reads it: our own code, and the libraries that tokenise and split."""
    source = Path(__file__).parents[1]
    code = [source / "randomness.py", *sorted(source.glob("corpora/*.py")), *sorted(source.glob("text/*.py"))]
    return [*map(content_fingerprint, code), _version("spacy"), _version("scikit-learn")]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _tokenise(reader: Reader, options: Options, found: Found, path: Path, progress: Progress) -> None:
    parts = Parts(path)
    for batch in _batches(_reporting(reader.documents(found, options), progress)):
        parts.add(_frame(batch))
    where = ", ".join(str(file) for file in found.files.values()) or reader.name
    if not parts.done:
        raise BadInput(f"{where}: no documents were found in it; is it the right file for corpus {reader.name}?")
    table = parts.scan().select("id", "label", "split", length=pl.col("tokens").list.len()).collect()
    check_ids(table, where)
    table = table.filter(pl.col("length") > 0)  # nothing to attend to; the papers drop them, `table` refuses them
    try:
        table = table.with_columns(split=reader.split(table, options)).drop_nulls("split")
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error
    training = table.filter(pl.col("split") == "train")
    given = reader.classes(options)
    classes = tuple(reader.answers(_training(parts, training))) if given is None else given
    known = set(classes) if given is None else set(classes) & set(training["label"])
    check_labels(table, where, known=known, unseen=reader.unseen)
    _write(path, _indexed(parts, table, classes), classes, rows=PART_TOKENS * len(table) // int(table["length"].sum()))
    parts.discard()


def _training(parts: Parts, training: pl.DataFrame) -> pl.LazyFrame:
    return parts.scan().join(training.select("id").lazy(), on="id", how="semi").drop("id", "split")


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


def _write(path: Path, frame: pl.LazyFrame, classes: Sequence[str], *, rows: int) -> None:
    """Write in groups of `rows`: a group is held in memory, here and by whoever reads the file."""
    with atomic(path) as temporary:
        frame.sink_parquet(temporary, metadata={"classes": json.dumps(classes)}, row_group_size=max(1, rows))


def _reporting(documents: Iterable[Document], progress: Progress) -> Iterator[Document]:
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
    columns: dict[str, Any] = {
        "split": [document.split for document in documents],
        "id": [document.id for document in documents],
        "tokens": pl.Series([list(document.tokens) for document in documents], dtype=pl.List(pl.String)),
        "label": [document.label for document in documents],
    }
    for name, kind in (("truth", pl.Boolean), ("query", pl.String), ("candidates", pl.String)):
        values = [getattr(document, name) for document in documents]
        if values.count(None) < len(values):
            columns[name] = pl.Series([list(value) for value in values], dtype=pl.List(kind))
    return pl.DataFrame(columns)
