"""Code of the user's own that an audit calls: when it fails, that is no bug of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

from heedful.errors import BadInput, HeedfulError


@contextmanager
def foreign(what: str, remedy: str) -> Iterator[None]:
    """Tell whose code failed, and how. An exit is a failure too: with code 0 it would pass for a verdict."""
    try:
        yield
    except (HeedfulError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:400]
        raise BadInput(f"{what} failed: {type(error).__name__}: {reason}; {remedy}") from error
