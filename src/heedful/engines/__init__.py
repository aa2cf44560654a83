"""Engines: where the tasks of a sweep run. One file per engine."""

from pathlib import Path

from heedful.engines.task import Engine
from heedful.errors import BadConfig, unknown_name

__all__ = ["ENGINES", "Engine", "open_engine"]

ENGINES = ("local", "ray")


def open_engine(
    name: str, *, workers: int | None, threads: int, address: str | None = None, log: Path | None = None
) -> Engine:
    """Open an engine by name; by default with as many workers of `threads` threads as there are processors for."""
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
