"""What a process does beyond what it may: files written outside some folders, connections to other machines."""

import os
import socket
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WRITING = {
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
}
# torch makes an empty folder for its compiler, which heedful does not use
_HARMLESS = ("/dev/", "/proc/", os.path.join(tempfile.gettempdir(), "torchinductor_"))  # noqa: PTH118  # a prefix
_LOOPBACK = ("127.", "::1", "localhost")


class Watch:
    """An audit hook of this process, which cannot be taken off: for processes that end soon.

    It sees what Python does. Libraries that write by themselves are given their paths by Python.
    """

    def __init__(self, allowed: Sequence[Path], log: Path | None = None) -> None:
        self._allowed = [str(path.resolve()) for path in allowed]
        self._log = None if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._found: list[tuple[str, str]] = []
        sys.addaudithook(self._hook)

    def take(self) -> list[tuple[str, str]]:
        """Faults since the last call: which, and what happened."""
        found, self._found = self._found, []
        return found

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if writes and isinstance(path, str | bytes | os.PathLike):
                self._check(event, path)
        elif event in _WRITING:
            for path in arguments[:2] if event in ("os.rename", "os.link") else arguments[:1]:
                if isinstance(path, str | bytes | os.PathLike):
                    self._check(event, path)
        elif event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
            self._connection(event, arguments)

    def _check(self, event: str, path: Any) -> None:
        place = os.path.realpath(os.fsdecode(path))
        if not place.startswith(_HARMLESS) and not any(
            place == folder or place.startswith(folder + os.sep) for folder in self._allowed
        ):
            self._add("files outside", f"{event} {place}")

    def _connection(self, event: str, arguments: tuple[Any, ...]) -> None:
        address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        family = getattr(arguments[0], "family", None)
        host = address[0] if isinstance(address, tuple) else address
        if family == socket.AF_UNIX or host is None or str(host).startswith(_LOOPBACK):
            return
        self._add("connections", f"{event} {address}")

    def _add(self, fault: str, what: str) -> None:
        self._found.append((fault, what))
        if self._log is not None:
            os.write(self._log, f"{fault}\t{what}\n".encode(errors="replace"))
