"""A worker process, as its engine sees it: pipes, and the task it is at.

It is a plain Python process, not one of multiprocessing, which would load the caller's script again.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, cast

from heedful.runs.engines.task import Outcome, Task

_COMMAND = "from heedful.runs.engines.worker import main; main()"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Process:
    """Starts at once; each answer is put into a queue with the process itself, and an empty one when it ends."""

    def __init__(self, threads: int, answers: "SimpleQueue[tuple[Process, str]]", log: Path | None) -> None:
        self.threads = threads
        self.task: Task | None = None
        with open(os.devnull if log is None else log, "ab") as errors:  # noqa: PTH123
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

    def give(self, task: Task) -> bool:
        """Hand over a task; False if the process has died."""
        self.task = task
        try:
            self._tasks.write(json.dumps(task._asdict()).encode() + b"\n")
            self._tasks.flush()
        except OSError:
            return False
        return True

    def end(self) -> Outcome:
        """What became of the task of a dead worker."""
        code = self._process.wait()
        if code >= 0:
            return Outcome("lost", f"its worker process ended with exit code {code}")
        name = signal.Signals(-code).name
        hint = "; is there enough memory? fewer workers leave more to each" if name == "SIGKILL" else ""
        return Outcome("lost", f"its worker process was ended by {name}{hint}")

    def terminate(self) -> None:
        """Ask it to leave its task in good order and end."""
        self._process.terminate()

    def wait(self, seconds: float) -> None:
        """Let it come to its end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.0, seconds))

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._tasks.close()


def _environment(threads: int) -> dict[str, str]:
    """That of this process, with the limits that libraries look for when they are loaded, and its own search path."""
    path = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    return {**os.environ, **{name: str(threads) for name in _THREADS}, "PYTHONPATH": path}
