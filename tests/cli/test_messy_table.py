"""A messy table, as spreadsheets write them, from download to answer in two commands."""

import json
import sys
from pathlib import Path

import pytest

from heedful.runs.directory import Run
from heedful.text.tokenising import tokeniser
from tests.cli.calling import heedful

TEXTS = {"World": "Leaders met for talks; again", "Sports": "She's won the cup; again"}


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """Semicolons, a byte order mark, Windows line ends, empty and unlabelled rows, labels in several forms."""
    lines = ["Review Text;Category;id"]
    for number in range(120):
        label = ["World", "Sports"][number % 2]
        form = {0: label.upper(), 1: f"{label} ", 2: ""}.get(number % 12, label)
        lines.append(f'"{TEXTS[label]} {number}";{form};{number}')
    lines += [";;", "", '"";World;x', '"Nobody knows";;y']
    path = tmp_path / "messy.csv"
    path.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    return path


def test_a_messy_table_gets_an_answer_in_two_commands(messy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)  # not needed, installed or not
    tokeniser.cache_clear()
    runs = messy.parent / "runs"
    common = ["--file", messy, "--text", "Review Text", "--label", "Category", "--encoder", "average", "--out", runs]
    refused = heedful("run", *common)
    assert refused.code == 2
    first, *listed = refused.err.removeprefix("error: ").splitlines()
    assert first == f"{messy}: 13 rows cannot be used"
    assert listed[0] == "  line 4: column 'Category' has no label"
    assert len(listed) == 12
    assert listed[-2:] == [
        "  and 3 more",
        "remove the row or fill it in; --skip-unlabelled leaves out 12 of them; --skip-empty leaves out 2 of them",
    ]
    assert not runs.exists()

    options = ["--skip-empty", "--skip-unlabelled", "--merge-labels"]
    quick = ["--set", "training.epochs=2", "--set", "embedding.width=8", "--set", "encoder_options.hidden=4"]
    answer = heedful("run", *common, *options, *quick)
    assert answer.code in (0, 1, 3), answer.err
    assert "text is UTF-8, fields are separated by semicolons" in answer.err
    assert "were merged" in answer.err
    assert "rows without a label were left out" in answer.err
    assert "(Sports " in answer.out
    run = Run.open(next(runs.iterdir()))
    assert run.classes == ("Sports", "World")
    assert run.config.corpus_options["tokens"] == "built-in"
    assert run.verdict.tested
    assert any(note.startswith("labels ") for note in run.manifest["corpus"]["notes"])

    shown = heedful("show", run.folder, "--text", "They won't; again!", "--json")
    assert shown.code == 0, shown.err
    assert json.loads(shown.out)["tokens"] == ["they", "wo", "n't", ";", "again", "!"]


@pytest.mark.parametrize("option", ["--skip-empty", "--skip-unlabelled", "--merge-labels"])
def test_the_options_of_tables_are_for_tables(option: str, tmp_path: Path) -> None:
    answer = heedful("run", "--corpus", "planted", option, "--out", tmp_path)
    assert answer.code == 2
    assert f"{option}: only for corpus `table`" in answer.err
