"""Engines: where the tasks of a sweep are worked on. Each is one file."""

from pathlib import Path
from typing import Protocol, Self

from heedful.engines.task import Outcome, Task
from heedful.errors import BadConfig, unknown_name

ENGINES = ("local", "ray")


class Engine(Protocol):
    """Works on several tasks at a time."""

    workers: int

    @property
    def free(self) -> int:
        """How many tasks can be started now."""

    def start(self, task: Task) -> None:
        """Begin a task; there must be a free worker."""

    def wait(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """The tasks that have ended since the last call; waits for one, at most so many seconds."""

    def close(self) -> None:
        """Stop what is going on and leave no process behind."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def open_engine(
    name: str, *, workers: int | None, threads: int, address: str | None = None, log: Path | None = None
) -> Engine:
    """An engine by name; by default it has as many workers as tasks of so many threads keep all processors busy."""
    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    if workers is not None and workers < 1:
        raise BadConfig(f"workers = {workers}: at least one is needed")
    if name == "ray":
        from heedful.engines.ray import RayEngine

        return RayEngine(address, workers=workers, threads=threads)
    if address is not None:
        raise BadConfig(f"address {address} goes with ray: add --on ray, or leave it out")
    from heedful.engines.local import LocalEngine, cores

    return LocalEngine(workers or max(1, cores() // threads), log=log)
