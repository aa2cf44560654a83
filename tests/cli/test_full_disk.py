"""A full disk is exit code 2 and one line, wherever it shows."""

import errno
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.calling import heedful
from tests.runs.small import ARGUMENTS


@pytest.fixture(autouse=True)
def _device() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")


@pytest.mark.parametrize("arguments", [["corpora"], ["corpora", "--json"], ["--version"], ["run", "--help"]])
def test_output_to_a_full_disk(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "heedful.cli.main", *arguments]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        "error: no space left while writing output: free some space and run again; what was finished is kept"
    ]


def test_errors_to_a_full_disk_keep_their_exit_code() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "heedful.cli.main", "corpora", "get", "nothing"]
        assert subprocess.run(command, stderr=full).returncode == 2


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("name", ["train", "observe", "copyfile"])
def test_a_library_that_meets_a_full_disk_anywhere(
    code: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, "told by the system")

    stages = import_module("heedful.runs.stages")
    monkeypatch.setattr(stages.shutil if name == "copyfile" else stages, name, fail)
    answer = heedful("run", *ARGUMENTS, "--experiments", "permutation", "--out", tmp_path / "runs")
    assert answer.code == 2
    assert "error: no space left while writing" in answer.err
    assert "free some space" in answer.err
