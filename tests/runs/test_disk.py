"""A real full disk: a small file system of our own, in a private mount namespace."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs.small import ARGUMENTS


def test_a_full_disk_is_one_line_and_the_run_goes_on_later(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("no private mount namespace to be had here")
    small = tmp_path / "small"
    small.mkdir()
    command = " ".join([sys.executable, "-m", "heedful.cli.main", "run", *ARGUMENTS, "--out", str(small)])
    script = f"""
        mount -t tmpfs -o size=20k tmpfs {small} || exit 77
        {command}; first=$?
        find {small} -name '.*.tmp' | grep -q . && exit 78
        mount -o remount,size=10m {small} || exit 77
        {command} --json >/dev/null || exit 79
        exit $first
    """
    result = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True)
    if result.returncode == 77:
        pytest.skip("mounting is not allowed here")
    assert result.returncode == 2, result.stderr
    errors = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert "no space left while writing" in errors[0]
    assert "Traceback" not in result.stderr
