"""What is made of texts that must not be passed on can be read by its owner only."""

import os
import shutil
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import heedful
from heedful.corpora.loading import load
from heedful.corpora.registry import READERS
from heedful.findings.gathering import gather
from heedful.privacy import is_private, make_private, owner_only
from heedful.report.heatmaps.instance import read_instance
from heedful.report.site.writer import write_site
from heedful.runs.directory import Run
from heedful.runs.execution import perform
from tests.cli.calling import heedful as command
from tests.corpora.readers.test_mimic import hospital
from tests.making import make_evidence
from tests.runs.small import VALUES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")

TABLE = "text,label\n" + "".join(f"word{n % 7} and word{n % 3},{n % 2}\n" for n in range(60))
SMALL = {name: value for name, value in VALUES.items() if name not in ("corpus", "corpus_options")}


@pytest.fixture(autouse=True)
def _usual_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    before = os.umask(0o022)
    yield
    assert os.umask(before) == 0o022


def open_to_others(*places: Path) -> list[Path]:
    """Files and directories that somebody else could read or enter."""
    paths = [path for place in places for path in (place, *place.rglob("*"))]
    assert len(paths) > len(places) or not places[0].is_dir()
    return [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_blocks_in_several_threads_keep_what_they_make_private_and_restore_the_umask(tmp_path: Path) -> None:
    first, second = threading.Event(), threading.Event()

    def other() -> None:
        with owner_only(True):
            first.set()
            second.wait()
            (tmp_path / "other").touch()

    thread = threading.Thread(target=other)
    with owner_only(True):
        thread.start()
        first.wait()
        with owner_only(False):
            (tmp_path / "folder").mkdir()
    second.set()
    thread.join()
    (tmp_path / "open").touch()
    assert open_to_others(tmp_path / "other", tmp_path / "folder", tmp_path / "open") == [tmp_path / "open"]
    assert is_private(tmp_path / "folder")
    assert not is_private(tmp_path / "nowhere")
    make_private(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o600


def test_corpora_of_patients_are_restricted_and_public_ones_are_not() -> None:
    assert [name for name, reader in READERS.items() if reader.restricted] == ["mimic-diabetes", "mimic-anemia"]


def test_the_cache_of_a_restricted_corpus_is_private_even_if_it_was_not(tmp_path: Path) -> None:
    hospital(tmp_path, ["2851", "28521"] * 20)
    path = load("mimic-anemia", data=tmp_path).path
    assert open_to_others(path) == []
    path.chmod(0o644)  # as earlier versions left it
    assert open_to_others(load("mimic-anemia", data=tmp_path).path) == []
    assert not is_private(path.parent)  # other corpora are in there as well
    (tmp_path / "t.csv").write_text(TABLE)
    options = {"file": str(tmp_path / "t.csv"), "tokens": "spaces"}
    assert open_to_others(load("table", options=options).path)
    assert not open_to_others(load("table", options=options, private=True).path)


def test_runs_sites_and_logs_of_a_restricted_corpus_are_private(tmp_path: Path) -> None:
    hospital(tmp_path, ["2851", "28521"] * 20)
    values = {**SMALL, "corpus": "mimic-anemia"}
    done = heedful.sweep({**values, "experiments": ["permutation"]}, workers=1, out=tmp_path / "runs", data=tmp_path)
    (run,) = done.runs
    log = tmp_path / "runs" / ".sweep" / f"{run.folder.name}.log"
    assert open_to_others(run.folder, log, tmp_path / "runs" / ".sweep" / "workers.log") == []
    assert not is_private(tmp_path / "runs")  # which others may share
    run.folder.chmod(0o755)  # as earlier versions left it
    write_site(gather([run.folder]), tmp_path / "new" / "site", formats=[])
    assert open_to_others(tmp_path / "new" / "site") == []
    perform(values, out=tmp_path / "runs", data=tmp_path, experiments=["permutation", "reach"], workers=2)
    assert is_private(run.folder)
    left = [path.relative_to(run.folder).parts[0] for path in open_to_others(run.folder)]
    assert set(left) <= {".findings"}  # of the report on the open directory


def test_a_run_on_a_table_is_private_if_asked_for_and_what_is_made_of_it_later_as_well(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    options = [
        "--set",
        "corpus_options.tokens=spaces",
        "--set",
        "embedding.width=8",
        "--set",
        "encoder_options.hidden=4",
    ]
    options += ["--set", "training.epochs=1", "--experiments", "permutation", "--out", str(tmp_path / "runs")]
    assert command("run", "--file", tmp_path / "t.csv", *options, "--private").code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert open_to_others(folder, *(tmp_path / "cache" / "corpora").iterdir()) == []
    shutil.rmtree(folder / "results")
    assert command("run", "--file", tmp_path / "t.csv", *options).code == 0  # without the option
    assert open_to_others(folder) == []
    heat = tmp_path / "heat.html"
    assert command("show", folder, "--save", heat).code == 0
    write_site(gather([folder]), tmp_path / "site", formats=[])
    assert open_to_others(heat, tmp_path / "site") == []
    assert read_instance(Run.open(folder), None).tokens


def test_an_audit_is_private_if_asked_for_and_so_are_its_copies(tmp_path: Path) -> None:
    make_evidence(n=12).write(tmp_path / "evidence.parquet")
    arguments = ["audit", "--evidence", tmp_path / "evidence.parquet", "--out", tmp_path / "audits"]
    assert command(*arguments).code in (0, 1, 3)
    (folder,) = (tmp_path / "audits").iterdir()
    assert not is_private(folder)
    shutil.rmtree(folder)
    assert command(*arguments, "--private").code in (0, 1, 3)
    assert open_to_others(folder) == []
    audit = heedful.Audit.load(folder)
    card, copy = audit.report(tmp_path / "card.html"), audit.save(tmp_path / "copies" / "copy")
    write_site(gather([folder]), tmp_path / "site", formats=[])
    assert open_to_others(card, copy.folder, tmp_path / "site") == []
