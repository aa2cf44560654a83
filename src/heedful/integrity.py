"""Integrity: the files of a run or audit hold what its manifest recorded, and so does the manifest itself.

manifest.json has a hash of each file, and as its last entry a digest of all that stands before it. Whoever reads a file
of such a directory passes its path through `checked`, which hashes a file once a process. Files that no manifest knows,
and manifests of older versions, pass.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from heedful.errors import BadInput

MANIFEST = "manifest.json"
FORMAT = 2  # of manifests: from 2 on they end with a digest
_MARKS = (b'"format": 2', b'"stages": {', b'  "digest": "')  # tell a manifest of ours from files of that name

_State = tuple[int, int, int, int]  # device, inode, size and time of a file: while they stay, so does its content
_hashes: dict[str, tuple[_State, str]] = {}  # of files that this process has read
_recorded: dict[str, tuple[_State, dict[str, str]]] = {}  # what each manifest says of its directory's files


class Damaged(BadInput):
    """A file of a run or audit that does not hold what was written to it."""

    def __init__(self, file: Path, folder: Path, reason: str, remedy: str = "delete it and run again, or see") -> None:
        super().__init__(f"{file} is damaged: {reason}; {remedy} what `heedful verify --repair {folder}` can do")
        self.file = file


def content_fingerprint(path: Path) -> str:
    """A short hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def bytes_fingerprint(content: bytes) -> str:
    """The same of bytes in memory."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def known_fingerprint(path: Path) -> str:
    """The same, but a file that has not changed since this process last read it is not read again."""
    state, known = _state(path), _hashes.get(os.fspath(path))
    if known is None or known[0] != state:
        known = _hashes[os.fspath(path)] = (state, content_fingerprint(path))
    return known[1]


def expected_fingerprint(path: Path) -> str | None:
    """The hash that the manifest of a file's directory recorded; None if there is none."""
    for folder in (path.parent, path.parent.parent):
        with suppress(OSError):  # there is no manifest
            return _recorded_in(folder / MANIFEST).get(path.relative_to(folder).as_posix())
    return None


def checked(path: Path) -> Path:
    """The path of a file to be read; raises if the manifest of its directory recorded other content."""
    expected = expected_fingerprint(path)
    if expected is not None and path.exists() and known_fingerprint(path) != expected:
        folder = path.parent if (path.parent / MANIFEST).exists() else path.parent.parent
        raise Damaged(path, folder, f"its content is not what {MANIFEST} recorded of it")
    return path


def recorded_hashes(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The hashes in a manifest, by file name; older versions recorded none. Raises ValueError for names that lead out
    of the directory: what a manifest names may be deleted."""
    found = dict(manifest.get("files", {}))
    for stage, entry in manifest["stages"].items():
        found |= entry.get("files", {})
        if not stage.isidentifier():
            raise ValueError(f"there can be no stage {stage!r}")
    for name in found:
        if Path(name).is_absolute() or not {"..", "\\"}.isdisjoint((*Path(name).parts, *name)):
            raise ValueError(f"there can be no file {name!r} in the directory")
    return found


def sealed(manifest: Mapping[str, Any]) -> str:
    """The text of a manifest, its digest at the end."""
    return _sealed(manifest, FORMAT)


def unsealed(content: bytes) -> tuple[dict[str, Any], bool]:
    """The manifest in a file's bytes, and whether it had a digest; raises ValueError if it cannot be trusted."""
    text = content.decode("utf-8")
    manifest = json.loads(text)
    if not isinstance(manifest, dict):
        raise ValueError("not an object")
    form, digest = manifest.pop("format", 1), manifest.pop("digest", None)
    if form == 1 and digest is None:  # of an older version
        return manifest, False
    if text != _sealed(manifest, form):  # every byte of the file counts
        raise ValueError("its digest is that of other content")
    return manifest, True


def digest_line(body: bytes) -> bytes:
    """What a manifest ends with, after these bytes."""
    return f'  "digest": "{bytes_fingerprint(body)}"\n}}\n'.encode()


def _sealed(manifest: Mapping[str, Any], form: Any) -> str:
    text = json.dumps({"format": form, **manifest}, indent=2, ensure_ascii=False, allow_nan=False)
    body = f"{text.removesuffix('}').rstrip()},\n"
    return body + digest_line(body.encode()).decode()


def _recorded_in(path: Path) -> dict[str, str]:
    """The hashes that a manifest has recorded; of a file that is no manifest of ours, none."""
    state, known = _state(path), _recorded.get(os.fspath(path))
    if known is not None and known[0] == state:
        return known[1]
    content = path.read_bytes()
    try:
        manifest, _ = unsealed(content)
        found = recorded_hashes(manifest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if sum(mark in content for mark in _MARKS) > 1:  # whichever of them a flipped bit may have hit
            raise Damaged(path, path.parent, str(error), "remove the directory and run again, or see") from error
        found = {}
    _recorded[os.fspath(path)] = state, found
    return found


def _state(path: Path) -> _State:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
