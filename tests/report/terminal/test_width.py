"""Eighty columns: no word of a name, a figure or a sentence is broken inside, however long the names."""

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console, RenderableType

from heedful.report.terminal.run import run_place, run_summary
from heedful.report.terminal.sweep import print_plan
from heedful.runs.directory import Run

LONG = "a class whose name goes on and on, until nobody reads it any more"


def printed(*parts: RenderableType) -> str:
    console = Console(width=80, record=True, file=StringIO())
    console.print(*parts)
    return console.export_text()


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\s]+", text))


@pytest.mark.parametrize("verbose", [False, True])
def test_a_run_at_80_columns_has_the_words_that_it_has_in_a_wide_terminal(small_run: Run, verbose: bool) -> None:
    narrow = printed(run_summary(small_run, verbose=verbose))
    console = Console(width=400, record=True, file=StringIO())
    console.print(run_summary(small_run, verbose=verbose))
    assert words(narrow) <= words(console.export_text())
    assert max(map(len, narrow.splitlines())) <= 80
    assert verbose or len([*narrow.splitlines(), *run_place(small_run).splitlines()]) <= 25


def test_many_classes_with_long_names_leave_the_answer_brief(
    copy_small_run: Callable[[Path], Run], tmp_path: Path
) -> None:
    run = copy_small_run(tmp_path)
    manifest = run.manifest
    for count in (2, 40):
        names = [f"{number} {LONG}" for number in range(count)]
        corpus = {**manifest["corpus"], "classes": names, "counts": {"train": [], "dev": [], "test": [1] * count}}
        run.record(corpus=corpus)
        told = printed(run_summary(run))
        assert len([*told.splitlines(), *run_place(run).splitlines()]) <= 25
        assert f"0 {LONG}"[:21] + "..." in " ".join(told.split())


def test_long_names_of_cells_are_not_broken() -> None:
    console = Console(width=80, record=True, file=StringIO())
    name = "imdb-ratings-han-bigru-additive-0-0123456789abcdef-of-a-long-sweep"
    cells: Any = [SimpleNamespace(name=name, state="absent", cost=None, reason="", attempts=0)]
    print_plan(cells, Path(), console)
    assert name in words(console.export_text())
