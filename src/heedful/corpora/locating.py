"""Find a corpus's files below the data folders under their usual names, read them wherever they are, and hash them."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from heedful.corpora.archives import damage_named, files_below, located_lines, member_lines, members
from heedful.files import fingerprint, write_text
from heedful.integrity import content_fingerprint

LARGE = 4_000_000  # bytes; the hashes of larger sources are remembered

Layout = Mapping[str, str]  # role -> path below a data folder

_MARKS = ("_subset", "-partial", "_partial")  # in the names of files that hold a part of the official data
_ENDING = re.compile(r"\.(tar\.gz|tgz|tar|zip|csv|tsv|txt|jsonl|json)$")


@dataclass(frozen=True)
class Found:
    """The files of a corpus, by role, and whether they are only a part of the official data."""

    files: Mapping[str, Path] = field(default_factory=dict)
    subset: bool = False


def find_layout(roots: Sequence[Path], layouts: Sequence[Layout], *, subset: bool) -> Found | None:
    """The files of the first complete layout; complete data anywhere go before a subset.

    A `.gz` beside or instead of a plain file will do. A file whose own name or folder says `_subset` or `partial` is
    used only if `subset` allows it, and the result says so.
    """
    for allowed in (False, True) if subset else (False,):
        for root in roots:
            for layout in layouts:
                files = {role: _located(root, name, subset=allowed) for role, name in layout.items()}
                if files and all(files.values()):
                    there = {role: path for role, path in files.items() if path is not None}
                    return Found(there, any(_is_part(path.relative_to(root)) for path in there.values()))
    return None


def below(folders: Sequence[str], names: Layout) -> list[Layout]:
    """The same files in each of several folders ("" is the data folder itself)."""
    return [{role: f"{folder}/{name}" if folder else name for role, name in names.items()} for folder in folders]


def split_lines(found: Found, split: str, member: str) -> Iterator[tuple[str, str]]:
    """The lines of a split with their places: from its own file, or from `member` of the archive."""
    if "archive" not in found.files:
        return located_lines(found.files[split])
    parts = PurePosixPath(member).parts
    return member_lines(found.files["archive"], lambda name: name.parts[-len(parts) :] == parts)


def folder_files(found: Found, folders: Sequence[str], suffix: str = "") -> Iterator[tuple[PurePosixPath, str, bytes]]:
    """Name (ending in folder and file), place and content of the files in `folders`, unpacked or in the archive."""
    if "archive" in found.files:
        archive = found.files["archive"]
        for name, content in members(
            archive, lambda name: name.name.endswith(suffix) and "/".join(name.parts[-3:-1]) in folders
        ):
            yield name, f"{archive}, {name}", content
        return
    for folder, path in found.files.items():
        for name, content in members(path, lambda name: len(name.parts) == 1 and name.name.endswith(suffix)):
            yield folder / name, str(path / name), content


def cache_folder() -> Path:
    """The folder for tokenised corpora and downloads: HEEDFUL_CACHE, or the user's cache folder."""
    chosen = os.environ.get("HEEDFUL_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heedful"


def download_folder() -> Path:
    """Where `heedful corpora get` puts its downloads."""
    return cache_folder() / "data"


def data_folders(data: Path | None = None) -> list[Path]:
    """Where to look for corpora: in `data` alone, else in HEEDFUL_DATA, then among the downloads."""
    if data is not None:
        return [data]
    named = os.environ.get("HEEDFUL_DATA")
    return [*([Path(named)] if named else []), download_folder()]


def source_fingerprint(path: Path) -> str:
    """A short hash of a file's bytes, or of the names and bytes of all files in a folder."""
    with damage_named(path):
        files = _files(path)
        state = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files.items()]
        if sum(size for _, size, _ in state) < LARGE:
            return _content(path, list(files))
        memory = cache_folder() / "fingerprints" / fingerprint([str(path.resolve()), state])
        with suppress(FileNotFoundError):
            return memory.read_text(encoding="utf-8")
        content = _content(path, list(files))
    write_text(memory, content)
    return content


def _located(root: Path, name: str, *, subset: bool) -> Path | None:
    path = root / name
    places = [path.with_name(other) for other in _names(path.name, subset=subset)]
    if subset and path.parent != root:
        places += [path.parent.with_name(path.parent.name + mark) / path.name for mark in _MARKS]
    for place in places:
        for candidate in (place, place.with_name(f"{place.name}.gz")):
            if candidate.exists():
                return candidate
    return None


def _names(name: str, *, subset: bool) -> list[str]:
    stem = _ENDING.sub("", name)
    return [name, *(stem + mark + name[len(stem) :] for mark in _MARKS if subset)]


def _is_part(path: Path) -> bool:
    return any(mark in part for mark in _MARKS for part in path.parts[-2:])


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
