"""The environment of a result: code and library versions, torch threads, peak memory."""

import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from heedful.files import fingerprint
from heedful.integrity import content_fingerprint
from heedful.version import __version__

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


def performers(manifest: Mapping[str, Any]) -> dict[str, list[str]]:
    """Which version of heedful performed which stages of a run or audit; where code differs within a version, its
    fingerprint is named too. A stage of an older directory, which names none, is of the version that began it."""
    found: dict[tuple[str, str], list[str]] = {}
    for stage, entry in manifest["stages"].items():
        version, code = (str(entry.get(name, manifest.get(name, ""))) for name in ("heedful", "code"))
        found.setdefault((version, code), []).append(stage)
    versions = [version for version, _ in found]
    return {
        (version or "unknown") + (f" (code {code or 'unknown'})" if versions.count(version) > 1 else ""): stages
        for (version, code), stages in found.items()
    }


def mixture(manifest: Mapping[str, Any]) -> str:
    """Versions that performed different stages, and which; empty if one performed all."""
    found = performers(manifest)
    return "; ".join(f"{version}: {', '.join(stages)}" for version, stages in found.items()) if len(found) > 1 else ""


def change_of_version(manifest: Mapping[str, Any]) -> str:
    """What to say when this version goes on with stages of others; empty if there are none."""
    here = {"heedful": __version__, "code": code_fingerprint()}
    found = performers({**manifest, "stages": {**manifest["stages"], "": here}})
    others = [version for version, stages in found.items() if "" not in stages]
    mine = next(version for version, stages in found.items() if "" in stages)
    return f"begun by heedful {', '.join(others)}; goes on with {mine}; both are recorded" if others else ""


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
