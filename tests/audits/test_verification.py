"""Flipped bits in finished audits are found; repairs leave what the same audit makes again."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import heedful
from heedful.audits.execution import Inputs, perform
from heedful.audits.overview import caveats, facts
from heedful.errors import HeedfulError
from heedful.progress import Reporter
from heedful.version import __version__
from heedful.workspace.verification import repair, verify
from tests.audits.made import TEXTS, assert_same, labels_of, planted
from tests.runs.flipping import flipped, flips


@pytest.fixture
def copied(audited: heedful.Audit, tmp_path: Path) -> heedful.Audit:
    return heedful.Audit.load(shutil.copytree(audited.folder, tmp_path / audited.folder.name))


def read(folder: Path, name: str) -> None:
    """Read a file as the library does; the last two are for people only."""
    audit = heedful.Audit.load(folder)
    readers: dict[str, Callable[[], object]] = {
        "evidence.parquet": lambda: audit.evidence,
        "metrics.json": lambda: audit.metrics,
        "importance.parquet": lambda: audit.importance,
        "signals.parquet": lambda: audit.signals,
        "verdict.json": lambda: audit.verdict,
        "instances.parquet": lambda: audit.verdict.instances,
        **{f"results/{test}.parquet": lambda test=test: audit.results(test) for test in audit.tests},  # type: ignore[misc]
    }
    _ = audit.manifest
    if name in readers:
        readers[name]()


def test_every_flipped_bit_is_found_and_refused(copied: heedful.Audit) -> None:
    assert verify(heedful.Audit, copied.folder).intact
    assert {"audit.toml", "card.html"} <= copied.file_hashes().keys()
    unread = {"card.html", "instances.csv", "texts.parquet"}
    for number, (name, bit) in enumerate(flips(copied, 80, seed=0)):
        with flipped(copied.folder / name, bit, tick=10**18 + 10**9 * number):
            assert [each.file for each in verify(heedful.Audit, copied.folder).damaged] == [name]
            if name not in unread:
                with pytest.raises(HeedfulError, match=f"{name} is damaged"):
                    read(copied.folder, name)
    for name in copied.file_hashes():
        read(copied.folder, name)


@pytest.mark.parametrize("name", ["results/permutation.parquet", "card.html"])
def test_what_is_repaired_is_made_again_by_the_same_audit(
    audited: heedful.Audit, copied: heedful.Audit, name: str
) -> None:
    card = (copied.folder / "card.html").read_bytes()
    with (copied.folder / name).open("ab") as file:
        file.write(b"more")
    (done,) = repair(verify(heedful.Audit, copied.folder), heedful.Audit.load)
    wanted = "deleted card.html" if name == "card.html" else "deleted stages: permutation, signals, verdict"
    assert done == wanted
    subject = planted()
    again = heedful.audit(subject, texts=TEXTS, labels=labels_of(subject, TEXTS), sample=30, out=copied.folder.parent)
    assert again.folder == copied.folder
    assert_same(again, audited)
    assert verify(heedful.Audit, again.folder).intact
    if name == "card.html":
        assert (again.folder / name).read_bytes() == card


def test_a_damaged_card_is_written_again_by_the_same_audit(copied: heedful.Audit) -> None:
    card = (copied.folder / "card.html").read_bytes()
    (copied.folder / "card.html").write_bytes(card[:-9])
    subject = planted()
    heedful.audit(subject, texts=TEXTS, labels=labels_of(subject, TEXTS), sample=30, out=copied.folder.parent)
    assert (copied.folder / "card.html").read_bytes() == card


def test_a_stage_takes_along_what_any_audit_reads_of_it(copied: heedful.Audit) -> None:
    stages = {stage.name: stage.needs for stage in heedful.Audit.stages_of(copied.manifest)}
    assert list(stages) == [name for name in stages if name in copied.manifest["stages"]]
    assert set(stages) == set(copied.manifest["stages"])
    assert "importance" in stages["correlation"]
    assert set(stages["signals"]) >= set(copied.tests)


def test_going_on_with_another_version_is_said_and_stands_among_the_caveats(copied: heedful.Audit) -> None:
    old = {"heedful": "0.0.1", "code": "aa"}
    copied.record(stages={name: entry | old for name, entry in copied.manifest["stages"].items()})
    (copied.folder / "verdict.json").unlink()
    said: list[str] = []
    reporter = Reporter()
    reporter.finish = said.append  # type: ignore[method-assign, assignment]
    inputs = Inputs(subject=planted(), source=None)
    perform(copied, inputs, reporter=reporter)
    assert [line for line in said if "version" in line or "begun" in line] == [
        f"begun by heedful 0.0.1; goes on with {__version__}; both are recorded"
    ]
    (caveat,) = [line for line in caveats(copied) if "versions of heedful" in line]
    assert caveat.endswith(f"{__version__}: verdict).")
    assert f"heedful 0.0.1, {__version__}" in " ".join(f"{name} {value}" for name, value in facts(copied))
    assert caveat in (copied.folder / "card.html").read_text(encoding="utf-8")
