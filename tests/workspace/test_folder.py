"""A directory of stages: what is done, what is missing, what is recorded."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from heedful.errors import BadInput, HeedfulError, NotFound
from heedful.files import Parts, locked, write_text
from heedful.integrity import content_fingerprint
from heedful.version import __version__
from heedful.workspace.environment import code_fingerprint
from tests.workspace.toy import STAGES, Toy, perform


def missing(toy: Toy, *wanted: str) -> list[str]:
    return [stage.name for stage in toy.missing_stages(STAGES, wanted or None)]


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "toy")


def test_a_finished_stage_records_its_files_version_and_code(toy: Toy) -> None:
    perform(toy)
    entry = toy.manifest["stages"]["model"]
    assert entry["files"] == {name: content_fingerprint(toy.folder / name) for name in ("model.txt", "log.txt")}
    assert (entry["heedful"], entry["code"]) == (__version__, code_fingerprint())
    assert entry["seconds"] >= 0
    assert entry["peak_memory_mb"] > 0
    assert toy.file_hashes().keys() == {"texts.txt", "model.txt", "log.txt", "scores.parquet", "lengths.parquet"}


def test_an_optional_file_is_recorded_where_there_is_one(toy: Toy) -> None:
    with toy.performing(STAGES[1]):
        for name in ("model.txt", "log.txt", "extra.txt"):
            write_text(toy.folder / name, name)
    assert "extra.txt" in toy.file_hashes()


def test_a_manifest_without_hashes_is_read(toy: Toy) -> None:
    perform(toy)
    stages = {name: {"seconds": 1.0, "peak_memory_mb": 1} for name in toy.manifest["stages"]}
    toy.record(stages=stages)
    assert toy.file_hashes() == {}
    assert missing(toy) == []


def test_a_stage_that_fails_is_not_recorded(toy: Toy) -> None:
    def fail() -> None:
        with toy.performing(STAGES[0]):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not toy.done("texts")


def test_what_reads_a_missing_file_is_missing_too(toy: Toy) -> None:
    assert missing(toy) == ["texts", "model", "scores", "lengths"]
    perform(toy)
    assert missing(toy) == []
    (toy.folder / "log.txt").unlink()
    assert missing(toy) == ["model", "scores"]
    assert missing(toy, "lengths") == []
    assert missing(toy, "scores") == ["model", "scores"]
    (toy.folder / "texts.txt").unlink()
    assert missing(toy, "lengths") == ["texts", "lengths"]


def test_forgetting_reaches_all_that_reads_the_files(toy: Toy) -> None:
    perform(toy)
    for name in ("scores.parquet", "lengths.parquet"):
        Parts(toy.folder / name).add(pl.DataFrame({"a": [1]}))
    toy.forget_stages(STAGES, ["model"])
    assert list(toy.manifest["stages"]) == ["texts", "lengths"]
    assert Parts(toy.folder / "scores.parquet").done == 0
    assert Parts(toy.folder / "lengths.parquet").done == 1


def test_parts_of_a_forgotten_stage_itself_are_kept(toy: Toy) -> None:
    perform(toy)
    Parts(toy.folder / "scores.parquet").add(pl.DataFrame({"a": [1]}))
    toy.forget_stages(STAGES, ["scores"])
    assert not toy.done("scores")
    assert Parts(toy.folder / "scores.parquet").done == 1


def test_what_is_not_finished_is_said_with_the_command(toy: Toy) -> None:
    with pytest.raises(NotFound, match="stage 'model' is not finished; `make toy` with the same options does it"):
        toy.require("model")
    with pytest.raises(NotFound, match=r"is not a toy directory: it has no toy\.toml; `make toy` makes one"):
        Toy.options_path(toy.folder)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"stages": 1}'])
def test_a_damaged_manifest_is_named(toy: Toy, content: str) -> None:
    write_text(toy.folder / "manifest.json", content)
    with pytest.raises(BadInput, match=r"manifest\.json is damaged .*: remove the directory and run again"):
        _ = toy.manifest


def test_costs_of_killed_sessions_are_added_up(toy: Toy) -> None:
    readings = 0

    def session(instances: int) -> None:
        nonlocal readings
        with toy.performing(STAGES[0], counts=lambda: {"readings": readings}) as cost:
            readings += 5
            cost.instances += instances
            toy.record_begun(STAGES[0], cost)
            if instances < 3:
                raise KeyboardInterrupt
            write_text(toy.folder / "texts.txt", "")

    with pytest.raises(KeyboardInterrupt):
        session(2)
    begun = toy.manifest["begun"]["texts"]
    assert (begun["readings"], begun["instances"]) == (5, 2)
    session(3)
    assert toy.manifest["begun"] == {}
    done = toy.manifest["stages"]["texts"]
    assert (done["readings"], done["instances"]) == (10, 5)
    assert done["seconds"] >= begun["seconds"]


@pytest.mark.parametrize("worthless", [True, False])
def test_a_new_directory_that_holds_nothing_is_removed_after_a_failure(toy: Toy, worthless: bool) -> None:
    def fail() -> None:
        with toy.session(lambda _: worthless):
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert toy.folder.exists() is not worthless
    toy.folder.mkdir(exist_ok=True)
    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert toy.folder.exists()  # it was there before


def test_a_session_removes_temporary_files(toy: Toy) -> None:
    write_text(toy.folder / ".model.txt.1.tmp", "half")
    with toy.session(lambda _: True):
        assert not list(toy.folder.glob(".*.tmp"))


def test_a_second_process_is_refused_at_once_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from heedful.files import locked\n"
    code += "with locked(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(HeedfulError, match=f"{tmp_path.name}: another process is working"), locked(tmp_path):
            pass
        other.kill()
        other.wait()
    with locked(tmp_path):
        pass


def test_a_lock_is_not_followed_through_a_symbolic_link(tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(target)
    with pytest.raises(BadInput, match=r"\.lock is a symbolic link.*remove it"), locked(tmp_path / "run"):
        pass
    assert target.read_text() == "mine"


def test_opening_and_listing_runs_does_without_torch() -> None:
    code = "import sys, heedful.runs.catalogue, heedful.runs.directory, heedful.workspace.folder\n"
    code += "sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
