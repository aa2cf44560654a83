"""The environment of a result: code and library versions, torch threads, peak memory."""

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path

from heedful.files import fingerprint
from heedful.integrity import content_fingerprint

_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "polars", "spacy", "gensim")


def versions() -> dict[str, str]:
    """Versions of Python and of the installed libraries that results can depend on."""
    found = {"python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def code_fingerprint() -> str:
    """A hash of all of heedful's source files."""
    source = Path(__file__).parents[1]
    return fingerprint([content_fingerprint(path) for path in sorted(source.rglob("*.py"))])


def peak_memory() -> int:
    """Peak memory of this process in MB."""
    if sys.platform == "win32":
        import psutil

        return round(psutil.Process().memory_info().peak_wset / (1 << 20))
    import resource  # psutil reports a peak on Windows only

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # in KB, on macOS in bytes
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set torch's number of threads inside the block: results depend on it, because floating-point sums do."""
    import torch  # here, because opening and listing runs does without

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
