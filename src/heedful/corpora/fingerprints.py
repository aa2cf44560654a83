"""Fingerprints of source files and folders by content, remembered so that large ones are read only once."""

import hashlib
import os
from pathlib import Path

from heedful.corpora.archives import damage_named, files_below
from heedful.corpora.places import cache_folder
from heedful.files import content_fingerprint, fingerprint, write_text

LARGE = 4_000_000  # bytes; smaller files are read each time


def source_fingerprint(path: Path) -> str:
    """A short hash of a file's bytes, or of the names and bytes of all files in a folder."""
    with damage_named(path):
        files = _files(path)
        state = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files.items()]
        if sum(size for _, size, _ in state) < LARGE:
            return _content(path, list(files))
        memory = cache_folder() / "fingerprints" / fingerprint([str(path.resolve()), state])
        if memory.exists():
            return memory.read_text(encoding="utf-8")
        content = _content(path, list(files))
    write_text(memory, content)
    return content


def _files(path: Path) -> dict[str, os.stat_result]:
    if not path.is_dir():
        return {"": path.stat()}
    return {name: os.stat(f"{path}/{name}") for name in files_below(path)}  # noqa: PTH116  # a Path takes five times as long


def _content(path: Path, names: list[str]) -> str:
    if names == [""]:
        return content_fingerprint(path)
    total = hashlib.blake2b(digest_size=8)
    for name in names:
        total.update(f"{name}\0{content_fingerprint(path / name)}\0".encode())
    return total.hexdigest()
