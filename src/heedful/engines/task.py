"""Engines and their tasks: a function by name and JSON-serialisable arguments, so that any process can run it."""

import traceback
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, Self

from heedful.errors import HeedfulError, disk_full_named, is_disk_full, resource_limit


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
    disk_full: bool = False


class Engine(Protocol):
    """Runs several tasks at a time."""

    workers: int

    @property
    def free(self) -> int:
        """Number of tasks that can be started now."""

    def start(self, task: Task) -> None:
        """Start a task; there must be a free worker."""

    def wait(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """The tasks that have ended since the last call; waits for one, at most `timeout` seconds."""

    def close(self) -> None:
        """Stop all tasks and leave no process behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attempt(task: Task) -> Outcome:
    """Run a task; errors become outcomes."""
    module, _, name = task.work.partition(":")
    try:
        with disk_full_named():
            getattr(import_module(module), name)(**task.arguments)
    except HeedfulError as error:
        return Outcome("failed", str(error), is_disk_full(error))
    except MemoryError as error:
        return Outcome("crashed", f"not enough memory ({error}): fewer workers leave more to each")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # panics of polars are no Exception
        if (limit := resource_limit(error)) is not None:
            return Outcome("crashed", limit)
        traceback.print_exc()
        return Outcome("crashed", f"unexpected {type(error).__name__}: {error}")
    return Outcome("done")
