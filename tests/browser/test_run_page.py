"""The page of one run: what its tests say, filters, regions of charts, tables."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest

from heedful.findings.instance_table import instance_rows
from heedful.verdict.verdict import OUTCOMES


@pytest.fixture
def opened(visit: Any, shown: Any) -> Any:
    """The page of the model with three classes."""
    page = visit(shown.page, f"#/run/{shown.key('softmax')}")
    page.wait_for_selector(".page-run h1")
    return page


def drawn(page: Any, name: str) -> Any:
    """The box of a chart, once it is drawn."""
    box = page.locator(f".chart-box:has([data-chart='{name}'])")
    box.locator(".plot-place").scroll_into_view_if_needed()
    box.locator(".plot :is(canvas, svg)").first.wait_for()
    return box


def drag(page: Any, box: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a rectangle, in shares of the plot."""
    plot = box.locator(".plot").bounding_box()
    at = [(plot["x"] + x * plot["width"], plot["y"] + y * plot["height"]) for x, y in (start, end)]
    page.mouse.move(*at[0])
    page.mouse.down()
    page.mouse.move(*at[1], steps=5)
    page.mouse.up()


def conditions(address: str) -> dict[str, tuple[float, float]]:
    """The ranges of an address of Instances."""
    found = re.findall(r"([a-z_]+):(-?[\d.e-]*?)\.\.(-?[\d.e-]*)", unquote(address.partition("where=")[2]))
    return {name: (float(low or "-inf"), float(high or "inf")) for name, low, high in found}


def counted(run: Any, ranges: dict[str, tuple[float, float]]) -> int:
    rows = instance_rows(run, ranges)
    return len(rows.filter(*(pl.col(name).cast(pl.Float64).is_between(*ends) for name, ends in ranges.items())))


def test_it_shows_the_verdict_with_its_criteria(opened: Any, shown: Any) -> None:
    verdict = shown.runs["softmax"].verdict
    assert opened.locator(".verdict .lead").inner_text() == verdict.words
    lines = opened.locator(".criteria li").all_inner_texts()
    assert len(lines) == len(verdict.criteria)
    for line, criterion in zip(lines, verdict.criteria, strict=True):
        assert criterion.question in line
        assert OUTCOMES[criterion.outcome] in line
        assert all(text in line for text in criterion.display().values())


def test_the_selector_opens_another_run(opened: Any, shown: Any) -> None:
    opened.select_option(".run-select select", shown.key("han"))
    opened.wait_for_function(
        "key => document.getElementById('main').dataset.address.includes(key)", arg=shown.key("han")
    )
    opened.wait_for_function("() => document.querySelector('h1').textContent.includes('han')")
    assert opened.input_value(".run-select select") == shown.key("han")
    assert "han" in opened.title()


def test_a_region_is_counted_listed_and_leads_to_instances(opened: Any, shown: Any) -> None:
    box = drawn(opened, "permutation-points")
    drag(opened, box, (0.12, 0.6), (0.5, 0.75))
    box.locator(".region-count a").wait_for()
    address = box.locator(".region-count a").get_attribute("href")
    ranges = conditions(address)
    assert ranges.keys() == {"permuted_tvd", "max_attention"}
    expected = counted(shown.runs["softmax"], ranges)
    assert 0 < expected < 60
    assert box.locator(".region-count strong").inner_text().startswith(f"{expected} instance")
    assert box.locator(".region-list li").count() == min(expected, 8)
    assert (
        box.locator(".region-list a").first.get_attribute("href").startswith(f"#/instances/{shown.key('softmax')}?id=")
    )
    assert box.locator(".region-count").get_attribute("aria-live") == "polite"
    box.locator(".region-count a").click()
    opened.wait_for_selector(".page-instances h1")
    opened.wait_for_function(
        "count => document.querySelector('main').innerText.includes(`${count} of 60`)", arg=str(expected)
    )


def test_a_region_of_one_class_of_small_multiples_is_of_that_class(opened: Any, shown: Any) -> None:
    box = drawn(opened, "adversary-histogram")
    drag(opened, box, (0.3, 0.1), (0.95, 0.2))
    box.locator(".region-count a").wait_for()
    ranges = conditions(box.locator(".region-count a").get_attribute("href"))
    decided = shown.runs["softmax"].classes[int(ranges["decision"][0])]
    assert f"decided {decided}" in box.locator(".region-count").inner_text()
    assert f"{counted(shown.runs['softmax'], ranges)} instance" in box.locator(".region-count").inner_text()


def test_a_region_can_be_given_in_numbers_and_cleared(opened: Any, shown: Any) -> None:
    box = drawn(opened, "permutation-points")
    box.locator(".region summary").focus()
    opened.keyboard.press("Enter")
    box.locator("[data-column=max_attention]").first.fill("0.1")
    box.locator("[data-column=max_attention]").last.fill("0.5")
    opened.keyboard.press("Enter")
    box.locator(".region-count strong").wait_for()
    expected = counted(shown.runs["softmax"], {"max_attention": (0.1, 0.5)})
    assert box.locator(".region-count strong").inner_text().startswith(f"{expected} instance")
    box.locator("button:has-text('Clear')").click()
    opened.wait_for_function("() => !document.querySelector('.region-list li')")
    assert box.locator("[data-column=max_attention]").first.input_value() == ""


