"""Findings are computed once, kept in the run's directory, and never trusted when something has changed."""

import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from heedful.findings import cache, comparison, configurations, key_figures, table_rows
from heedful.findings.cache import FOLDER, kept, kept_files
from heedful.findings.comparison import compare
from heedful.findings.configurations import seed_figures, seed_pairs
from heedful.findings.gathering import gather
from heedful.report.charts import render
from heedful.report.site import run_data
from heedful.report.site.writer import write_site
from heedful.report.tables import tables
from heedful.report.tables.comparison import comparison_json
from heedful.runs.catalogue import run_folders, runs_in
from heedful.runs.directory import Run
from tests.report.made_run import made_run
from tests.report.seeded import run_as

ALL = ("correlation", "permutation", "adversary", "single_weight", "removal")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return made_run(tmp_path / "runs" / "made")


def fail(*_: Any, **__: Any) -> Any:
    raise AssertionError("computed again")


def no_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, findings can only be read."""
    for name in ("estimates", "claims", "removal_wins", "removal_scores", "flip_table"):
        monkeypatch.setattr(table_rows.experiments, name, fail)
    monkeypatch.setattr(table_rows, "score_draws", fail)
    monkeypatch.setattr(key_figures, "estimates", fail)
    monkeypatch.setattr(run_data, "write_run", fail)
    monkeypatch.setattr(run_data, "_verdict", fail)
    monkeypatch.setattr(render.vl_convert, "vegalite_to_svg", fail)
    monkeypatch.setattr(render.vl_convert, "svg_to_png", fail)
    monkeypatch.setattr(comparison, "checklist", fail)
    monkeypatch.setattr(comparison, "compared", fail)
    monkeypatch.setattr(configurations, "bootstraps", fail)
    monkeypatch.setattr(configurations, "between", fail)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_report_reads_only_and_is_the_same(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_site(gather([run.folder]), tmp_path / "first", formats=["svg"])
    no_computing(monkeypatch)
    write_site(gather([run.folder]), tmp_path / "second", formats=["svg"])
    assert files(tmp_path / "first") == files(tmp_path / "second")
    shutil.rmtree(run.folder / FOLDER)
    monkeypatch.undo()
    write_site(gather([run.folder]), tmp_path / "fresh", formats=["svg"])
    assert files(tmp_path / "fresh") == files(tmp_path / "second")


def test_a_second_comparison_reads_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in (0, 1):
        run_as(tmp_path / f"sst-{seed}", corpus="sst", experiments=ALL, seed=seed)

    def compared() -> tuple[Any, ...]:
        found = compare(gather([tmp_path]).runs)
        frames = (seed_figures(tmp_path).to_dicts(), seed_pairs(tmp_path).to_dicts())
        return comparison_json(found), found.claims, [(side.rows, side.seeds) for side in found.sides], *frames

    first = compared()
    no_computing(monkeypatch)
    assert compared() == first


def test_a_changed_result_is_computed_anew(run: Run) -> None:
    before = key_figures.key_figures(run)
    old = tables([run])
    file = run.folder / "results" / "violation.parquet"
    frame = pl.read_parquet(file)
    frame.with_columns(violates=~pl.col("violates")).write_parquet(file)
    after = key_figures.key_figures(run)
    assert after["violates"] is not None
    assert before["violates"] is not None
    assert after["violates"].value == pytest.approx(1 - before["violates"].value)
    assert tables([run]) != old
    frame.write_parquet(file)
    assert tables([run]) == old


def test_other_options_and_another_configuration_are_other_findings(run: Run) -> None:
    assert kept("x", run, lambda: 1, draws=1) == 1
    assert kept("x", run, lambda: 2, draws=2) == 2
    assert kept("x", run, fail, draws=1) == 1
    other = Run(run.folder, run.config.model_copy(update={"seed": 5}))
    assert kept("x", other, lambda: 3, draws=1) == 3


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"key": "x"}', b"\xff\x00"])
def test_damaged_findings_are_computed_again(run: Run, tmp_path: Path, damage: bytes) -> None:
    made = tables([run])
    write_site(gather([run.folder]), tmp_path / "first", formats=[])
    for path in (run.folder / FOLDER).iterdir():
        path.write_bytes(damage)
    cache._hashes.clear()
    assert tables([run]) == made
    write_site(gather([run.folder]), tmp_path / "second", formats=[])
    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_figures_that_were_cut_short_are_drawn_again(run: Run, tmp_path: Path) -> None:
    write_site(gather([run.folder]), tmp_path / "first", formats=["svg"])
    (archive,) = (run.folder / FOLDER).glob("site-*.zip")
    whole = archive.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for damaged in (whole[: len(whole) // 2], bytes(flipped)):
        archive.write_bytes(damaged)
        write_site(gather([run.folder]), tmp_path / "second", formats=["svg"])
        assert files(tmp_path / "first") == files(tmp_path / "second")


def test_a_directory_that_cannot_be_written_still_reports(run: Run, tmp_path: Path) -> None:
    (run.folder / FOLDER).touch()  # a file in its place: nothing can be written, whoever asks
    write_site(gather([run.folder]), tmp_path / "first", formats=[])
    assert (run.folder / FOLDER).read_bytes() == b""
    (run.folder / FOLDER).unlink()
    write_site(gather([run.folder]), tmp_path / "second", formats=[])
    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_a_full_disk_keeps_nothing_and_still_reports(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert kept("x", run, lambda: [1]) == [1]
    assert not list(run.folder.rglob("x.json"))


def test_other_code_computes_anew(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for code, value in (("one", 1), ("two", 2)):
        monkeypatch.setattr(cache, "code_fingerprint", lambda code=code: code)
        assert kept("x", run, lambda value=value: value) == value
        assert kept("x", run, fail) == value


def test_a_file_that_changes_within_a_tick_of_the_clock_is_read_again(run: Run) -> None:
    file = run.folder / "metrics.json"
    old = file.stat()
    assert kept("x", run, lambda: 1) == 1
    text = file.read_text()
    file.write_text(text.replace("}", "]", 1))  # as long as before
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert kept("x", run, lambda: 2) == 2


def test_settled_files_are_not_read_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in run.folder.rglob("*"):
        os.utime(path, (1e9, 1e9))
    assert kept("x", run, lambda: 1) == 1
    cache._hashes.clear()
    monkeypatch.setattr(cache, "content_fingerprint", fail)
    assert kept("x", run, fail) == 1
    assert set(json.loads((run.folder / FOLDER / "files.json").read_text())) >= {"config.toml", "evidence.parquet"}


def test_entries_of_another_user_are_not_used(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert kept("x", run, lambda: 1) == 1
    assert kept("x", run, fail) == 1
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "elsewhere"))
    assert kept("x", run, lambda: 2) == 2
    assert (tmp_path / "elsewhere" / "findings.key").stat().st_mode & 0o077 == 0


def test_several_may_write_at_once(run: Run) -> None:
    def read(_: int) -> Any:
        return kept("x", run, lambda: {"value": list(range(1000))})

    with ThreadPoolExecutor(8) as pool:
        assert all(found == {"value": list(range(1000))} for found in pool.map(read, range(64)))
    assert kept("x", run, fail) == {"value": list(range(1000))}


def test_findings_are_no_part_of_a_run(run: Run) -> None:
    before = runs_in(run.folder)
    manifest = run.manifest
    tables([run])
    assert (run.folder / FOLDER).is_dir()
    assert run_folders(run.folder.parent) == [run.folder]
    assert runs_in(run.folder).equals(before)
    assert run.manifest == manifest


def test_a_table_of_ones_own_is_never_kept(run: Run) -> None:
    from heedful.report.tables.layout import Layout, number

    def own(rows: Callable[..., Any]) -> Layout:
        return Layout("own", "Own", "", (number("n", "n", "A number."),), rows, needs=())

    assert own(lambda frames: [{"n": 1}])([run]).rows[0][2] == 1
    assert own(lambda frames: [{"n": 2}])([run]).rows[0][2] == 2


def test_no_flipped_bit_of_a_kept_finding_becomes_a_number(run: Run) -> None:
    value = {"mean": 0.25, "names": ["a", "b"], "n": 12}
    assert kept("x", run, lambda: value) == value
    path = run.folder / FOLDER / "x.json"
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 3):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        assert kept("x", run, lambda: value) == value


def test_no_flipped_bit_of_kept_files_changes_or_loses_one(run: Run, tmp_path: Path) -> None:
    def write() -> dict[str, int]:
        for name in ("one.txt", "two.txt"):
            (site / "data").mkdir(parents=True, exist_ok=True)
            (site / "data" / name).write_text(name * 9)
        return {"n": 2}

    site = tmp_path / "whole"
    assert kept_files("site", run, write, site, ["data"]) == {"n": 2}
    expected = files(site)
    (archive,) = (run.folder / FOLDER).glob("site-*.zip")
    whole = archive.read_bytes()
    for bit in range(0, 8 * len(whole), 19):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        archive.write_bytes(flipped)
        site = tmp_path / f"flipped-{bit}"
        assert kept_files("site", run, write, site, ["data"]) == {"n": 2}, bit
        assert files(site) == expected, bit
