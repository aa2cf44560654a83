"""How much memory there is to work with."""

import os
from pathlib import Path

FALLBACK = 4 << 30  # where the system does not tell


def available_memory() -> int:
    """Bytes that can be had without swapping."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (OSError, ValueError, AttributeError):
        return FALLBACK
