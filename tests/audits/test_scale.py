"""Audits of many texts: memory that hardly grows with their number, and the same bytes after a kill."""

import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

import heedful as library
from tests.adapters.small import WORDS
from tests.audits.made import csv
from tests.cli.calling import heedful

ROOT = Path(__file__).parents[2]
MODELS = Path(__file__).with_name("models.py")
KINDS = ("affine", "bent")  # exact tests on all texts; tests by forward passes on the sample
BYTES = 200  # per text that Python and NumPy may hold at once: a few numbers; the text alone, as an object, takes 100
TIMED = ("manifest.json", "card.html")  # they tell how long stages took


def _texts(folder: Path, count: int) -> Path:
    """Texts of 20 tokens, with labels."""
    drawn = random.Random(0)
    rows = (" ".join(str(drawn.randrange(1, WORDS)) for _ in range(20)) for _ in range(count))
    return csv(folder / f"texts-{count}.csv", ["text,label", *(f"{row},{drawn.choice(('no', 'yes'))}" for row in rows)])


def _arguments(kind: str, data: Path, out: Path, *, sample: int = 200) -> list[str]:
    model = ["--module", f"{MODELS}:{kind}", "--data", str(data), "--label", "label"]
    return ["audit", *model, "--sample", str(sample), "--threads", "1", "--json", "--out", str(out)]


def _contents(audit: Path) -> dict[str, bytes]:
    """The results of an audit by file: all but those that tell times."""
    files = (path for path in audit.rglob("*") if path.is_file() and path.name not in TIMED)
    return {str(path.relative_to(audit)): path.read_bytes() for path in files}


def test_little_is_held_of_each_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done with all texts at once: drawing the sample, signals, verdict and card."""
    monkeypatch.setattr("heedful.audits.test_stages.ROWS", 256)
    monkeypatch.setattr("heedful.measures._CELLS", 1)  # what bootstraps keep is bounded, but by more than is measured
    monkeypatch.setattr("heedful.measures._LEAST", 4)
    peaks = {}
    for count in (200, 500, 2000):  # the first one loads what is loaded once
        arguments = _arguments("affine", _texts(tmp_path, count), tmp_path / str(count), sample=4)
        folder = Path(json.loads(heedful(*arguments).out)["audit"])
        (folder / "signals.parquet").unlink()
        gc.collect()
        tracemalloc.start()
        answer = heedful(*arguments)
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert answer.code in (0, 1, 3), answer.err
        assert (folder / "verdict.json").stat().st_size < 20_000
        audit = library.Audit.load(folder)
        assert len(audit.signals) == count
        assert len(audit.verdict.instances) == 4  # those that were tested
    assert peaks[2000] - peaks[500] < 1500 * BYTES, peaks


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_hundred_thousand_texts_killed_and_resumed(kind: str, tmp_path: Path) -> None:
    """At most 1.5 times the memory of ten thousand, and every result byte for byte the same after kills."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    few, many = (_texts(tmp_path, count) for count in (10_000, 100_000))

    def command(data: Path, out: str) -> list[str]:
        return [sys.executable, "-m", "heedful.cli.main", *_arguments(kind, data, tmp_path / out)]

    def killed_at(pattern: str) -> None:
        process = subprocess.Popen(command(many, "killed"), env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
        while not list(tmp_path.glob(f"killed/*/{pattern}")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()

    stage = "results/.removal.parquet.parts" if kind == "affine" else "results/.erasure.parquet.parts"
    for pattern in (
        ".texts.parquet.parts/000030.parquet",
        ".evidence.parquet.parts/000100.parquet",
        f"{stage}/*3.parquet",
    ):
        killed_at(pattern)
    audits, peaks = {}, {}
    for data, out in ((few, "few"), (many, "many"), (many, "killed")):
        measured = [sys.executable, "-c", _MEASURED, *command(data, out)]
        done = subprocess.run(measured, env=environment, cwd=ROOT, capture_output=True, text=True)
        peaks[out] = int(done.stderr.splitlines()[-1])
        audits[out] = Path(json.loads(done.stdout)["audit"])
    assert peaks["many"] <= 1.5 * peaks["few"]
    whole, resumed = (_contents(audits[out]) for out in ("many", "killed"))
    assert whole.keys() == resumed.keys()
    assert [name for name in whole if whole[name] != resumed[name]] == []


# runs a command, and says the peak memory of its process, in KB on Linux
_MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""
