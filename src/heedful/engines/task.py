"""Tasks of engines: a function by name and JSON-serialisable arguments, so that any process can run it."""

import traceback
from importlib import import_module
from typing import Any, Literal, NamedTuple

from heedful.errors import HeedfulError


class Task(NamedTuple):
    """A piece of work."""

    name: str
    work: str  # a function, as module:name
    arguments: dict[str, Any]
    threads: int = 1


class Outcome(NamedTuple):
    """How a task ended: done, failed (a retry would fail too), crashed, or lost with its worker."""

    state: Literal["done", "failed", "crashed", "lost"]
    reason: str = ""


def attempt(task: Task) -> Outcome:
    """Run a task; errors become outcomes."""
    module, _, name = task.work.partition(":")
    try:
        getattr(import_module(module), name)(**task.arguments)
    except HeedfulError as error:
        return Outcome("failed", str(error))
    except MemoryError as error:
        return Outcome("crashed", f"not enough memory ({error}): fewer workers leave more to each")
    except Exception as error:
        traceback.print_exc()
        return Outcome("crashed", f"unexpected {type(error).__name__}: {error}")
    return Outcome("done")
