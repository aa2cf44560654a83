"""Only a report is ever replaced, whatever a place looks like and however it is named."""

from pathlib import Path

import pytest

from heedful.errors import BadConfig
from heedful.findings.gathering import gather
from heedful.report.site.writer import report_place, write_site
from tests.making import make_evidence
from tests.report.made_run import made_run


@pytest.fixture
def site(tmp_path: Path) -> Path:
    made_run(tmp_path / "made", make_evidence(), experiments=())
    write_site(gather([tmp_path / "made"]), tmp_path / "site", formats=[])
    return tmp_path / "site"


def test_another_project_with_a_file_of_the_same_name_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "blog" / "data").mkdir(parents=True)
    (tmp_path / "blog" / "data" / "site.js").write_text("module.exports = {};")
    with pytest.raises(BadConfig, match="something else than a report"):
        report_place(tmp_path / "blog")


def test_what_was_put_beside_a_report_is_kept(site: Path) -> None:
    (site / ".DS_Store").touch()
    assert report_place(site) == site.resolve()
    (site / "notes.txt").write_text("years of work")
    with pytest.raises(BadConfig, match="something else than a report"):
        report_place(site)


def test_a_link_stays_one(tmp_path: Path, site: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(site)
    before = {path.name for path in tmp_path.iterdir()}
    for _ in range(2):
        assert write_site(gather([tmp_path / "made"]), link, formats=[]).page.is_file()
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == before
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "new")
    write_site(gather([tmp_path / "made"]), dangling, formats=[])
    assert (tmp_path / "new" / "index.html").is_file()


@pytest.mark.parametrize("name", [".", "..", "../site"])
def test_who_stands_in_a_report_is_not_left_without_ground(
    site: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(site / "data" if name == ".." else site)
    with pytest.raises(BadConfig, match="you are in that directory"):
        report_place(Path(name))
