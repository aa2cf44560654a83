"""Find a corpus's files below the data folders, under the names they have in the wild."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Layout = Mapping[str, str]  # role -> path below a data folder

_MARKS = ("_subset", "-partial", "_partial")  # in the names of files that hold a part of the official data
_ENDING = re.compile(r"\.(tar\.gz|tgz|tar|zip|csv|tsv|txt|jsonl|json)$")


@dataclass(frozen=True)
class Found:
    """The files of a corpus, by role, and whether they are only a part of the official data."""

    files: Mapping[str, Path] = field(default_factory=dict)
    subset: bool = False


def find_layout(roots: Sequence[Path], layouts: Sequence[Layout], *, subset: bool) -> Found | None:
    """The first layout of which every file is there; complete data anywhere goes before a subset.

    A `.gz` beside or instead of a plain file will do. A file whose own name or folder says `_subset` or `partial` is
    used only if `subset` allows it, and then the answer says so.
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
