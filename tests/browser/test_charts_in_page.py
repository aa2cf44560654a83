"""Charts as pages draw them: all of them, in both themes, in any width."""

import json
from typing import Any

import pytest

from heedful.report.charts import CHARTS
from heedful.report.charts.data import chart_rows
from tests.browser.runs import KINDS


def open_run(visit: Any, shown: Any, kind: str, **options: Any) -> Any:
    page = visit(shown.page, f"#/run/{shown.key(kind)}", **options)
    page.wait_for_selector(".chart-grid")
    return page


def draw_all(page: Any) -> None:
    """Scroll past all charts, so that each is drawn."""
    for place in page.locator(".plot-place").all():
        # Playwright's own scrolling waits for a moment in which nothing above is being drawn
        place.evaluate("place => place.scrollIntoView({ block: 'center' })")
        place.locator(".plot :is(canvas, svg)").first.wait_for()


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_drawn_or_says_why_not(visit: Any, shown: Any, kind: str) -> None:
    page = open_run(visit, shown, kind)
    draw_all(page)
    run = shown.runs[kind]
    missing = {each.title for each in CHARTS.values() if each.missing(run) or not each.shown(chart_rows(run, each))}
    assert set(page.locator(".chart-box h3").all_inner_texts()) == {chart.title for chart in CHARTS.values()} - missing
    told = page.locator("section:has(> #charts) .missing").inner_text() if missing else ""
    assert all(f"{title}: " in told for title in missing)
    for plot in page.locator(".plot").all():
        assert len(plot.get_attribute("aria-label")) > 30
        assert plot.get_attribute("role") == "img"
    assert page.locator(".chart-box .problem").count() == 0


def test_files_of_charts_are_there(visit: Any, shown: Any) -> None:
    page = open_run(visit, shown, "sigmoid")
    files = page.locator(".chart-box .downloads a").evaluate_all("all => all.map((link) => link.getAttribute('href'))")
    assert files
    assert all((shown.page.parent / file).is_file() for file in files)


def test_the_library_is_loaded_only_with_a_chart(visit: Any, shown: Any) -> None:
    page = visit(shown.page)
    page.wait_for_selector(".matrix", state="attached")
    page.wait_for_timeout(300)
    assert page.evaluate("typeof window.vegaEmbed") == "undefined"
    page.goto(shown.page.as_uri() + f"#/run/{shown.key('sigmoid')}")
    page.locator(".plot-place").first.scroll_into_view_if_needed()
    page.wait_for_function("() => typeof window.vegaEmbed === 'function'")


def test_another_theme_draws_them_anew_and_keeps_the_region(visit: Any, shown: Any) -> None:
    page = open_run(visit, shown, "softmax", color_scheme="light")
    box = page.locator(".chart-box:has([data-chart='adversary-densities'])")
    box.locator(".plot-place").scroll_into_view_if_needed()
    box.locator(".plot svg").wait_for()
    colours = "svg => [...svg.querySelectorAll('.role-axis-label text')].map((text) => text.getAttribute('fill'))"
    before = set(box.locator(".plot svg").evaluate(colours))
    box.locator(".region summary").click()
    box.locator("input").first.fill("0.1")
    box.locator("input").nth(1).fill("0.7")
    box.locator("button[type=submit]").click()
    box.locator(".region-count strong").wait_for()
    counted = box.locator(".region-count").inner_text()
    page.click("#theme")
    page.wait_for_function(
        """([before]) => {
            const text = document.querySelector("[data-chart='adversary-densities'] .role-axis-label text");
            return text && text.getAttribute('fill') !== before;
        }""",
        arg=list(before),
    )
    assert box.locator(".region-count").inner_text() == counted
    assert box.locator(".plot svg [class*=brush_brush]").count() >= 1  # the rectangle is still there


def test_charts_fit_a_narrow_window_and_a_wider_one(visit: Any, shown: Any) -> None:
    page = open_run(visit, shown, "softmax", viewport={"width": 360, "height": 700})
    draw_all(page)
    page.wait_for_function(
        """() => {
            const sizes = [...document.querySelectorAll(".plot-place")].map((place) => place.offsetHeight).join();
            const before = window.sizesBefore;
            window.sizesBefore = sizes;
            return sizes === before;
        }""",
        polling=300,
    )
    too_wide = (
        "all => all.filter((place) => place.scrollWidth > place.clientWidth + 1).map((place) => place.dataset.chart)"
    )
    assert page.locator(".plot-place").evaluate_all(too_wide) == []
    narrow = page.locator(".plot svg").first.bounding_box()["width"]
    page.set_viewport_size({"width": 1200, "height": 800})
    page.wait_for_function(
        "narrow => document.querySelector('.plot svg').getBoundingClientRect().width > narrow + 40", arg=narrow
    )


def test_of_too_many_points_the_same_ones_are_drawn(visit: Any, shown: Any) -> None:
    page = open_run(visit, shown, "sigmoid")
    drawn = page.evaluate(
        """async (key) => {
            const run = await heedful.store.run(key);
            const chart = run.charts.find((one) => one.name === "permutation-points");
            const rows = await heedful.rows.build(run, chart.columns, await heedful.rows.select(run, {}));
            const place = document.querySelector(".page").appendChild(document.createElement("div"));
            const told = [];
            for (let turn = 0; turn < 2; turn += 1) {
                await heedful.charts.draw(place, { ...chart, points: 20 }, rows);
                told.push(place.querySelector("canvas").toDataURL());
            }
            return [place.innerText, told[0] === told[1]];
        }""",
        shown.key("sigmoid"),
    )
    assert drawn == ["20 of 60 instances are drawn.", True]


def test_filters_that_leave_nothing_leave_no_empty_chart(visit: Any, shown: Any) -> None:
    page = open_run(visit, shown, "sigmoid")
    absent = 1 - int(shown.runs["sigmoid"].evidence.decisions[0])  # it decides all texts alike
    assert set(shown.runs["sigmoid"].evidence.decisions) == {1 - absent}
    box = page.locator("[data-chart=tau-gradient]")
    for chosen, drawn in (("", True), (str(absent), False), ("", True)):
        page.select_option("select[name=class]", chosen)
        box.evaluate("place => place.scrollIntoView({ block: 'center' })")
        page.wait_for_function(
            "drawn => Boolean(document.querySelector('[data-chart=tau-gradient] svg')) === drawn", arg=drawn
        )
        assert ("no text to draw" in box.inner_text()) != drawn


def test_undefined_figures_and_odd_names_are_drawn(visit: Any, shown: Any) -> None:
    page = open_run(visit, shown, "sigmoid")
    names = ["<b>bad</b>", "a\\u202eb"]
    rows = page.evaluate(
        """async ([key, names]) => {
            const run = { ...(await heedful.store.run(key)), classes: names };
            return heedful.rows.build(run, ["jsd", "wrong", "flip_set"], [0, 1, 2, 3]);
        }""",
        [shown.key("sigmoid"), json.loads(f'["{names[0]}", "{names[1]}"]')],
    )
    assert {row["decided"] for row in rows} <= {"<b>bad</b>", "a\\u202eb"}  # what turns the writing is written out
    assert all(row["wrong"] in (True, False) for row in rows)
    assert all(row["jsd"] is None or isinstance(row["jsd"], float) for row in rows)
