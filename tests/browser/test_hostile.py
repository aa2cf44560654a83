"""Texts are data: whatever they hold is shown as text, and nothing in them runs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.findings.gathering import gather
from heedful.ragged import Ragged
from heedful.report.site.writer import write_site
from tests.making import complete, make_evidence
from tests.report.made_run import made_run

HOSTILE = [
    "<script>window.executed = 1</script>",
    "</script><script>window.executed = 2</script>",
    '"><img src=x onerror="window.executed=3">',
    "');window.executed=4;('",
    "\\u003cscript\\u003e",
    "${window.executed=5}",
    "{{7*7}}",
    "javascript:window.executed=6",
    "\u202emirrored\u202c",
    "\u2066isolated\u2069",
    "null\x00character",
    "line\u2028separator",
    "new\nline",
    "tab\tulator",
    "\x1b[31mred",
    "😀👩\u200d👩\u200d👧",
    "שלום",
    "y" * 10_000,
    "=cmd|' /C calc'!A0",
    "constructor",
    "__proto__",
    "toString",
    "a" + "\u0301" * 500,
    "]]>",
    "<!--",
    "&lt;b&gt;",
]
CLASSES = ("<img src=x onerror=window.executed=7>", "__proto__", "\u202eclass\x00")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    draw = np.random.default_rng(0)
    sizes = [len(HOSTILE), *draw.integers(1, 9, 29)]
    weights = Ragged.from_rows([draw.dirichlet(np.ones(size)) for size in sizes], dtype=np.float32)
    tokens = [HOSTILE[index % len(HOSTILE)] for index in range(len(weights.values))]
    evidence = complete(weights, draw, 3)
    evidence = replace(
        evidence,
        ids=[f"{HOSTILE[index % len(HOSTILE)][:40]} #?/&%{index}" for index in range(len(sizes))],
        tokens=weights.like(np.array(tokens, dtype=object)),
        query=Ragged.from_rows([HOSTILE[:4] for _ in sizes], dtype=object),
        classes=CLASSES,
    )
    made_run(folder / "runs" / "<b>run & 'quotes' #1%20", evidence)
    made_run(folder / "runs" / "second", evidence)
    write_site(gather([folder / "runs"]), folder / "site", formats=["svg"])
    return folder / "site" / "index.html"


def _key(page: Any) -> str:
    return str(page.evaluate("heedful.store.site().then((site) => site.runs[0].key)"))


def _first(page: Any) -> str:
    return str(
        page.evaluate("heedful.store.site().then((site) => heedful.store.ids(site.runs[0].key)).then((ids) => ids[0])")
    )


@pytest.mark.parametrize("name", ["overview", "run", "instances", "what-if", "compare"])
def test_nothing_runs_on_any_page(visit: Any, hostile: Path, name: str) -> None:
    page = visit(hostile)
    page.wait_for_selector("h1")
    key, id = _key(page), _first(page)
    parts = {"overview": [], "compare": [key, "second"]}.get(name, [key])
    page.evaluate(
        "([name, parts, query]) => { location.hash = heedful.route.link(name, parts, query) }",
        [name, parts, {"id": id}],
    )
    page.wait_for_selector(f".page-{name} h1")
    page.wait_for_timeout(500)
    page.mouse.wheel(0, 3000)
    page.wait_for_timeout(500)
    assert page.locator(".problem").count() == 0
    assert page.evaluate("window.executed") is None
    assert page.locator("main img, main script, main b b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")  # long words do not push the page


def test_tokens_are_shown_as_they_are(visit: Any, hostile: Path) -> None:
    page = visit(hostile)
    page.wait_for_selector("h1")
    key, id = _key(page), _first(page)
    page.evaluate("([key, id]) => { location.hash = heedful.route.link('instances', [key], { id }) }", [key, id])
    page.wait_for_selector(".heat")
    shown = page.locator(".heat").first.inner_text()
    for text in ("<script>window.executed = 1</script>", "${window.executed=5}", "{{7*7}}", "😀", "שלום", "__proto__"):
        assert text in shown
    for escaped in ("\\u202emirrored", "null\\x00character", "\\x1b[31mred"):
        assert escaped in shown
    assert "\u202e" not in shown


def test_searching_for_markup_finds_it(visit: Any, hostile: Path) -> None:
    page = visit(hostile)
    page.wait_for_selector("h1")
    key = _key(page)
    page.evaluate(
        "(key) => { location.hash = heedful.route.link('instances', [key], { q: '<img src=x onerror' }) }", key
    )
    page.wait_for_selector(".page-instances h1")
    page.wait_for_function("() => document.querySelector('.page-instances .status').textContent.match(/\\d/)")
    page.wait_for_timeout(600)
    assert page.evaluate("window.executed") is None
    assert page.locator("[role=row]").count() > 1


def test_charts_of_a_run_without_labels(visit: Any, tmp_path: Path) -> None:
    made_run(tmp_path / "made", replace(make_evidence(n=30), labels=None), experiments=("violation", "permutation"))
    page = visit(write_site(gather([tmp_path / "made"]), tmp_path / "site", formats=[]).page, "#/run/made")
    page.locator("[data-chart=permutation]").scroll_into_view_if_needed()
    page.locator("[data-chart=permutation] svg").first.wait_for()
    assert page.locator("[role=alert]").count() == 0


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString/x"])
def test_names_that_every_object_has_are_no_pages(chromium: Any, hostile: Path, name: str) -> None:
    page = chromium.new_page()
    page.goto(f"{hostile.as_uri()}#/{name}")
    page.locator("[role=alert]").wait_for()
    assert "there is no page" in page.locator("[role=alert]").inner_text()
    page.close()


def test_what_is_undefined_neither_differs_nor_is_alike(visit: Any, tmp_path: Path) -> None:
    evidence = make_evidence(n=4)
    assert evidence.labels is not None
    evidence.labels[1:] = -1
    for name in ("one", "two"):
        made_run(tmp_path / "runs" / name, evidence, experiments=("violation",))
    site = write_site(gather([tmp_path / "runs"]), tmp_path / "site", formats=[])
    page = visit(site.page, "#/compare/one/two?by=label")
    page.locator(".list-row:not([hidden])").nth(3).wait_for()
    told = page.locator(".list-row:not([hidden]) .cell:last-child").all_inner_texts()
    assert sorted(told) == ["alike", *["\u2013"] * 3]
