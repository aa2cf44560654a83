"""Bad input on the command line: one line that names the culprit and the remedy, exit code 2, nothing left behind."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import heedful

TREE = "(3 (2 A) (3 (2 fine) (2 (2 film) (2 (2 about) (2 (2 old) (2 men))))))\n"
ROWS = "text,label,part\n" + "".join(
    f"a {word} film with number {part} {i},{word},{part}\n"
    for part, count in (("train", 8), ("dev", 2), ("test", 2))
    for i in range(count)
    for word in ("fine", "dull")
)

Case = Callable[[Path], list[str | Path]]


def _table(content: str | bytes, *more: str) -> Case:
    def make(folder: Path) -> list[str | Path]:
        file = folder / "mine.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return ["--file", file, "--text", "text", "--label", "label", "--split", "part", *more]

    return make


def _sst(train: bytes, name: str = "train.txt") -> Case:
    def make(folder: Path) -> list[str | Path]:
        (folder / "sst").mkdir()
        (folder / "sst" / name).write_bytes(train)
        for split in ("dev", "test"):
            (folder / "sst" / f"{split}.txt").write_text(TREE * 3)
        return ["--corpus", "sst", "--data", folder]

    return make


def _vectors(folder: Path) -> list[str | Path]:
    (folder / "narrow.vec").write_text("2 3\nfilm 1 2 3\nfine 1 2 3\n")
    return [*_table(ROWS)(folder), "--vectors", folder / "narrow.vec"]


CASES: dict[str, tuple[Case, list[str]]] = {
    "truncated gz": (_sst(gzip.compress(TREE.encode() * 500)[:-20], "train.txt.gz"), ["train.txt.gz"]),
    "unbalanced tree": (_sst((TREE + "(3 (2 A) (3 film)\n").encode()), ["train.txt", "line 2"]),
    "no such column": (_table(ROWS.replace("label", "stars")), ["mine.csv", "'label'", "stars"]),
    "empty text": (_table(ROWS + ",fine,train\n"), ["mine.csv", "empty"]),
    "one class": (_table(ROWS.replace("dull", "fine")), ["mine.csv", "'fine'", "two classes"]),
    "unseen label": (_table(ROWS + "a strange film,strange,test\n"), ["'strange'", "test", "never in training"]),
    "no utf-8": (_table((ROWS + "Été,fine,train\n").encode() + b"a caf\xe9 film,fine,train\n"), ["mine.csv", "UTF-8"]),
    "ragged csv": (_table(ROWS + "a,b,c,d,e\n"), ["mine.csv", "line 26"]),
    "empty file": (_table(""), ["mine.csv"]),
    "narrow vectors": (_vectors, ["narrow.vec", "3", "300"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named_and_nothing_is_left(name: str, tmp_path: Path) -> None:
    make, words = CASES[name]
    (tmp_path / "data").mkdir()
    answer = heedful("run", *make(tmp_path / "data"), "--out", tmp_path / "runs")
    errors = [line for line in answer.err.splitlines() if line.startswith("error:")]
    assert answer.code == 2, answer
    assert len(errors) == 1
    for word in words:
        assert word in errors[0]
    assert not [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]


def test_the_same_input_mended_runs(tmp_path: Path) -> None:
    """So that the cases above fail for the fault they name, and not for another."""
    small = ["--set", "training.epochs=1", "--set", "embedding.width=4", "--set", "encoder_options.hidden=2"]
    answer = heedful("run", *_table(ROWS, *small)(tmp_path), "--out", tmp_path / "runs")
    assert answer.code == 0, answer.err
