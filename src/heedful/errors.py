"""One family of errors: each says what is wrong, why it matters, and what to do."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


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
    """An error that lists the valid names and suggests the nearest one, or what the name may be the last part of.

    >>> print(unknown_name("encoder", "bilstn", ["average", "bilstm"]))
    unknown encoder 'bilstn' (did you mean 'bilstm'?); valid: average, bilstm
    >>> print(unknown_name("key", "epochs", ["seed", "training.epochs"]))
    unknown key 'epochs' (did you mean 'training.epochs'?); valid: seed, training.epochs
    """
    names = sorted(valid)
    near = get_close_matches(name, names, n=1, cutoff=0.8) or _ending_like(name, names)
    near = near or get_close_matches(name, names, n=1)
    hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return BadConfig(f"unknown {kind} '{name}'{hint}; valid: {', '.join(names)}")


def _ending_like(name: str, names: list[str]) -> list[str]:
    """The dotted names whose last part is the last part of a name, or nearly so."""
    dotted = [each for each in names if "." in each]
    lasts = sorted({each.rpartition(".")[2] for each in dotted})
    (last, *_) = [*get_close_matches(name.rpartition(".")[2], lasts, n=1, cutoff=0.75), None]
    return [each for each in dotted if each.rpartition(".")[2] == last]


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
