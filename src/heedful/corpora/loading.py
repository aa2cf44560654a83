"""Load a corpus: find its files, tokenise them once, and keep the result in a cache keyed by content and code."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from heedful.corpora.cache_key import cache_key, content_key
from heedful.corpora.corpus import Corpus, deletion_named
from heedful.corpora.locating import Found, cache_folder, data_folders
from heedful.corpora.reader import Options, Reader
from heedful.corpora.registry import reader_of
from heedful.corpora.writing import Progress, write_corpus
from heedful.damage import panics_as_errors
from heedful.errors import BadConfig, BadInput, NotFound, unknown_name
from heedful.privacy import make_private, owner_only
from heedful.temporaries import temporary_folder

Folder = Path | str | None


def load(
    name: str,
    *,
    options: Mapping[str, Any] | None = None,
    data: Folder = None,
    subset: bool = False,
    private: bool = False,
    progress: Progress = lambda count: None,
) -> Corpus:
    """Load a corpus by name, from the cache if the same code has read the same files before. `private`: only its owner
    can read the cached file, as with restricted corpora.

    >>> load("planted", options={"train": 20, "dev": 10, "test": 10}).counts()["test"]
    [5, 5]
    """
    reader, chosen, found = _found(name, options or {}, data, subset)
    content = content_key(reader, chosen, found)
    key = cache_key(content, reader, chosen)
    private = private or reader.restricted
    path = cache_folder() / "corpora" / f"{name}-{key}.parquet"
    try:
        with deletion_named(path), panics_as_errors():
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                with owner_only(private), _draft(path) as draft:
                    write_corpus(reader, chosen, found, draft, progress)
            if private:
                make_private(path)
            about = pl.read_parquet_metadata(path)
            classes, notes = (tuple(json.loads(text)) for text in (about["classes"], about.get("notes", "[]")))
            corpus = Corpus(name, classes, path, content, key, found.subset, notes)
            corpus.counts()
    except (pl.exceptions.PolarsError, ValueError, KeyError) as error:
        raise BadInput(f"{path}: this part of the cache is damaged; delete it and run again") from error
    return corpus


def content_of(name: str, *, options: Mapping[str, Any], data: Folder = None, subset: bool = False) -> str:
    """The `content` that `load` would give the corpus; only hashes its files."""
    return content_key(*_found(name, options, data, subset))


def _found(name: str, options: Mapping[str, Any], data: Folder, subset: bool) -> tuple[Reader, Options, Found]:
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


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """A path in a folder of this process's own; when the block ends well, what was written there becomes `path`."""
    with temporary_folder(path.with_name("building")) as folder:
        draft = folder / path.name
        yield draft
        draft.replace(path)
