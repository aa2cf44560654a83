"""docs/extending.md as it stands: its files and lines, put into a copy of the package, make a package that works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import heedful

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|diff)\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extended")
    package = shutil.copytree(Path(heedful.__file__).parent, folder / "heedful")
    blocks = BLOCK.findall((ROOT / "docs" / "extending.md").read_text(encoding="utf-8"))
    assert [kind for kind, _, _ in blocks] == ["python", "diff"] * 6  # each addition is one file and one line
    for kind, name, text in blocks:
        if kind == "python":
            assert not (package / name).exists()
            (package / name).write_text(text)
        else:
            before, new = text.splitlines()
            assert (before[0], new[0]) == (" ", "+")
            source = (package / name).read_text()
            assert source.count(f"{before[1:]}\n") == 1, f"{name} has no line {before[1:]!r}"
            (package / name).write_text(source.replace(f"{before[1:]}\n", f"{before[1:]}\n{new[1:]}\n"))
    return folder


def python(extended: Path, code: str, *arguments: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(extended),
        "HEEDFUL_CACHE": str(extended / "cache"),
        "COLUMNS": "200",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_a_run_of_nothing_but_additions(extended: Path) -> None:
    printed = python(
        extended,
        "from heedful.cli.main import main; main()",
        *["run", "--corpus", "weather", "--encoder", "neighbours", "--attention", "linear"],
        *["--set", 'importance.measures=["gradient", "keep_one"]', "--set", "embedding.width=16"],
        *[
            "--set",
            "training.epochs=2",
            "--experiments",
            "correlation,concentration",
            "--verbose",
            "--out",
            str(extended / "runs"),
        ],
    )
    assert "of the attention" in printed
    (run,) = (extended / "runs").iterdir()
    assert run.name.startswith("weather-neighbours-linear-0-")
    assert pl.read_parquet(run / "results" / "concentration.parquet")["top_mass"].is_between(0, 1.0001).all()
    correlation = pl.read_parquet(run / "results" / "correlation.parquet")
    assert {"tau_attention_keep_one", "tau_gradient_keep_one"} <= set(correlation.columns)
    assert len(correlation) == 40


def test_an_added_map_is_audited(extended: Path) -> None:
    code = (
        "from heedful.adapters.huggingface import HuggingFace\n"
        "from tests.adapters.tiny import TEXTS, classifier, word_pieces\n"
        "subject = HuggingFace(classifier('bert'), word_pieces(), map='strongest')\n"
        "texts = subject.encode(TEXTS)\n"
        "assert subject.check(texts).identity < 1e-5\n"
        "print(subject.read(texts).weights.sum())\n"
    )
    assert "1." in python(extended, code)
