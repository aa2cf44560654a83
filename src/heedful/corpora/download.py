"""Download the public corpora from their authors' addresses; a file gets its name once its rows have been counted."""

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.corpora.corpus import SPLITS
from heedful.corpora.locating import Found, download_folder
from heedful.corpora.readers import agnews, babi, imdb, newsgroups, snli, sst
from heedful.corpora.registry import READERS, reader_of
from heedful.errors import BadConfig, BadInput, HeedfulError, MissingExtra

Progress = Callable[[int, int], None]  # bytes so far, and in all (0: not known)


@dataclass(frozen=True)
class Source:
    """Where a corpus is, what its files are called, and how many rows they must have."""

    address: str
    folder: str  # below the download folder
    files: dict[str, str]  # role -> name
    rows: dict[str, int]
    count: Callable[[Found], Iterable[str]]  # the split of every row


def _babi(reader: babi.Babi) -> Source:
    """One archive of all tasks; the check is on the task that was asked for."""
    return Source(
        "http://www.thespermwhale.com/jaseweston/babi",
        "babi",
        {"archive": babi.ARCHIVE},
        {"train": 10000, "test": 1000},
        lambda found: (split for split, _ in reader.questions(found, babi.BabiOptions())),
    )


SOURCES = {
    "sst": Source(
        "https://nlp.stanford.edu/sentiment",
        "sst",
        {"archive": "trainDevTestTrees_PTB.zip"},
        {"train": 8544, "dev": 1101, "test": 2210},
        lambda found: (split for split, *_ in sst.trees(found)),
    ),
    "imdb": Source(
        "https://ai.stanford.edu/~amaas/data/sentiment",
        "imdb",
        {"archive": "aclImdb_v1.tar.gz"},
        {"train": 25000, "test": 25000},
        lambda found: (name.parts[-3] for name, *_ in imdb.reviews(found)),
    ),
    "newsgroups": Source(
        "http://qwone.com/~jason/20Newsgroups",
        "20news",
        {"archive": "20news-bydate.tar.gz"},
        {"train": 1197, "test": 796},
        lambda found: (name.parts[-3].rpartition("-")[2] for name, _ in newsgroups.posts(found)),
    ),
    "agnews": Source(
        "https://raw.githubusercontent.com/mhjabreel/CharCnn_Keras/master/data/ag_news_csv",
        "ag_news_csv",
        {"train": "train.csv", "test": "test.csv"},
        {"train": 120000, "test": 7600},
        lambda found: (split for split, *_ in agnews.items(found)),
    ),
    "babi-1": _babi(babi.Babi1()),
    "babi-2": _babi(babi.Babi2()),
    "babi-3": _babi(babi.Babi3()),
    "snli": Source(
        "https://nlp.stanford.edu/projects/snli",
        "snli_1.0",
        {"archive": "snli_1.0.zip"},
        {"train": 550152, "dev": 10000, "test": 10000},
        lambda found: (split for split in SPLITS for _ in snli.pairs(found, split)),
    ),
}


def get(name: str, *, address: str | None = None, progress: Progress = lambda done, total: None) -> Path:
    """Download a corpus and give its folder; `address` is that of a mirror. What is there already is left alone."""
    source = _source(name)
    folder = download_folder() / source.folder
    reader = reader_of(name)
    if reader.find([download_folder()], reader.options(), subset=False) is not None:
        return folder
    download_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=download_folder()) as draft:
        base = (address or source.address).rstrip("/")
        files = {role: _fetch(f"{base}/{file}", Path(draft), progress) for role, file in source.files.items()}
        _check_rows(name, source, Found(files))
        folder.mkdir(exist_ok=True)
        for file in files.values():
            file.replace(folder / file.name)
    return folder


def _source(name: str) -> Source:
    if name not in SOURCES:
        reader = reader_of(name)
        public = ", ".join(key for key in READERS if key in SOURCES)
        raise BadConfig(f"corpus {name} cannot be downloaded (only {public} can): {reader.how_to_get}")
    return SOURCES[name]


def _fetch(address: str, folder: Path, progress: Progress) -> Path:
    try:
        import pooch
        from requests.exceptions import RequestException
    except ImportError as error:
        raise MissingExtra("pooch", "papers", "downloading a corpus") from error
    pooch.get_logger().setLevel(logging.WARNING)  # it would print the hash of what it has no hash for
    name = address.rpartition("/")[2]
    try:
        downloader = pooch.HTTPDownloader(progressbar=_Bar(progress))
        return Path(pooch.retrieve(address, known_hash=None, fname=name, path=folder, downloader=downloader))
    except (RequestException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HeedfulError(
            f"{address} could not be downloaded ({reason}): try again later, or give a mirror's address"
        ) from error


def _check_rows(name: str, source: Source, found: Found) -> None:
    try:
        rows = Counter(source.count(found))
    except BadInput as error:
        raise BadInput(f"what was downloaded for {name} is not usable and was removed: {error}") from error
    if rows != source.rows:
        raise BadInput(
            f"what was downloaded for {name} has {_told(rows)} rows instead of {_told(source.rows)} and was removed: "
            "try again, or give a mirror's address"
        )


def _told(rows: dict[str, int] | Counter[str]) -> str:
    return ", ".join(f"{count:,} {split}" for split, count in rows.items()) or "no"


class _Bar:
    """What pooch takes for a progress bar."""

    def __init__(self, progress: Progress) -> None:
        self.total: Any = 0
        self._done = 0
        self._progress = progress

    def update(self, count: int) -> None:
        self._done += count
        self._progress(min(self._done, self.total) if self.total else self._done, self.total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass
