"""The local engine: worker processes on this machine that stay, so that libraries are loaded once in each."""

import json
import os
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Self

from heedful.runs.engines.process import Process
from heedful.runs.engines.task import Outcome, Task

GRACE = 10.0  # seconds to stop in before a worker is killed


def cores() -> int:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalEngine:
    """So many workers; a killed one is replaced, and costs the task it was at."""

    def __init__(self, workers: int, *, log: Path | None = None) -> None:
        self.workers = workers
        self._log = log
        self._pool: list[Process] = []
        self._answers: SimpleQueue[tuple[Process, str]] = SimpleQueue()

    @property
    def free(self) -> int:
        """Workers that do nothing or could be started."""
        return self.workers - sum(worker.task is not None for worker in self._pool)

    def start(self, task: Task) -> None:
        """Give a task to an idle worker with the right number of threads, or to a new one."""
        idle = [worker for worker in self._pool if worker.task is None]
        for worker in sorted(idle, key=lambda each: each.threads != task.threads):
            if worker.threads == task.threads and worker.give(task):
                return
            self._discard(worker)  # it has just died, or its libraries have other threads
        worker = Process(task.threads, self._answers, self._log)
        self._pool.append(worker)
        worker.give(task)

    def wait(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Answers, and what dead workers were at: the end of their pipe is seen at once."""
        ended: list[tuple[Task, Outcome]] = []
        try:
            while True:
                worker, line = self._answers.get(timeout=0 if ended else timeout)
                task, worker.task = worker.task, None
                if task is not None:
                    ended.append((task, Outcome(**json.loads(line)) if line else worker.end()))
                if not line and worker in self._pool:
                    self._discard(worker)
        except Empty:
            return ended

    def close(self) -> None:
        """Stop all workers; those at work get some seconds to leave their task in good order."""
        try:
            for worker in self._pool:
                worker.terminate()
            deadline = time.monotonic() + GRACE
            for worker in self._pool:
                worker.wait(deadline - time.monotonic())
        finally:  # also when told to hurry
            for worker in list(self._pool):
                self._discard(worker)

    def _discard(self, worker: Process) -> None:
        self._pool.remove(worker)
        worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
