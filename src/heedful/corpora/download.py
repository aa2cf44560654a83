"""Download the public corpora from their authors' addresses; files are kept once their rows have been counted."""

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heedful.corpora.locating import Found, download_folder
from heedful.corpora.reader import Reader, Source
from heedful.corpora.registry import READERS, reader_of
from heedful.errors import BadConfig, BadInput, HeedfulError

Progress = Callable[[int, int], None]  # bytes so far, and in all (0: unknown)


def get(name: str, *, address: str | None = None, progress: Progress = lambda done, total: None) -> Path:
    """Download a corpus, unless it is there already, and return its folder; `address` is that of a mirror."""
    reader = reader_of(name)
    source = _source(reader)
    folder = download_folder() / source.folder
    if reader.find([download_folder()], reader.options(), subset=False) is not None:
        return folder
    download_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=download_folder()) as draft:
        base = (address or source.address).rstrip("/")
        files = {role: _fetch(f"{base}/{file}", Path(draft), progress) for role, file in source.files.items()}
        check_rows(reader, Found(files))
        folder.mkdir(exist_ok=True)
        for file in files.values():
            file.replace(folder / file.name)
    return folder


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


def _source(reader: Reader) -> Source:
    if reader.source is None:
        public = ", ".join(name for name, other in READERS.items() if other.source is not None)
        raise BadConfig(f"corpus {reader.name} cannot be downloaded (only {public} can): {reader.how_to_get}")
    return reader.source


def _fetch(address: str, folder: Path, progress: Progress) -> Path:
    import pooch
    from requests.exceptions import RequestException

    pooch.get_logger().setLevel(logging.WARNING)  # else it prints the hash of every file
    name = address.rpartition("/")[2]
    try:
        downloader = pooch.HTTPDownloader(progressbar=_Bar(progress))
        return Path(pooch.retrieve(address, known_hash=None, fname=name, path=folder, downloader=downloader))
    except (RequestException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise HeedfulError(f"{address} could not be downloaded ({reason}): retry later, or give a mirror") from error


def _listed(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {split}" for split, count in rows.items()) or "no"


class _Bar:
    """A progress bar as pooch expects it."""

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
