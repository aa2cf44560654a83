"""One family of errors: each says what is wrong, why it matters, and what to do."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_TEXTS = (*map(os.strerror, _FULL), "database or disk is full")  # in errors of libraries; the last is SQLite's


_QUOTED = re.compile(r"(?<!\w)'([^']{200,})'(?!\w)")  # not what stands between the apostrophes of prose
_LONGEST = 4000
ALIKE = 0.6  # names that one may have meant, from 0 to 1
PART = 0.99  # of it counts the likeness of last parts

_LIMITS = {
    errno.EMFILE: "too many open files: raise the limit (`ulimit -n`) or use fewer workers",
    errno.ENFILE: "the system has too many open files: close some programs",
    errno.ENOMEM: "not enough memory: close some programs, or lower options such as training.batch",
}
_NUMBERED = {f"(os error {number})": text for number, text in _LIMITS.items()}  # as Rust words them


class HeedfulError(Exception):
    """Anything a user can fix; the command line prints it in one line and exits with code 2.

    Ids, labels and other quoted values that are very long are cut.
    """

    def __init__(self, message: str = "") -> None:
        message = _QUOTED.sub(lambda found: f"'{found[1][:120]} … {found[1][-60:]}'", message)
        super().__init__(
            message if len(message) <= _LONGEST else f"{message[:-1000][: _LONGEST - 1000]} … {message[-1000:]}"
        )


class BadInput(HeedfulError):
    """A file, row or value that cannot be used as it is."""


class BadRows(BadInput):
    """Several rows that cannot be used: the message has a line for each of the first, and is printed so."""


class BadConfig(HeedfulError):
    """An option or a configuration value that makes no sense."""


class NotFound(HeedfulError):
    """A corpus, run or instance that is not where it was looked for."""


class MissingExtra(HeedfulError):
    """An optional library that is needed here and not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed: {install_hint(extra)}")


class DiskFull(HeedfulError):
    """No room to write; what was finished before is kept."""


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error, or one that it was raised from, says that there is no space left or that a quota is used up."""
    while error is not None:
        known = isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in _FULL)
        if known or any(text in str(error) for text in _FULL_TEXTS):
            return True
        error = error.__cause__
    return False


@contextmanager
def disk_full_named(place: object = None, remedy: str = "run again; what was finished is kept") -> Iterator[None]:
    """Turn any library's error about a full disk into one that names the file and the remedy."""
    try:
        yield
    except DiskFull:
        raise
    except Exception as error:
        if not is_disk_full(error):
            raise
        place = place or getattr(error, "filename", None) or "output"
        raise DiskFull(f"no space left while writing {place}: free some space and {remedy}") from error


class Stopped(HeedfulError):
    """The user pressed Ctrl-C."""


def install_hint(extra: str, *, package: Path = Path(__file__).parent, environment: Path = Path(sys.prefix)) -> str:
    """How to add the libraries of an extra to heedful as it was installed here: from a clone, a folder or an index."""
    clone = package.parents[1]  # the package is in src/
    if (clone / "pyproject.toml").is_file():
        if environment.resolve() == (clone / ".venv").resolve():
            return f"run `make setup` in {clone}"
        return f'pip install -e "{clone}[{extra}]"'
    address = _installed_from()
    return f'pip install "heedful[{extra}]{f" @ {address}" if address else ""}"'


def _installed_from() -> str:
    """The address of the folder, archive or repository that pip installed heedful from; empty: an index."""
    from importlib import metadata

    try:
        recorded = json.loads(metadata.distribution("heedful").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    version_control = recorded.get("vcs_info", {}).get("vcs", "")
    return f"{version_control}{'+' if version_control else ''}{recorded.get('url', '')}"


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> BadConfig:
    """An error that lists the valid names and suggests the nearest one, or what the name may be the last part of.

    >>> print(unknown_name("encoder", "bilstn", ["average", "bilstm"]))
    unknown encoder 'bilstn' (did you mean 'bilstm'?); valid: average, bilstm
    >>> print(unknown_name("key", "epochs", ["seed", "training.epochs"]))
    unknown key 'epochs' (did you mean 'training.epochs'?); valid: seed, training.epochs
    """
    names = sorted(valid)
    near = nearest(name, names)
    hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return BadConfig(f"unknown {kind} '{name}'{hint}; valid: {', '.join(names)}")


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names most like a name: as a whole, or by the last part of a dotted one, which several may share."""
    last = name.rpartition(".")[2]
    likeness = {}
    for each in names:
        end = each.rpartition(".")[2]
        whole, part = (SequenceMatcher(None, *pair).ratio() for pair in ((name, each), (last, end)))
        likeness[each] = max(whole, PART * part)  # rather a whole name than a part that is as like
    best = max(likeness.values(), default=0.0)
    return [each for each in likeness if likeness[each] == best] if best >= ALIKE else []


@contextmanager
def user_code(what: str, remedy: str) -> Iterator[None]:
    """Say whose code failed, and how. An exit is a failure too: with code 0 it would pass for a verdict."""
    try:
        yield
    except (HeedfulError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:400]
        raise BadInput(f"{what} failed: {type(error).__name__}: {reason}; {remedy}") from error


def resource_limit(error: BaseException) -> str | None:
    """If the error is one of a limit of this system, not of a file: what to do about it."""
    if isinstance(error, OSError) and error.errno in _LIMITS:
        return _LIMITS[error.errno]
    text = str(error)
    if isinstance(error, RuntimeError) and ("can't allocate memory" in text or "can't start new thread" in text):
        return _LIMITS[errno.ENOMEM]
    return next((remedy for mark, remedy in _NUMBERED.items() if mark in text), None)
