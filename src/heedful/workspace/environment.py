"""What results depend on beside the configuration, and what they cost: library versions, threads, peak memory."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

_LIBRARIES = ("torch", "numpy", "scipy", "scikit-learn", "polars", "spacy", "gensim")


def versions() -> Iterator[tuple[str, str]]:
    """Of the libraries that results can depend on, as far as they are installed."""
    for library in _LIBRARIES:
        try:
            yield library, metadata.version(library)
        except metadata.PackageNotFoundError:
            continue


def peak_memory() -> int | None:
    """The most memory this process has had, in MB; the system counts in KB, on macOS in bytes."""
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Torch's threads for the time of a run; the number is part of the configuration because sums depend on it."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
