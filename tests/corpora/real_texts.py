"""Texts of real corpora as their files have them, for the tests of tokenisers."""

import csv
import gzip
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path


def _rows(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def _files(path: Path, folder: str) -> Iterator[bytes]:
    with tarfile.open(path) as archive:
        for entry in archive:
            file = archive.extractfile(entry) if f"{folder}/" in entry.name else None
            if file is not None:
                yield file.read()


def _imdb(data: Path, split: str) -> Iterator[str]:
    return (content.decode() for content in _files(data / "imdb/aclImdb_labelled.tar.gz", f"aclImdb/{split}"))


def _agnews(data: Path, split: str) -> Iterator[str]:
    name = "test.csv.gz" if split == "test" else "train_subset.csv.gz"
    return (f"{title} {text}" for _, title, text in _rows(data / "ag_news_csv" / name))


def _yelp(data: Path, split: str) -> Iterator[str]:
    return (text for _, text in _rows(data / f"yelp_review_full_csv/{split}_subset.csv.gz"))


def _newsgroups(data: Path, split: str) -> Iterator[str]:
    archive = data / "20news/20news-bydate-rec.sport.tar.gz"
    return (content.decode("latin-1") for content in _files(archive, f"20news-bydate-{split}"))


TEXTS: dict[str, Callable[[Path, str], Iterator[str]]] = {
    "imdb": _imdb,
    "agnews": _agnews,
    "yelp": _yelp,
    "newsgroups": _newsgroups,
}
