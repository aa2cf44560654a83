"""One family of errors: each says what is wrong, why it matters, and what to do."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

_LIMITS = {
    errno.EMFILE: "too many open files: raise the limit (`ulimit -n`) or use fewer workers",
    errno.ENFILE: "the system has too many open files: close some programs",
    errno.ENOMEM: "not enough memory: close some programs, or lower options such as training.batch",
}
_NUMBERED = {f"(os error {number})": text for number, text in _LIMITS.items()}  # as Rust words them


class HeedfulError(Exception):
    """Anything a user can fix; the command line prints it in one line and exits with code 2."""


class BadInput(HeedfulError):
    """A file, row or value that cannot be used as it is."""


class BadConfig(HeedfulError):
    """An option or a configuration value that makes no sense."""


class NotFound(HeedfulError):
    """A corpus, run or instance that is not where it was looked for."""


class MissingExtra(HeedfulError):
    """An optional library that is needed here and not installed."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs {library}, which is not installed: pip install "heedful[{extra}]"')


class DiskFull(HeedfulError):
    """No room to write; what was finished before is kept."""


class Stopped(HeedfulError):
    """The user pressed Ctrl-C."""


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> BadConfig:
    """An error that lists the valid names and suggests the nearest one.

    >>> print(unknown_name("encoder", "bilstn", ["average", "bilstm"]))
    unknown encoder 'bilstn' (did you mean 'bilstm'?); valid: average, bilstm
    """
    names = sorted(valid)
    near = get_close_matches(name, names, n=1)
    hint = f" (did you mean '{near[0]}'?)" if near else ""
    return BadConfig(f"unknown {kind} '{name}'{hint}; valid: {', '.join(names)}")


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
