"""The site in a browser: what 50,000 instances cost beside 1,000."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import Result
from heedful.findings.gathering import gather
from heedful.report.site.writer import write_site
from tests.making import make_evidence
from tests.report.made_run import made_run

FEW, MANY = 1_000, 50_000

# seconds of the median frame while the list is scrolled to its end in steps
_SCROLL = """async () => {
  const list = document.querySelector(".page-instances [role=grid]");
  const frames = [];
  let last = performance.now();
  for (let step = 1; step <= 120; step += 1) {
    list.scrollTop = (list.scrollHeight * step) / 120;
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - last);
    last = performance.now();
  }
  frames.sort((one, other) => one - other);
  return frames[frames.length >> 1] / 1000;
}"""


def site_results() -> Iterator[Result]:
    """A frame of scrolling, the first view, and a search; the ratio tells how little more instances cost."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        print("site: no Chromium here, not measured")
        return
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        few, many = (_measured(browser, _made(Path(folder), n)) for n in (FEW, MANY))
        browser.close()
    for name, least in (
        ("a frame of scrolling", 0.5),
        ("the first view", 0.5),
        ("the list of instances", 0.1),
        ("a search", 0.02),
    ):
        yield Result(f"site, {name}: {FEW:,} instances against {MANY:,}", few[name], many[name], least)


def _made(folder: Path, n: int) -> Path:
    run = made_run(folder / f"made-{n}", make_evidence(n=n, longest=40))
    return write_site(gather([run.folder]), folder / f"site-{n}", formats=[]).page


def _measured(browser: Any, page: Path) -> dict[str, float]:
    opened = browser.new_page()
    opened.goto(page.as_uri())
    opened.wait_for_selector(".page-overview .hero .pair-map")  # the answer, and the maps beside it
    seconds = {"the first view": _now(opened)}
    opened.goto("about:blank")
    opened.goto(f"{page.as_uri()}#/instances")
    opened.wait_for_selector(".page-instances [role=row] [role=gridcell]")
    seconds["the list of instances"] = _now(opened)
    seconds["a frame of scrolling"] = opened.evaluate(_SCROLL)
    before = _now(opened)
    opened.fill("input[type=search]", "w7")
    opened.locator(".page-instances .status", has_text=re.compile(r"of [\d,]+ instances")).wait_for()
    seconds["a search"] = _now(opened) - before
    opened.close()
    return seconds


def _now(page: Any) -> float:
    """Seconds since the page was asked for."""
    return float(page.evaluate("performance.now()")) / 1000
