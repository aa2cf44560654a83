"""An audit that is killed goes on where it was, with the same result."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import heedful
from heedful.errors import HeedfulError
from heedful.files import locked
from tests.audits.made import TEXTS, assert_same, csv, planted

HERE = Path(__file__).parent


def _command(folder: Path, data: Path) -> list[str]:
    module = f"{HERE / 'models.py'}:faithful"
    return ["audit", "--module", module, "--data", str(data), "--sample", "6", "--out", str(folder), "--threads", "1"]


@pytest.mark.parametrize("touches", [40, 150, 320])
def test_a_killed_audit_goes_on(touches: int, tmp_path: Path, whole: heedful.Audit) -> None:
    data = csv(tmp_path / "mine.csv", ["text", *TEXTS])
    out = tmp_path / "killed" / "audits"
    out.mkdir(parents=True)
    arguments = [sys.executable, "-m", "tests.runs.kill_after", *_command(out, data)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    touched = f"{out.parent} {touches}\n"
    killed = subprocess.run(
        arguments, input=touched, text=True, capture_output=True, env=environment, cwd=HERE.parents[1]
    )
    assert int(killed.stdout) == -signal.SIGKILL, killed.stderr
    (left,) = out.iterdir()
    assert not (left / "verdict.json").exists()
    done = heedful.audit(module=f"{HERE / 'models.py'}:faithful", data=data, sample=6, out=out, threads=1)
    assert done.folder == left
    assert_same(done, whole)
    assert not list(left.rglob("*.tmp"))
    assert not list(left.rglob("*.parts"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> heedful.Audit:
    folder = tmp_path_factory.mktemp("whole")
    data = csv(folder / "mine.csv", ["text", *TEXTS])
    return heedful.audit(module=f"{HERE / 'models.py'}:faithful", data=data, sample=6, out=folder, threads=1)


def test_a_deleted_result_is_made_again_with_what_follows_from_it(whole: heedful.Audit, tmp_path: Path) -> None:
    data = csv(tmp_path / "mine.csv", ["text", *TEXTS])
    options = {"module": f"{HERE / 'models.py'}:faithful", "data": data, "sample": 6, "out": tmp_path, "threads": 1}
    done = heedful.audit(**options)
    before = done.manifest["stages"]["erasure"]
    for name in ("permutation", "signals"):
        (done.folder / done.manifest["stages"][name]["file"]).unlink()
    again = heedful.audit(**options)
    assert_same(again, whole)
    assert again.manifest["stages"]["erasure"] == before


def test_only_one_process_works_on_an_audit(tmp_path: Path) -> None:
    first = heedful.audit(planted(), texts=TEXTS[:3], sample=1, out=tmp_path)
    (first.folder / "verdict.json").unlink()
    with locked(first.folder), pytest.raises(HeedfulError, match="another process is working"):
        heedful.audit(planted(), texts=TEXTS[:3], sample=1, out=tmp_path)
