"""The Ray engine: tasks on a running cluster, or on one of its own on this machine that ends with the sweep.

All machines must share the directory of runs, into which tasks write; only outcomes are sent.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from heedful.engines.local import cores
from heedful.engines.ray_cluster import own_cluster
from heedful.engines.task import Engine, Outcome, Task, attempt
from heedful.errors import MissingExtra, NotFound

CONNECT = 3.0  # seconds for an address to answer
PROBE = 30.0  # seconds for a Ray cluster to accept a connection; Ray itself would try for minutes
GRACE = 10.0  # seconds before tasks that were asked to stop are killed


class RayEngine(Engine):
    """Runs `workers` tasks at a time; by default as many as the cluster has processors for."""

    def __init__(self, address: str | None, *, workers: int | None, threads: int) -> None:
        if find_spec("ray") is None:
            raise MissingExtra("ray", "ray", "a sweep on Ray")
        if address is not None:
            _probe(address)
        self._connection = ExitStack()
        connected = own_cluster(max(cores(), (workers or 1) * threads)) if address is None else _connected(address)
        self._ray = self._connection.enter_context(connected)
        self._running: dict[Any, Task] = {}
        self._settings = {name: value for name, value in os.environ.items() if name.startswith("HEEDFUL_")}
        self.workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)) // threads)

    @property
    def free(self) -> int:
        """Number of tasks that can be started now."""
        return self.workers - len(self._running)

    def start(self, task: Task) -> None:
        """Send a task; Ray sets its threads to its processors, unless OMP_NUM_THREADS is set."""
        function = self._ray.remote(num_cpus=task.threads, max_retries=0)(_attempt)
        self._running[function.remote(tuple(task), str(Path.cwd()), self._settings)] = task

    def wait(self, timeout: float) -> list[tuple[Task, Outcome]]:
        """Outcomes of tasks, including those whose worker or machine is gone."""
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=timeout)
        if ready:  # others may be ready as well
            ready, _ = self._ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        return [(self._running.pop(reference), self._outcome(reference)) for reference in ready]

    def close(self) -> None:
        """Stop all tasks and disconnect from the cluster; a local one is shut down."""
        try:
            if self._running:
                for reference in self._running:
                    self._ray.cancel(reference)
                self._ray.wait(list(self._running), num_returns=len(self._running), timeout=GRACE)
                for reference in self._running:
                    self._ray.cancel(reference, force=True)
        finally:
            self._running.clear()
            self._connection.close()

    def _outcome(self, reference: Any) -> Outcome:
        try:
            return Outcome(*self._ray.get(reference))
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[0]
            return Outcome("lost", f"Ray lost it ({type(error).__name__}: {reason})")


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Ray, connected to a running cluster until the block ends."""
    import ray

    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        yield ray
    finally:
        ray.shutdown()


def _attempt(task: tuple[Any, ...], folder: str, settings: dict[str, str]) -> tuple[str, str, bool]:
    """Run a task in the working directory and with the settings of the process that sent it."""
    os.environ.update(settings)
    if Path(folder).is_dir():
        os.chdir(folder)
    state, reason, disk_full = attempt(Task(*task))
    return state, reason, disk_full


def _probe(address: str) -> None:
    """Raise within seconds unless there is a Ray cluster at the address."""
    remedy = "start one with `ray start --head`, or leave --address out for one of this machine's own"
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if port.isdigit():
            socket.create_connection((host, int(port)), timeout=CONNECT).close()
        command = "import sys, ray; ray.init(address=sys.argv[1], logging_level='ERROR')"
        subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-c", command, address], capture_output=True, text=True, timeout=PROBE, check=True
        )
    except OSError as error:
        raise NotFound(f"no Ray cluster answers at {address} ({error.strerror or error}): {remedy}") from error
    except subprocess.TimeoutExpired as error:
        raise NotFound(f"what answers at {address} is no Ray cluster: {remedy}") from error
    except subprocess.CalledProcessError as error:
        if "AuthenticationError" in error.stderr:
            raise NotFound(
                f"the Ray cluster at {address} wants a token: set RAY_AUTH_MODE=token, as Ray explains"
            ) from error
        reason = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotFound(f"no Ray cluster can be used at {address} ({reason}): {remedy}") from error
