"""Audits in a report, among runs."""

from pathlib import Path

import pytest

import heedful
from heedful.findings.gathering import AuditedRun, gather
from heedful.findings.run_facts import why_missing
from heedful.report.site.writer import write_site
from tests.audits.made import TEXTS, labels_of, planted
from tests.making import make_evidence
from tests.report.made_run import made_run
from tests.report.site.reading import data

pytest.importorskip("altair", reason="altair is not installed")


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audits")
    subject = planted(classes=3)
    heedful.audit(subject, texts=TEXTS, labels=labels_of(subject, TEXTS), sample=6, out=out)
    planted("distracted").evidence().write(out / "mine.parquet")
    heedful.audit(evidence=out / "mine.parquet", out=out)
    return out


def test_an_audit_is_read_as_a_run_of_the_texts_that_all_tests_know(audits: Path) -> None:
    found = gather([audits])
    assert not found.refused
    by_route = {run.audit.options.route: run for run in found.runs if isinstance(run, AuditedRun)}
    run = by_route["subject"]
    assert len(run.evidence) == len(run.results("erasure")) == len(run.results("substitution")) == 6
    assert run.evidence.ids == run.results("permutation")["id"].to_list()
    assert run.importance["id"].unique(maintain_order=True).to_list() == list(run.evidence.ids)
    assert len(by_route["evidence"].evidence) == 34
    assert run.verdict.to_json() == run.audit.verdict.to_json()
    assert run.metrics["test"]["accuracy"] == 1.0
    assert sum(run.manifest["corpus"]["counts"]["test"]) == run.metrics["test"]["n"] == len(TEXTS)
    assert why_missing(run, "adversary_search") == "adversary_search is not among the tests of this audit"
    assert by_route["evidence"].metrics["test"]["accuracy"] is None


def test_the_site_shows_audits_beside_runs(audits: Path, tmp_path: Path) -> None:
    made_run(tmp_path / "runs" / "made", make_evidence(), experiments=("permutation",))
    site = write_site(gather([tmp_path / "runs", audits]), tmp_path / "site", formats=[])
    told = data(tmp_path / "site", "site")
    assert len(told["runs"]) == 3
    audited = [run for run in told["runs"] if "(audited)" in run["corpus_label"]]
    assert len(audited) == 2
    for run in audited:
        verdict = heedful.Audit.load(audits / run["folder"]).verdict
        assert run["verdict"]["words"] == verdict.words
        assert [(c["question"], c["outcome"]) for c in run["verdict"]["criteria"]] == [
            (c.question, c.outcome) for c in verdict.criteria if c.decisive or c.n
        ]
        page = data(tmp_path / "site", f"{run['key']}/run")
        assert page["n"] == len(data(tmp_path / "site", f"{run['key']}/ids"))
        assert dict(page["facts"])["data"]
        assert page["history"] == []
    assert site.page.is_file()


def test_an_unfinished_audit_is_not_shown(audits: Path, tmp_path: Path) -> None:
    folder = next(path for path in audits.iterdir() if path.is_dir())
    copy = heedful.Audit.load(folder).save(tmp_path / "copy")
    (copy.folder / "verdict.json").unlink()
    found = gather([audits, tmp_path])
    assert [each.folder.name for each in found.refused] == ["copy"]


def test_audits_are_no_runs_to_those_who_list_runs(audits: Path) -> None:
    with pytest.raises(heedful.HeedfulError, match="holds none"):
        heedful.runs_in(audits)
