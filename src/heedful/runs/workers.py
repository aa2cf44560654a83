"""A crew: processes that share the parts of a run's stages. One worker is this process itself."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Self

from heedful.engines.local import LocalEngine
from heedful.engines.task import Task
from heedful.errors import BadConfig, HeedfulError
from heedful.experiments.erasure import ERASURE
from heedful.files import Parts
from heedful.progress import Reporter
from heedful.runs.directory import STAGES, Run
from heedful.runs.experiment_stages import erasure_parts, experiment_parts, importance_parts
from heedful.workspace.parts import StageParts

_ON_MODEL = {"importance": importance_parts, ERASURE.name: erasure_parts}


class Workers:
    """So many workers; processes are started when there is first something to share, and stay until the end."""

    def __init__(self, workers: int, threads: int) -> None:
        if workers < 1:
            raise BadConfig(f"workers = {workers}: at least one is needed")
        self.workers, self._threads = workers, threads
        self._open = ExitStack()
        self._engine: LocalEngine | None = None

    def share(self, run: Run, stage: str, pieces: dict[int, tuple[int, int]]) -> Iterator[int]:
        """Let workers write parts of a stage; yields the number of each when it is there."""
        if self._engine is None:
            self._engine = self._open.enter_context(LocalEngine(self.workers))
        waiting, running = list(pieces.items()), 0
        while waiting or running:
            while waiting and self._engine.free:
                index, (start, stop) = waiting.pop(0)
                arguments = {"folder": str(run.folder.resolve()), "stage": stage, "index": index}
                arguments |= {"start": start, "stop": stop}
                self._engine.start(Task(str(index), "heedful.runs.workers:write_part", arguments, self._threads))
                running += 1
            for task, outcome in self._engine.wait(1.0):
                if outcome.state != "done":
                    raise HeedfulError(
                        f"{stage}: {outcome.reason}; what was finished before is kept, run again to go on"
                    )
                running -= 1
                yield int(task.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def perform_parts(run: Run, stage: str, reporter: Reporter, crew: Workers) -> None:
    """Make the parts of a stage that are not there yet, and merge them."""
    parted, parts = stage_parts(run, stage), Parts(run.folder / STAGES[stage].files[0])
    missing = {index: piece for index, piece in enumerate(parted.pieces) if not parts.has(index)}
    done = sum(steps for index, steps in enumerate(parted.steps) if index not in missing)
    reporter.start(parted.title, sum(parted.steps))
    if done:
        reporter.reach(done)  # so that the time left is told by what is done from here on
    for index in _made(run, stage, parted, missing, crew):
        done += parted.steps[index]
        reporter.reach(done, f"{done:,} {parted.unit}" if parted.unit else "")
    parts.done = len(parted.pieces)
    parts.finish(parted.about)
    reporter.finish(parted.told())


def stage_parts(run: Run, stage: str) -> StageParts:
    """The parts of a stage."""
    return _ON_MODEL[stage](run) if stage in _ON_MODEL else experiment_parts(run, stage)


def _made(
    run: Run, stage: str, parted: StageParts, missing: dict[int, tuple[int, int]], crew: Workers
) -> Iterator[int]:
    if crew.workers > 1 and len(missing) > 1:
        yield from crew.share(run, stage, missing)
        return
    parts = Parts(run.folder / STAGES[stage].files[0])
    for index, piece in missing.items():
        parts.put(index, parted.part(*piece))
        yield index


def write_part(*, folder: str, stage: str, index: int, start: int, stop: int) -> None:
    """The work of a member of a crew."""
    run, parted = _opened(folder, stage)
    Parts(run.folder / STAGES[stage].files[0]).put(index, parted.part(start, stop))


@lru_cache(maxsize=1)
def _opened(folder: str, stage: str) -> tuple[Run, StageParts]:
    """What all parts of a stage need, such as the model: read once."""
    run = Run.open(Path(folder))
    if stage in _ON_MODEL:
        import torch

        torch.set_num_threads(run.config.threads)
    return run, stage_parts(run, stage)
