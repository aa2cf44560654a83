"""One family of errors: each says what is wrong, why it matters, and what to do."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher

ALIKE = 0.6  # names that one may have meant, from 0 to 1
PART = 0.99  # of it counts the likeness of last parts


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
