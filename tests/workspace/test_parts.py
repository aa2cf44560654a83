"""Stages made in parts: where they are cut, and how they are resumed and shared."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.files import Parts
from heedful.progress import Reporter
from heedful.workspace.parts import Piece, StageParts, perform_parts, split_instances

LENGTHS = np.array([5, 5, 1, 1, 1, 20, 1])


def test_pieces_are_bounded_by_rows_and_items() -> None:
    assert split_instances(LENGTHS, rows=3, items=10) == [(0, 2), (2, 5), (5, 6), (6, 7)]
    assert split_instances(LENGTHS, rows=3) == [(0, 3), (3, 6), (6, 7)]
    assert split_instances(LENGTHS, items=10) == [(0, 2), (2, 5), (5, 6), (6, 7)]
    assert split_instances(LENGTHS) == [(0, 7)]
    assert split_instances(LENGTHS[:0], rows=3) == [(0, 0)]


class Steps(Reporter):
    def __init__(self) -> None:
        self.reached: list[int] = []
        self.summary = ""

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        self.reached.append(steps)

    def finish(self, summary: str = "") -> None:
        self.summary = summary


def stage(made: list[Piece]) -> StageParts:
    def part(start: int, stop: int) -> pl.DataFrame:
        made.append((start, stop))
        return pl.DataFrame({"row": range(start, stop)})

    about = {"about": "rows"}
    return StageParts.split("rows", LENGTHS, part, rows=3, items=10, metadata=about, summary=lambda: "7 rows")


def test_parts_are_made_in_order_and_merged(tmp_path: Path) -> None:
    path, made, reporter = tmp_path / "rows.parquet", list[Piece](), Steps()
    counted: list[int] = []
    perform_parts(path, stage(made), reporter, on_part=counted.append)
    assert made == [(0, 2), (2, 5), (5, 6), (6, 7)]
    assert counted == [2, 3, 1, 1]
    assert reporter.reached == [10, 13, 33, 34]
    assert reporter.summary == "7 rows"
    assert pl.read_parquet(path)["row"].to_list() == list(range(7))
    assert pl.read_parquet_metadata(path)["about"] == "rows"
    assert [file.name for file in tmp_path.iterdir()] == ["rows.parquet"]


def test_only_missing_parts_are_made(tmp_path: Path) -> None:
    path, made, reporter = tmp_path / "rows.parquet", list[Piece](), Steps()
    Parts(path).put(2, pl.DataFrame({"row": [5]}))
    perform_parts(path, stage(made), reporter)
    assert made == [(0, 2), (2, 5), (6, 7)]
    assert reporter.reached == [20, 30, 33, 34]
    assert pl.read_parquet(path)["row"].to_list() == list(range(7))


@pytest.mark.parametrize("present", [0, 3])
def test_several_missing_parts_can_be_shared(tmp_path: Path, present: int) -> None:
    path, made = tmp_path / "rows.parquet", list[Piece]()
    parts, shared = stage(made), list[int]()
    for index in range(present):
        Parts(path).put(index, parts.part(*parts.pieces[index]))

    def share(missing: dict[int, Piece]) -> Iterator[int]:
        for index in reversed(missing):
            Parts(path).put(index, parts.part(*missing[index]))
            shared.append(index)
            yield index

    perform_parts(path, parts, Reporter(), share=share)
    assert shared == ([] if present else [3, 2, 1, 0])  # a single part is not worth sharing
    assert pl.read_parquet(path)["row"].to_list() == list(range(7))


def several(made: list[Piece], rows: int) -> StageParts:
    """The stage, with enough as soon as so many rows are there; merged back to front."""
    return replace(
        stage(made),
        enough=lambda frames: sum(map(len, frames)) >= rows,
        merged=lambda frame: frame.sort("row", descending=True),
    )


@pytest.mark.parametrize("at_once", [1, 2, 3, 9])
def test_no_more_parts_are_merged_than_are_enough_however_many_are_made_at_once(tmp_path: Path, at_once: int) -> None:
    path, made = tmp_path / "rows.parquet", list[Piece]()
    perform_parts(path, several(made, 3), Reporter(), at_once=at_once)
    assert len(made) == max(2, min(at_once, 4))
    assert pl.read_parquet(path)["row"].to_list() == [4, 3, 2, 1, 0]
    assert [file.name for file in tmp_path.iterdir()] == ["rows.parquet"]


def test_without_enough_all_parts_are_merged(tmp_path: Path) -> None:
    path, made = tmp_path / "rows.parquet", list[Piece]()
    perform_parts(path, several(made, 99), Reporter())
    assert pl.read_parquet(path)["row"].to_list() == [*reversed(range(7))]


def test_parts_of_another_size_are_made_anew(tmp_path: Path) -> None:
    path, made = tmp_path / "rows.parquet", list[Piece]()
    Parts(path).put(0, pl.DataFrame({"row": [0]}))
    perform_parts(path, several(made, 3), Reporter())
    assert pl.read_parquet(path)["row"].to_list() == [4, 3, 2, 1, 0]
