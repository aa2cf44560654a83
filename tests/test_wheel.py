"""A wheel built from the repository holds all that heedful needs."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.runs.small import ARGUMENTS

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "pyproject.toml").exists():
        pytest.skip("not in a source tree")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


def _installed(wheel: Path, folder: Path) -> Path:
    """The wheel in an environment of its own, which borrows the libraries of this one, and its pip."""
    venv.create(folder)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", wheel], check=True, capture_output=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    # paths only: a .pth of this environment would bring the source tree along
    (packages / "borrowed.pth").write_text("\n".join(libraries) + "\n")
    return folder / "bin" / "heedful"


def _environment(folder: Path) -> dict[str, str]:
    """A cache in the folder, and no way to the source tree: PYTHONPATH would be looked at before the wheel."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**inherited, "HEEDFUL_CACHE": str(folder / "cache")}


def test_an_installed_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    command = _installed(wheel, tmp_path / "venv")
    environment = _environment(tmp_path)
    result = subprocess.run(
        [command, "run", *ARGUMENTS, "--out", "runs"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    where = subprocess.run(
        [tmp_path / "venv/bin/python", "-c", "import heedful; print(heedful.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path) in where.stdout


@pytest.mark.slow
def test_an_installed_wheel_runs_the_demo(wheel: Path, tmp_path: Path) -> None:
    command = _installed(wheel, tmp_path / "venv")
    environment = _environment(tmp_path)
    result = subprocess.run([command, "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "most attended" in result.stdout
