"""The local engine: tasks in worker processes on this machine.

A worker is a plain Python process, because multiprocessing would import the caller's script again.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, cast

from heedful.engines.task import Engine, Outcome, Task
from heedful.files import open_log

GRACE = 10.0  # seconds before a worker that was asked to stop is killed
_COMMAND = "from heedful.engines.worker import main; main()"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class LocalEngine(Engine):
    """A pool of worker processes; one that dies is replaced, and its task is lost."""

    def __init__(self, workers: int, *, log: Path | None = None) -> None:
        self.workers = workers
        self._log = log
        self._pool: list[Process] = []
        self._answers: SimpleQueue[tuple[Process, str]] = SimpleQueue()

    @property
    def free(self) -> int:
        """Workers that are idle or not started yet."""
        return self.workers - sum(worker.task is not None for worker in self._pool)

    def start(self, task: Task) -> None:
        """Send a task to an idle worker with the right number of threads, or to a new one."""
        idle = [worker for worker in self._pool if worker.task is None]
        for worker in sorted(idle, key=lambda each: each.threads != task.threads):
            if worker.threads == task.threads and worker.send(task):
                return
            self._discard(worker)  # it has died, or has another number of threads
        worker = Process(task.threads, self._answers, self._log)
        self._pool.append(worker)
        worker.send(task)

    def wait(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Outcomes of tasks, including those of workers that died: the end of their pipe is noticed at once."""
        ended: list[tuple[Task, Outcome]] = []
        try:
            while True:
                worker, line = self._answers.get(timeout=0 if ended else timeout)
                task, worker.task = worker.task, None
                if task is not None:
                    ended.append((task, Outcome(**json.loads(line)) if line else worker.exit_outcome()))
                if not line and worker in self._pool:
                    self._discard(worker)
        except Empty:
            return ended

    def close(self) -> None:
        """Stop all workers; busy ones get some seconds to clean up."""
        try:
            for worker in self._pool:
                worker.terminate()
            deadline = time.monotonic() + GRACE
            for worker in self._pool:
                worker.wait(deadline - time.monotonic())
        finally:  # also after a second Ctrl-C
            for worker in list(self._pool):
                self._discard(worker)

    def _discard(self, worker: "Process") -> None:
        self._pool.remove(worker)
        worker.kill()


def cores() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Process:
    """A worker process. It puts (process, answer) into a queue for each task, with an empty answer when it ends."""

    def __init__(self, threads: int, answers: "SimpleQueue[tuple[Process, str]]", log: Path | None) -> None:
        self.threads = threads
        self.task: Task | None = None
        with open(os.devnull, "ab") if log is None else open_log(log, 0o600) as errors:  # noqa: PTH123
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(threads),
            )
        self._tasks = cast(IO[bytes], self._process.stdin)
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def _listen(self, answers: "SimpleQueue[tuple[Process, str]]") -> None:
        with cast(IO[bytes], self._process.stdout) as lines:
            for line in lines:
                answers.put((self, line.decode()))
        answers.put((self, ""))

    def send(self, task: Task) -> bool:
        """Send a task; False if the process has died."""
        self.task = task
        try:
            self._tasks.write(json.dumps(task._asdict()).encode() + b"\n")
            self._tasks.flush()
        except OSError:
            return False
        return True

    def exit_outcome(self) -> Outcome:
        """The outcome of the task of a process that has died."""
        code = self._process.wait()
        if code >= 0:
            return Outcome("lost", f"its worker process ended with exit code {code}")
        name = signal.Signals(-code).name
        hint = "; is there enough memory? fewer workers leave more to each" if name == "SIGKILL" else ""
        return Outcome("lost", f"its worker process was ended by {name}{hint}")

    def terminate(self) -> None:
        """Ask it to clean up and end."""
        self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Wait for it to end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, seconds))

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._tasks.close()


def _environment(threads: int) -> dict[str, str]:
    """The environment of this process, with thread limits for numerical libraries and its module search path."""
    path = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    return {**os.environ, **{name: str(threads) for name in _THREADS}, "PYTHONPATH": path}
