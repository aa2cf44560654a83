"""A real browser, and a report to open in it. Where there is no Chromium these tests are skipped."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from heedful.findings.gathering import gather
from heedful.report.site.writer import write_site
from heedful.runs.directory import Run
from tests.browser.runs import make_runs

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


class Opened(NamedTuple):
    """A page, and what went wrong in it."""

    page: Any
    problems: list[str]
    requests: list[str]  # addresses that are not files


class Shown(NamedTuple):
    """A report, and the runs it is about, by their kinds."""

    page: Path
    runs: dict[str, Run]

    def key(self, kind: str) -> str:
        """What the site calls a run."""
        return self.runs[kind].folder.name


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser without network."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium to open pages in: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The report of all kinds of runs; all tests of this folder are one worker's."""
    folder = tmp_path_factory.mktemp("browser")
    runs = make_runs(folder / "runs")
    return Shown(write_site(gather([folder / "runs"]), folder / "site", formats=["svg"]).page, runs)


@pytest.fixture
def visit(chromium: Any) -> Iterator[Any]:
    """A function that opens a file of a site at an address; afterwards nothing must have gone wrong in any page."""
    contexts, visits = [], []

    def visit(page: Path, hash: str = "#/overview", **options: Any) -> Any:
        context = chromium.new_context(offline=True, **options)
        context.set_default_timeout(20_000)
        opened = Opened(context.new_page(), [], [])
        contexts.append(context)
        visits.append(opened)
        opened.page.on("console", lambda said: said.type in ("error", "warning") and opened.problems.append(said.text))
        opened.page.on("pageerror", lambda error: opened.problems.append(str(error)))
        opened.page.on("dialog", lambda dialog: opened.problems.append(f"dialog {dialog.message}"))
        opened.page.on(
            "request",
            lambda asked: asked.url.startswith(("file:", "data:", "blob:")) or opened.requests.append(asked.url),
        )
        opened.page.goto(page.as_uri() + hash)
        return opened.page

    yield visit
    for context in contexts:
        context.close()
    assert [problem for opened in visits for problem in opened.problems] == []
    assert [asked for opened in visits for asked in opened.requests] == []
