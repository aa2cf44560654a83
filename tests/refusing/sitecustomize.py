"""Every connection beyond this machine is refused, and kept in the file that HEEDFUL_TEST_ASKED names.

An audit hook sees what C code asks for, too, and cannot be worked around by importing something else. Processes that
have this folder on their PYTHONPATH import it as they start.
"""

import errno
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
VARIABLE = "HEEDFUL_TEST_ASKED"

_EVENTS = {
    "socket.connect": 1,  # the place of the address among an event's arguments
    "socket.sendto": 1,
    "socket.sendmsg": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
    "socket.gethostbyaddr": 0,
}


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise as if there were no network."""
    if event not in _EVENTS or not (kept := os.environ.get(VARIABLE)):
        return
    address = arguments[_EVENTS[event]]
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    connected = address is None and event != "socket.getaddrinfo"  # sent where `connect` was let through
    local = event in ("socket.connect", "socket.sendto", "socket.sendmsg") and not isinstance(address, tuple)
    if connected or local or host in (None, "", "localhost", "::1") or str(host).startswith("127."):
        return
    with Path(kept).open("a", encoding="utf-8") as file:
        file.write(f"{event} {host}\n")
    raise OSError(errno.ENETUNREACH, "refused by the tests", str(host))


sys.addaudithook(refuse)
