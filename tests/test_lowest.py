"""`make lowest` tries what pyproject.toml says, in environments of its own; here, what it would try."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks import lowest
from benchmarks.lowest import Interpreter, bounds, declared, interpreters, main, pins

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_every_library_has_a_lower_bound_and_a_tested_version() -> None:
    found = bounds(("report", "papers", "hf", "ray"))
    assert found.keys() | {"torch"} <= pins().keys()
    assert "torch" not in found
    assert {"numpy", "typer", "spacy", "transformers", "ray"} <= found.keys()
    for name, version in found.items():
        numbers = [[int(part) for part in each.split(".")[:2]] for each in (version, pins()[name])]
        assert numbers[0] <= numbers[1], name


def test_the_lowest_python_is_the_one_that_is_required() -> None:
    assert PROJECT["requires-python"] == f">={declared()[0]}"
    assert declared() == ["3.11", "3.12", "3.13"]


def test_pythons_that_are_not_here_are_said_not_to_be_tested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [python.version for python in interpreters([HERE, "2.9"])] == [HERE]
    commands: list[list[str]] = []

    def run(command: list[str], folder: Path) -> int:
        commands.append(command)
        if "pip" in command:
            constraints = (folder / "constraints.txt").read_text()
            commands.append(constraints.splitlines())
        return 0

    monkeypatch.setattr(lowest, "_run", run)
    monkeypatch.setattr(lowest, "interpreters", lambda versions: iter([Interpreter("3.11", sys.executable)]))
    assert main(["--python", "3.11", "--python", "3.13", "tests/test_files.py"]) == 0
    told = capsys.readouterr().out
    assert "3.11    lowest  works" in told
    assert "3.13    not tested: there is no such Python on this machine" in told
    pip, constraints = commands[1:3]
    assert {"torch", "numpy", "pytest"} <= set(pip)
    assert f"numpy=={bounds()['numpy']}" in constraints
    assert f"torch=={pins()['torch']}" in constraints
    assert commands[-1][-1] == "tests/test_files.py"


def test_what_does_not_work_is_named_and_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lowest, "_run", lambda command, folder: 3 if "run" in command else 0)
    monkeypatch.setattr(lowest, "interpreters", lambda versions: iter([Interpreter("3.12", sys.executable)]))
    assert main(["--python", "3.12"]) == 1
    assert "heedful run --help failed (exit code 3)" in capsys.readouterr().out
    monkeypatch.setattr(lowest, "interpreters", lambda versions: iter(()))
    assert main(["--python", "3.14"]) == 1  # nothing was tested


def test_it_says_what_it_does() -> None:
    command = [sys.executable, "-m", "benchmarks.lowest", "--help"]
    assert "--torch" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
