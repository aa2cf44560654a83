"""A private place beside a cached file in which to build it: processes that build the same file do not meet."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STALE = 3600  # seconds without a change after which a folder is taken for that of a killed process

_PREFIX = ".building-"


@contextmanager
def private_draft(path: Path) -> Iterator[Path]:
    """Give a path in a new folder beside `path`; when the block ends well, what was written there becomes `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(path.parent)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=path.parent) as folder:
        draft = Path(folder) / path.name
        yield draft
        draft.replace(path)


def _remove_stale(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            newest = max(file.stat().st_mtime for file in [folder, *folder.rglob("*")])
        except FileNotFoundError:  # its owner has just finished
            continue
        if time.time() - newest > STALE:
            shutil.rmtree(folder, ignore_errors=True)