def test_filters_hold_for_all_charts_and_are_restored(opened: Any, shown: Any) -> None:
    run = shown.runs["softmax"]
    box = drawn(opened, "permutation-points")
    opened.select_option("select[name=class]", "1")
    opened.select_option("select[name=only]", "right")
    opened.wait_for_function("() => document.getElementById('main').dataset.address.includes('class=1&only=right')")
    left = counted(run, {"decision": (1, 1), "wrong": (0, 0)})
    opened.wait_for_function(
        "text => document.querySelector('.tools').innerText.includes(text)", arg=f"{left} of 60 instances"
    )
    drag(opened, box, (0.12, 0.15), (0.98, 0.85))
    box.locator(".region-count a").wait_for()
    ranges = conditions(box.locator(".region-count a").get_attribute("href"))
    assert ranges["decision"] == (1, 1)
    assert ranges["wrong"] == (0, 0)
    assert box.locator(".region-count strong").inner_text().startswith(f"{counted(run, ranges)} instance")
    opened.reload()
    opened.wait_for_selector(".page-run h1")
    assert (opened.input_value("select[name=class]"), opened.input_value("select[name=only]")) == ("1", "right")
    opened.wait_for_function(
        "text => document.querySelector('.tools').innerText.includes(text)", arg=f"{left} of 60 instances"
    )


def test_cards_lead_to_instances(visit: Any, shown: Any) -> None:
    page = visit(shown.page, "#/overview?open=figures")
    page.wait_for_selector(".matrix")
    shared = {"decision": 1, "jsd": 0.1, "files": ["figures/a.svg"]}
    items = [
        {"id": f"some {number}", "index": number, "rank": rank, **shared}
        for rank in ("largest", "smallest")
        for number in range(1, 4)
    ]
    page.evaluate(
        "async ([key, gallery]) => Object.assign(await heedful.store.run(key), { gallery })", [shown.key("flan"), items]
    )
    page.click(f"[data-run='{shown.key('flan')}'] a")
    page.locator(".card").first.wait_for()
    cards = page.locator(".card h3 > a:visible").evaluate_all("all => all.map((card) => card.getAttribute('href'))")
    expected = [f"#/instances/{shown.key('flan')}?id=some+{number}" for number in (1, 2, 1, 2)]  # two of each kind
    assert cards == expected
    page.click("summary:has-text('2 more')")
    assert page.locator(".card:visible").count() == len(items)
    assert page.locator(".card .downloads a").first.inner_text() == "SVG"
    for card in page.locator(".card").all():
        card.scroll_into_view_if_needed()
        card.locator(".tok").first.wait_for()


def test_the_csv_of_a_table_is_made_in_the_page(opened: Any, tmp_path: Path) -> None:
    opened.locator("[data-table] summary").first.click()
    with opened.expect_download() as waiting:
        opened.locator(".table-box .downloads button").first.click()
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    table = pl.read_csv(file)
    assert file.suffix == ".csv"
    shown_columns = (
        opened.locator(".table-box")
        .first.locator("thead button")
        .evaluate_all("all => all.map((one) => one.dataset.sort)")
    )
    assert table.columns == shown_columns
    assert len(table) == opened.locator(".table-box").first.locator("tbody tr").count()


def test_cells_of_a_csv_are_no_formulas(opened: Any) -> None:
    made = opened.evaluate(
        """heedful.saving.csv(['a', 'b'], [['=1+1', -0.5], [' @x', null], ['say "hi", all', NaN], ['\uff1d1', true]])"""
    )
    assert made == 'a,b\r\n\'=1+1,-0.5\r\n\' @x,\r\n"say ""hi"", all",\r\n\'\uff1d1,true\r\n'


def test_scores_history_and_facts_are_there(opened: Any, shown: Any) -> None:
    section = opened.locator("section:has(> #model)")
    accuracy = shown.runs["softmax"].metrics["test"]["accuracy"]
    assert f"{accuracy:.3f}" in section.inner_text()
    assert section.locator("table").nth(1).locator("tbody tr").count() == 3  # epochs
    assert shown.key("softmax") in section.locator(".facts").inner_text()


def test_an_unknown_run_is_named(chromium: Any, shown: Any) -> None:
    page = chromium.new_page()
    page.goto(shown.page.as_uri() + "#/run/nowhere")
    page.wait_for_selector(".problem")
    assert "no run “nowhere”" in page.locator(".problem").inner_text()
    page.click("#pages a >> nth=0")  # and the way back is open
    page.wait_for_selector(".hero h1")
    page.close()
