"""A transformers classifier through the command line, and in bounded memory."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed")

import heedful as library
from tests.adapters.tiny import WORDS, classifier, word_pieces
from tests.audits.made import assert_same, csv
from tests.cli.calling import heedful

ROOT = Path(__file__).parents[2]


def saved(folder: Path, **options: object) -> Path:
    model = classifier("bert", num_labels=2, max_position_embeddings=12, **options)
    model.config.id2label, model.config.label2id = {0: "neg", 1: "pos"}, {"neg": 0, "pos": 1}
    model.save_pretrained(folder)
    word_pieces().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("models") / "tiny")


def _data(folder: Path, *more: str) -> Path:
    rows = [f"{WORDS[row % 9]} unfunny {WORDS[row % 7]} film,{('neg', 'pos')[row % 2]}" for row in range(8)]
    return csv(folder / "mine.csv", ["text,label", *rows, *more])


def test_a_model_of_coarse_precision_says_so(tmp_path: Path) -> None:
    folder, data = tmp_path / "coarse", _data(tmp_path)
    saved(folder)
    model = classifier("bert", num_labels=2, max_position_embeddings=12).to(torch.bfloat16)
    model.save_pretrained(folder)
    place = ["--hf", folder, "--data", data, "--sample", "4", "--out", tmp_path / "audits"]
    coarse, fine = (heedful("audit", *place, *more) for more in ([], ["--float32"]))
    assert "computed in bfloat16 on cpu" in " ".join(coarse.out.split())
    assert "count as equal" in coarse.out
    assert "computed in float32 on cpu" in " ".join(fine.out.split())
    assert "count as equal" not in fine.out


def test_a_folder_and_a_table_are_enough(model: Path, tmp_path: Path) -> None:
    place = [
        "--hf",
        model,
        "--data",
        _data(tmp_path),
        "--label",
        "label",
        "--sample",
        "4",
        "--out",
        tmp_path / "audits",
    ]
    answer = heedful("audit", *place, "--json")
    assert answer.code in (0, 1, 3), answer.err
    told = json.loads(answer.out)
    assert told["audit"].startswith(str(tmp_path / "audits" / "tiny-mine-"))
    assert told["manifest"]["contract"]["identity"] <= 1e-5
    done = library.Audit.load(told["audit"])
    assert len(done.results("adversary")) == 4
    assert set(done.evidence.classes) == {"neg", "pos"}
    assert "unfunny" in (done.folder / "card.html").read_text()  # two tokens, shown as one word
    words = heedful("audit", *place, "--items", "words", "--map", "layer:1,head:2", "--json")
    assert words.code in (0, 1, 3), words.err
    assert "unfunny" in library.Audit.load(json.loads(words.out)["audit"]).evidence.tokens.values.tolist()


def test_long_texts_are_refused_or_cut(model: Path, tmp_path: Path) -> None:
    data = _data(tmp_path, f"{'film ' * 20},pos")
    place = ["--hf", model, "--data", data, "--sample", "2", "--out", tmp_path / "audits"]
    refused = heedful("audit", *place)
    assert refused.code == 2
    assert "line 10: the text has 22 tokens, and the model reads 12 at most (1 such texts in all)" in refused.err
    assert not list((tmp_path / "audits").rglob("*.parquet"))
    cut = heedful("audit", *place, "--truncate")
    assert "1 texts were longer than the model's limit and were cut" in cut.out


def test_a_model_that_is_not_there_is_not_fetched(tmp_path: Path) -> None:
    answer = heedful(
        "audit", "--hf", "no-such-model-of-heedful", "--data", _data(tmp_path), "--out", tmp_path / "audits"
    )
    assert answer.code == 2
    assert "no-such-model-of-heedful" in answer.err
    assert not (tmp_path / "audits").exists()


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "small", vocab_size=9)
    answer = heedful("audit", "--hf", folder, "--data", _data(tmp_path), "--out", tmp_path / "audits")
    assert answer.code == 2
    assert "tokenizer" in answer.err


@pytest.mark.slow
def test_ten_thousand_texts_in_bounded_memory_killed_and_resumed(tmp_path: Path) -> None:
    """10,000 texts of 128 tokens through six layers of width 32: what they take at once would be several GB."""
    folder = tmp_path / "deep"
    model = classifier("bert", num_labels=2, num_hidden_layers=6, max_position_embeddings=130)
    model.save_pretrained(folder)
    word_pieces().save_pretrained(folder)
    rows = [" ".join(WORDS[(row * 7 + place * place) % len(WORDS)] for place in range(126)) for row in range(10_000)]
    data = csv(tmp_path / "mine.csv", ["text", *rows])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def command(out: Path) -> list[str]:
        options = ["--sample", "16", "--threads", "2", "--json", "--out", str(out)]
        return [sys.executable, "-m", "heedful.cli.main", "audit", "--hf", str(folder), "--data", str(data), *options]

    killed = subprocess.Popen(command(tmp_path / "killed"), env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
    while not list(tmp_path.glob("killed/*/.evidence.parquet.parts/000010.parquet")):
        assert killed.poll() is None
        time.sleep(0.2)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    audits = []
    for name in ("killed", "whole"):
        done = subprocess.run(command(tmp_path / name), env=environment, cwd=ROOT, capture_output=True)
        assert done.returncode in (0, 1, 3), done.stderr
        audits.append(library.Audit.load(json.loads(done.stdout)["audit"]))
    assert_same(*audits)
    for audit in audits:
        assert max(cost.get("peak_memory_mb", 0) for cost in audit.manifest["stages"].values()) < 2500
