from pathlib import Path

import polars as pl
import pytest

from heedful.errors import NotFound
from heedful.report.heatmaps.gallery import choose, gallery, write_gallery
from tests.making import make_evidence
from tests.report.made_run import made_run


def _rows(**columns: list[object]) -> pl.DataFrame:
    n = len(next(iter(columns.values())))
    usual = {"items": 10, "decision": 0, "wrong": False, "confidence": 0.9, "jsd": 0.5}
    ids = {"id": [f"i{index}" for index in range(n)]}
    return pl.DataFrame({**ids, **{name: [value] * n for name, value in usual.items()}, **columns})


def _ids(rows: pl.DataFrame, classes: list[str] | None = None, **options: int) -> list[str]:
    return [chosen.id for chosen in choose(rows, classes, **options)]  # type: ignore[arg-type]


def test_the_largest_come_first_then_the_smallest() -> None:
    rows = _rows(jsd=[0.1, 0.5, 0.3, 0.6, 0.2])
    assert _ids(rows, largest=2, smallest=2) == ["i3", "i1", "i0", "i4"]


def test_no_instance_is_shown_twice() -> None:
    assert _ids(_rows(jsd=[0.1, 0.2, 0.3]), largest=2, smallest=2) == ["i2", "i1", "i0"]


def test_each_class_has_its_own() -> None:
    rows = _rows(jsd=[0.1, 0.2, 0.3, 0.4], decision=[0, 1, 1, 0])
    chosen = choose(rows, ["bad", "good"], largest=1, smallest=1)
    assert [(one.id, one.index, one.name) for one in chosen] == [
        ("i3", 3, "0-largest-01"),
        ("i0", 0, "0-smallest-01"),
        ("i2", 2, "1-largest-01"),
        ("i1", 1, "1-smallest-01"),
    ]
    assert [(one.rank, one.decision, one.jsd) for one in chosen[:3:2]] == [("largest", 0, 0.4), ("largest", 1, 0.3)]


def test_errors_doubts_single_items_and_what_is_undefined_are_left_out() -> None:
    rows = _rows(
        wrong=[True, False, False, False, False, None],
        confidence=[0.9, 0.59, 0.9, 0.9, 0.6, 0.9],
        items=[9, 9, 1, 9, 9, 9],
        jsd=[0.5, 0.5, 0.5, None, 0.4, 0.3],
    )
    assert _ids(rows) == ["i4", "i5"]


def test_readable_lengths_are_preferred_but_nothing_else_is_better_than_nothing() -> None:
    rows = _rows(jsd=[0.6, 0.5, 0.4], items=[400, 10, 2])
    assert _ids(rows, largest=1, smallest=0) == ["i1"]
    assert _ids(rows, largest=3, smallest=0) == ["i0", "i1", "i2"]


def test_the_order_of_the_rows_is_no_matter() -> None:
    rows = _rows(jsd=[0.5, 0.5, 0.5, 0.2])
    assert _ids(rows, largest=2, smallest=1) == _ids(rows.reverse(), largest=2, smallest=1) == ["i0", "i1", "i3"]


def test_a_run_without_the_adversary_has_no_gallery(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="--experiments adversary"):
        gallery(made_run(tmp_path / "run", experiments=()))


@pytest.mark.parametrize("outputs", [1, 5])
def test_files_of_the_chosen_instances(tmp_path: Path, outputs: int) -> None:
    run = made_run(tmp_path / "run", make_evidence(n=20, outputs=outputs), experiments=("adversary",))
    chosen = gallery(run)
    assert chosen
    assert all(run.evidence.ids[one.index] == one.id for one in chosen)
    assert chosen[0].name.startswith("0-" if outputs == 1 else "largest-")
    files = write_gallery(run, tmp_path / "gallery", formats=["svg", "tex", "html"])
    assert list(files) == chosen
    paths = [path for each in files.values() for path in each]
    assert [path.name for path in paths[:3]] == [f"{chosen[0].name}.{ending}" for ending in ("svg", "tex", "html")]
    assert len(paths) == 3 * len(chosen)
    for path in paths:
        assert "adversarial attention" in path.read_text(encoding="utf-8")


def test_heat_maps_can_be_pictures(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", make_evidence(n=3), experiments=("adversary",))
    files = write_gallery(run, tmp_path / "gallery", formats=["pdf", "png"])
    assert {path.read_bytes()[:4] for each in files.values() for path in each} == {b"%PDF", b"\x89PNG"}
