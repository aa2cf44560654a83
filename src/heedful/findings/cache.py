"""Findings are computed once and kept in the run's directory, in `.findings/`, which is no part of the run.

An entry is valid for the content of the run's files, the configuration, the options and the code that made it; one that
is stale or damaged is computed again. A directory that cannot be written keeps nothing. `.findings/` may be deleted at
any time; where it is a symbolic link, nothing is kept behind it.
"""

import hashlib
import json
import os
import secrets
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from heedful.corpora.locating import cache_folder
from heedful.errors import DiskFull
from heedful.files import atomic, fingerprint, write_text
from heedful.integrity import bytes_fingerprint, content_fingerprint, known_fingerprint
from heedful.runs.directory import Run

FOLDER = ".findings"
LARGEST = 1 << 28  # bytes of files kept together; reading more takes about as long as writing them anew

_UNREAD = ".safetensors"  # the model: no finding reads it
_SETTLED = 2.0  # seconds after which a change shows in a file's time, whatever the file system
_VALUE = "value.json"  # the entry of an archive that holds its value
_UNRELATED = ("cli", "sweeps", "engines", "corpora", "text", "models", "importance", "adapters")  # no finding needs it
_LIBRARIES = ("numpy", "scipy", "polars", "altair", "vl-convert-python")

_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, struct.error)  # what zipfile raises for one

_hashes: dict[str, dict[str, list[Any]]] = {}  # of the files of each directory, as files.json has them


def kept(name: str, runs: Run | Sequence[Run], compute: Callable[[], Any], **options: Any) -> Any:
    """The finding `name` of one or more runs, as plain JSON values: read if it is kept, computed and kept if not. What
    depends on several runs is kept with the first one."""
    path, key = _entry(name, runs, options, ".json")
    with suppress(OSError, ValueError, RecursionError):
        head, value = path.read_bytes().split(b"\n", 1)
        if key is not None and head.decode() == _head(key, value):
            return json.loads(value)
    text = json.dumps(compute(), ensure_ascii=False, separators=(",", ":"))
    if key is not None:
        _try(lambda: write_text(path, f"{_head(key, text.encode())}\n{text}"))
    return json.loads(text)


def _head(key: str, value: bytes) -> str:
    """The first line of an entry: what its value depends on, and a digest of the value."""
    return f"{key} {bytes_fingerprint(value)}"


def kept_files(
    name: str, run: Run, write: Callable[[], Any], folder: Path, below: Sequence[str], **options: Any
) -> Any:
    """Like `kept`, for a function that also writes files `below` some directories in `folder`: kept ones are copied."""
    path, key = _entry(name, run, {"below": list(below), **options}, ".zip")
    inside = tuple(f"{place}/" for place in below)
    try:
        with zipfile.ZipFile(path) as archive:
            entry = json.loads(archive.read(_VALUE))  # zip files have checksums of their own
            names = [member for member in archive.namelist() if member.startswith(inside)]
            if key is not None and entry["key"] == key and entry["files"] == names:
                archive.extractall(folder, names)
                return entry["value"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, *_DAMAGED_ZIP):
        pass
    value = json.loads(json.dumps(write()))
    if key is not None:
        files = [file for place in below for file in sorted((folder / place).rglob("*")) if file.is_file()]
        if sum(file.stat().st_size for file in files) <= LARGEST:
            names = [file.relative_to(folder).as_posix() for file in files]
            _try(lambda: _pack(path, {"key": key, "value": value, "files": names}, folder))
    return value


def _pack(path: Path, entry: dict[str, Any], folder: Path) -> None:
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.writestr(_VALUE, json.dumps(entry))
        for name in entry["files"]:
            archive.write(folder / name, name)


def _try(write: Callable[[], None]) -> None:
    """Keep something, if the directory can be written."""
    with suppress(OSError, DiskFull):
        write()


def _entry(name: str, runs: Run | Sequence[Run], options: Any, ending: str) -> tuple[Path, str | None]:
    """Where a finding is kept, and what it depends on (None: it cannot be kept)."""
    group = [runs] if isinstance(runs, Run) else list(runs)
    stem = f"{name}-{fingerprint(options)[:8]}" if options else name
    path = group[0].origin / FOLDER / f"{stem}{ending}"
    if path.parent.is_symlink():
        return path, None
    try:
        content = [(run.origin.name, _content(run.origin), run.config.model_dump_json()) for run in group]
        secret = _secret(cache_folder())
    except OSError:
        return path, None
    return path, fingerprint([content, name, options, code_fingerprint(), secret])


@lru_cache(maxsize=1)
def _secret(cache: Path) -> str:
    """A number of this user's own, so that entries which came with somebody else's runs are never valid here: kept site
    data are scripts."""
    path = cache / "findings.key"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with (
            suppress(FileExistsError),
            os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file,
        ):
            file.write(secrets.token_hex(32))
    return path.read_text(encoding="ascii")


def _content(folder: Path) -> dict[str, str]:
    """The content of the files of a run (or audit), as hashes; files whose size and time are known are not read."""
    path = folder / FOLDER / "files.json"
    linked = path.parent.is_symlink()
    known = _hashes.get(str(folder))
    if known is None:
        known = _hashes[str(folder)] = {} if linked else _read_hashes(path)
    found, fresh = {}, False
    for name, status in _files(folder):
        if name.endswith(_UNREAD):
            found[name] = ""
            continue
        about = [status.st_size, status.st_mtime_ns]
        if known.get(name, [])[:2] != about:
            if time.time() - status.st_mtime < _SETTLED:  # it may change again within the same tick of the clock
                found[name] = content_fingerprint(folder / name)
                continue
            known[name], fresh = [*about, known_fingerprint(folder / name)], True
        found[name] = known[name][2]
    if fresh and not linked:
        _try(lambda: write_text(path, json.dumps(known)))
    return found


def _files(folder: Path) -> list[tuple[str, os.stat_result]]:
    """The files of a directory and of those directly in it, hidden ones left out, by name."""
    found = []
    for entry in os.scandir(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            found += [(f"{entry.name}/{each.name}", each.stat()) for each in os.scandir(entry) if each.is_file()]
        else:
            found.append((entry.name, entry.stat()))
    return sorted((name, status) for name, status in found if not name.rpartition("/")[2].startswith("."))


def _read_hashes(path: Path) -> dict[str, list[Any]]:
    try:
        known: dict[str, list[Any]] = json.loads(path.read_bytes())
        return {name: [int(size), int(at), str(digest)] for name, (size, at, digest) in known.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


@lru_cache(maxsize=1)
def code_fingerprint() -> str:
    """The code that findings and figures are made with: this package but for commands, and the libraries it uses."""
    package = Path(__file__).parent.parent
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(package.rglob("*")):
        if path.suffix in (".py", ".csv", ".toml") and path.relative_to(package).parts[0] not in _UNRELATED:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return fingerprint([digest.hexdigest(), *map(_version, _LIBRARIES)])


def _version(library: str) -> str:
    try:
        return version(library)
    except ModuleNotFoundError:  # an extra that is not installed
        return ""
