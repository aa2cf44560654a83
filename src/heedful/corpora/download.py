"""Download the public corpora from their authors' addresses.

A file gets its name once it is what was published: its SHA-256 is the one that others have published, where they have,
and its rows are as many as they should be. The row count alone would not tell a file from a changed one.
"""

import hashlib
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from heedful.corpora.locating import Found, download_folder
from heedful.corpora.reader import Published, Reader, Source
from heedful.corpora.registry import READERS, reader_of
from heedful.errors import BadConfig, BadInput, HeedfulError
from heedful.temporaries import temporary_folder

CONNECT, SILENCE = 20, 60  # seconds that a server may take to answer, and between two pieces of a file
MOST = 4_000_000_000  # bytes of a file whose size nobody has published
PIECE = 1 << 16  # bytes

Progress = Callable[[int, int], None]  # bytes so far, and in all (0: unknown)


class Download(NamedTuple):
    """Where a corpus is, and what was checked of it."""

    folder: Path
    checked: str  # in words


def get(name: str, *, address: str | None = None, progress: Progress = lambda done, total: None) -> Download:
    """Download a corpus, unless it is there already; `address` is that of a mirror."""
    reader = reader_of(name)
    source = _source(reader)
    folder = download_folder() / source.folder
    if reader.find([download_folder()], reader.options(), subset=False) is not None:
        return Download(folder, "there already, not checked again")
    base = (address or source.address).rstrip("/")
    download_folder().mkdir(parents=True, exist_ok=True)
    with temporary_folder(download_folder() / "download") as draft:  # removes what killed downloads left
        files = {}
        for role, file in source.files.items():
            published = source.published.get(role)
            files[role] = _fetch(f"{base}/{file}", draft, published, progress)
            if published is not None:
                _check_hash(files[role], f"{base}/{file}", published)
        check_rows(reader, Found(files))
        folder.mkdir(exist_ok=True)
        for path in files.values():
            path.replace(folder / path.name)
    return Download(folder, _checked(source))


def check_rows(reader: Reader, found: Found) -> None:
    """Refuse files whose splits do not have the official numbers of rows."""
    name, expected = reader.name, _source(reader).rows
    try:
        rows = Counter(reader.native_splits(found))
    except BadInput as error:
        raise BadInput(f"what was downloaded for {name} is not usable and was removed: {error}") from error
    if rows != expected:
        raise BadInput(
            f"what was downloaded for {name} has {_listed(rows)} rows instead of {_listed(expected)} and was removed: "
            "try again, or give a mirror's address"
        )


def _check_hash(path: Path, address: str, published: Published) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != published.sha256:
        raise BadInput(
            f"{address} is not the official file and was removed: its SHA-256 is {found}, that published by "
            f"{published.by} is {published.sha256}; try again, or give a mirror's address"
        )


def _checked(source: Source) -> str:
    """What was checked of files that were just downloaded."""
    by = sorted({published.by for published in source.published.values()})
    without = [file for role, file in source.files.items() if role not in source.published]
    if not by:
        return "row counts as expected; no published hash"
    hashes = f"SHA-256 as published by {', '.join(by)}"
    return f"{hashes}; row counts as expected" + (f"; no published hash of {', '.join(without)}" if without else "")


def _source(reader: Reader) -> Source:
    if reader.source is None:
        public = ", ".join(name for name, other in READERS.items() if other.source is not None)
        raise BadConfig(f"corpus {reader.name} cannot be downloaded (only {public} can): {reader.how_to_get}")
    return reader.source


def _fetch(address: str, folder: Path, published: Published | None, progress: Progress) -> Path:
    import pooch
    from requests.exceptions import RequestException

    pooch.get_logger().setLevel(logging.WARNING)  # else it prints the hash of every file
    name = address.rpartition("/")[2]
    bar = _Bar(address, folder, published.size if published else MOST, progress)
    try:
        downloader = pooch.HTTPDownloader(
            progressbar=bar,
            chunk_size=PIECE,
            timeout=(CONNECT, SILENCE),
            headers={"Accept-Encoding": "identity"},  # else a server may compress a file once more
        )
        return Path(pooch.retrieve(address, known_hash=None, fname=name, path=folder, downloader=downloader))
    except (RequestException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HeedfulError(f"{address} could not be downloaded ({reason}): retry later, or give a mirror") from error


def _listed(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {split}" for split, count in rows.items()) or "no"


class _Bar:
    """A progress bar as pooch expects it, which stops a download that grows too large."""

    def __init__(self, address: str, folder: Path, most: int, progress: Progress) -> None:
        self.total: Any = 0
        self._done, self._before = 0, _size(folder)
        self._address, self._folder, self._most, self._progress = address, folder, most, progress

    def update(self, count: int) -> None:
        self._done += count
        # on disk: pieces may be larger than pooch says, where a server compressed them
        if max(self.total, _size(self._folder) - self._before) > self._most:
            raise BadInput(
                f"{self._address} sends more than the {self._most:,} bytes that the file may have; nothing was kept: "
                "give a mirror's address"
            )
        self._progress(min(self._done, self.total) if self.total else self._done, self.total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.iterdir())
