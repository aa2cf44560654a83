import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import heedful
from tests.runs.small import VALUES


def test_every_public_name_is_there() -> None:
    assert set(heedful.__all__) <= {*dir(heedful), "__version__"}
    for name in heedful.__all__:
        assert getattr(heedful, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = heedful.nothing


def test_a_run_in_python(tmp_path: Path) -> None:
    run = heedful.run(out=tmp_path, **VALUES)
    assert run.metrics["test"]["n"] == 30
    assert heedful.Run.open(run.folder).config == run.config
    evidence = heedful.Evidence.read(run.folder / "evidence.parquet")
    frame = heedful.experiments.truth(evidence)
    assert frame.columns == ["id", "decision", "mass", "share", "top"]
    assert frame["mass"].is_between(0, 1).all()
    assert isinstance(run.history, pl.DataFrame)


@pytest.mark.parametrize("heavy", ["torch", "polars", "scipy", "spacy", "sklearn", "numpy"])
def test_help_imports_nothing_heavy(heavy: str) -> None:
    code = (
        "import sys\nfrom heedful.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit({heavy!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_reading_a_run_needs_no_torch(small_run: heedful.Run) -> None:
    code = (
        "import sys, heedful\n"
        f"run = heedful.Run.open({str(small_run.folder)!r})\n"
        "run.evidence.decode(run.evidence.weights), run.metrics, heedful.experiments.truth(run.evidence)\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
