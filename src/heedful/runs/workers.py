"""Worker processes that share the parts of a run's stages."""

from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Self

from heedful.engines.local import LocalEngine
from heedful.engines.task import Task
from heedful.errors import BadConfig, HeedfulError
from heedful.experiments.erasure import ERASURE
from heedful.experiments.highlights import HIGHLIGHTS
from heedful.files import Parts
from heedful.progress import Reporter
from heedful.runs.directory import STAGES, Run
from heedful.runs.experiment_stages import erasure_parts, experiment_parts, highlights_parts, importance_parts
from heedful.workspace.parts import Piece, StageParts, perform_parts

_ON_MODEL = {"importance": importance_parts, ERASURE.name: erasure_parts, HIGHLIGHTS.name: highlights_parts}


class Workers:
    """A number of workers; one worker is this process itself. Others are started at the first part to share."""

    def __init__(self, count: int, threads: int) -> None:
        if count < 1:
            raise BadConfig(f"workers = {count}: at least one is needed")
        self.count, self._threads = count, threads
        self._engine: LocalEngine | None = None

    def perform(self, run: Run, stage: str, reporter: Reporter) -> None:
        """Make the missing parts of a stage, and merge them."""
        share = partial(self.share, run, stage) if self.count > 1 else None
        file = run.folder / STAGES[stage].file
        perform_parts(file, stage_parts(run, stage), reporter, share=share, at_once=self.count)

    def share(self, run: Run, stage: str, pieces: dict[int, Piece]) -> Iterator[int]:
        """Let workers write parts of a stage; yields the index of each when it is written."""
        if self._engine is None:
            self._engine = LocalEngine(self.count)
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
                    raise HeedfulError(f"{stage}: {outcome.reason}; what was finished is kept: run again to resume")
                running -= 1
                yield int(task.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._engine is not None:
            self._engine.close()


def stage_parts(run: Run, stage: str) -> StageParts:
    """The parts of a stage."""
    return _ON_MODEL[stage](run) if stage in _ON_MODEL else experiment_parts(run, stage)


def write_part(*, folder: str, stage: str, index: int, start: int, stop: int) -> None:
    """Write one part of a stage: the task of a worker process."""
    Parts(Path(folder) / STAGES[stage].file).put(index, _opened(folder, stage).part(start, stop))


@lru_cache(maxsize=1)
def _opened(folder: str, stage: str) -> StageParts:
    """The parts of a stage; what they share, such as the model, is read once."""
    run = Run.open(Path(folder))
    if stage in _ON_MODEL:
        import torch

        torch.set_num_threads(run.config.threads)
    return stage_parts(run, stage)
