"""`make lowest`: does heedful work with the lowest versions that pyproject.toml allows, and on every Python it names?

The lowest versions are tried on the lowest Python: an environment in a temporary folder gets exactly the lower bound of
every library of heedful's (torch apart, which is that of constraints.txt), whatever is current of the libraries that
those need in turn, and pytest. Other Pythons get the versions of constraints.txt, and no torch unless `--torch` asks
for it (of some Pythons there are only builds of many gigabytes): what runs without torch is tested there.

    python -m benchmarks.lowest                                   # every Python found on this machine
    python -m benchmarks.lowest --python 3.11 tests/test_files.py # one Python, these tests
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
EXTRAS = ("report", "papers", "hf")  # not Ray: a hundred megabytes, for one engine
WITH_TORCH = ("hf",)  # extras that need it
TOOLS = ("pytest", "pytest-xdist", "hypothesis")
QUICK = ("-m", "not slow and not costly", "tests")
LOWEST_QUICK = (*QUICK, "tests/cli/test_commands.py")
WITHOUT_TORCH = (
    "tests/corpora",
    "tests/experiments",
    "tests/text",
    "tests/verdict",
    "tests/test_evidence.py",
    "tests/test_files.py",
    "tests/test_measures.py",
    "tests/test_ragged.py",
    "tests/test_randomness.py",
    "tests/test_rank_correlation.py",
)

_BOUND = re.compile(r"([A-Za-z0-9._-]+)\s*>=\s*([0-9][0-9a-z.]*)")
_PIN = re.compile(r"([A-Za-z0-9._-]+)==(\S+)")


class Interpreter(NamedTuple):
    """A Python on this machine."""

    version: str  # 3.11
    command: str


class Trial(NamedTuple):
    """What was tried, and what came of it."""

    python: str
    versions: str
    outcome: str
    worked: bool


def bounds(extras: Sequence[str] = EXTRAS) -> dict[str, str]:
    """The lower bound of every library of heedful's but torch, by name."""
    project = _project()
    required = [
        *project["dependencies"],
        *(line for extra in extras for line in project["optional-dependencies"][extra]),
    ]
    found = {}
    for line in required:
        match = _BOUND.match(line)
        if match is None:
            raise SystemExit(f"pyproject.toml: '{line}' has no lower bound; write it as name>=version")
        found[match[1].lower()] = match[2]
    del found["torch"]
    return found


def pins() -> dict[str, str]:
    """The tested versions, by name."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return {match[1].lower(): match[2] for match in map(_PIN.match, text.splitlines()) if match}


def declared() -> list[str]:
    """The Pythons that the classifiers name, the lowest first."""
    names = [name.rpartition(" :: ")[2] for name in _project()["classifiers"] if "Python :: 3." in name]
    return sorted(names, key=lambda name: int(name.partition(".")[2]))


def interpreters(versions: Sequence[str]) -> Iterator[Interpreter]:
    """Those of the versions that are installed here: on PATH, or by pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in versions:
        places = [*sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True), shutil.which(f"python{version}")]
        if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
            places.insert(0, sys.executable)
        there = [str(place) for place in places if place]
        if there:
            yield Interpreter(version, there[0])


def tried(python: Interpreter, *, lowest: bool, torch: bool, tests: Sequence[str]) -> Trial:
    """Install into an environment of its own and run the tests there."""
    title = "lowest" if lowest else "those of constraints.txt"
    title += "" if torch else ", no torch"
    wanted = pins() | (bounds() if lowest else {})
    extras = [extra for extra in EXTRAS if torch or extra not in WITH_TORCH]
    names = [*bounds(extras), *TOOLS, *(["torch"] if torch else [])]
    with tempfile.TemporaryDirectory(prefix="heedful-lowest-") as name:
        folder = Path(name)
        constraints = folder / "constraints.txt"
        constraints.write_text("".join(f"{each}=={version}\n" for each, version in wanted.items()), encoding="utf-8")
        _run([python.command, "-m", "venv", str(folder / "venv")], folder)
        inside = str(folder / "venv" / "bin" / "python")
        steps = {
            "installing": [
                inside,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--only-binary=:all:",
                "-c",
                str(constraints),
                *names,
            ],
            "heedful --help": [inside, "-m", "heedful.cli.main", "--help"],
            "heedful run --help": [inside, "-m", "heedful.cli.main", "run", "--help"],
            "tests": [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        }
        for step, command in steps.items():
            print(f"Python {python.version}, {title}: {step}", flush=True)
            if code := _run(command, folder):
                return Trial(python.version, title, f"{step} failed (exit code {code})", False)
    return Trial(python.version, title, "works", True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try what was asked for; exit code 1 if something does not work."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lowest", description=__doc__)
    parser.add_argument("--python", action="append", help="a version such as 3.11; default: all that are declared")
    parser.add_argument("--torch", action="store_true", help="install torch on every Python, not only on the lowest")
    parser.add_argument("tests", nargs="*", help="what pytest gets; default: the quick tests")
    given = parser.parse_args(arguments)
    versions = given.python or declared()
    there = list(interpreters(versions))
    trials = []
    for python in there:
        lowest = python.version == declared()[0]
        torch = lowest or given.torch
        tests = given.tests or (LOWEST_QUICK if torch else WITHOUT_TORCH)
        trials.append(tried(python, lowest=lowest, torch=torch, tests=tests))
    print("\nPython  versions  outcome")
    for trial in trials:
        print(f"{trial.python:6}  {trial.versions}  {trial.outcome}")
    for version in versions:
        if version not in [python.version for python in there]:
            print(f"{version:6}  not tested: there is no such Python on this machine")
    return int(not trials or not all(trial.worked for trial in trials))


def _project() -> dict:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def _run(command: Sequence[str], folder: Path) -> int:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "HEEDFUL_CACHE": str(folder / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
