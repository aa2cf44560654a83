"""Two runs side by side."""

from typing import Any

import numpy as np
import pytest

from heedful.experiments.view import normalised
from heedful.findings.instance_table import instance_rows
from heedful.measures import jsd
from tests.browser.conftest import Shown


def open_pair(visit: Any, shown: Shown, first: str, second: str, query: str = "", **options: Any) -> Any:
    page = visit(shown.page, f"#/compare/{shown.key(first)}/{shown.key(second)}{query}", **options)
    page.wait_for_selector(".page-compare h1")
    return page


def figures(shown: Shown, kind: str, name: str) -> Any:
    return instance_rows(shown.runs[kind], [name])[name]


def test_how_often_two_runs_decide_alike(visit: Any, shown: Shown) -> None:
    page = open_pair(visit, shown, "sigmoid", "sigmoid again")
    first, second = (shown.runs[kind].evidence for kind in ("sigmoid", "sigmoid again"))
    alike = first.decisions == second.decisions
    assert first.labels is not None
    said = page.locator(".agreement").evaluate("(element) => ({...element.dataset})")
    assert int(said["alike"]) == alike.sum()
    assert int(said["first"]) == (~alike & (first.decisions == first.labels)).sum()
    assert int(said["second"]) == (~alike & (second.decisions == second.labels)).sum()
    assert page.locator(".key-figures [data-figure]").count() >= 3


@pytest.mark.parametrize("name", ["jsd", "tau_gradient", "items"])
def test_instances_come_by_how_far_the_runs_are_apart(visit: Any, shown: Shown, name: str) -> None:
    page = open_pair(visit, shown, "sigmoid", "sigmoid again", f"?by={name}")
    page.wait_for_selector(".list-row")
    first, second = (figures(shown, kind, name).to_numpy() for kind in ("sigmoid", "sigmoid again"))
    apart = np.abs(first.astype(float) - second.astype(float))
    expected = sorted(
        range(len(apart)), key=lambda index: (np.isnan(apart[index]), -np.nan_to_num(apart[index]), index)
    )
    rows = page.locator(".list-row:not([hidden])").evaluate_all(
        "(rows) => rows.map((row) => [Number(row.getAttribute('aria-rowindex')), Number(row.dataset.index)])"
    )
    found = [index for _, index in sorted(rows)]
    assert found == expected[: len(found)]


def test_a_figure_is_drawn_against_the_other_and_chosen_by_name(visit: Any, shown: Shown) -> None:
    page = open_pair(visit, shown, "sigmoid", "sigmoid again", "?by=jsd")
    page.wait_for_selector(".plot canvas, .plot svg")
    page.select_option(".page-compare label.choice:has-text('Figure') select", "confidence")
    page.wait_for_function("() => document.getElementById('main').dataset.address.includes('by=confidence')")
    page.wait_for_function("() => document.querySelector('.list-header').textContent.includes('confidence')")
    page.reload()
    page.wait_for_selector(".list-row")
    assert "confidence" in page.inner_text(".list-header")


def test_maps_side_by_side_and_how_far_they_are_apart(visit: Any, shown: Shown) -> None:
    first, second = (shown.runs[kind].evidence.slice(4, 5) for kind in ("sigmoid", "sigmoid again"))
    page = open_pair(visit, shown, "sigmoid", "sigmoid again", f"?id={first.ids[0]}")
    page.wait_for_selector(".sides")
    apart = float(page.locator("[data-apart]").get_attribute("data-apart"))
    assert apart == pytest.approx(jsd(normalised(first.weights), normalised(second.weights))[0], abs=1e-9)
    assert page.locator(".sides .heat-map").count() == 2
    assert page.get_attribute(".list-row[aria-selected=true]", "data-index") == "4"


def test_words_beside_sentences(visit: Any, shown: Shown) -> None:
    first, second = shown.runs["flan"].evidence, shown.runs["han"].evidence
    page = open_pair(visit, shown, "flan", "han", f"?id={first.ids[2]}")
    page.wait_for_selector(".sides")
    assert page.locator("[data-apart]").get_attribute("data-apart") == "other items"
    items = [page.locator(".compared").nth(side).locator(".tok").count() for side in (0, 1)]
    assert items == [len(first.tokens[2]), len(second.tokens[2])]
    assert page.locator(".agreement").count() == 1


def test_runs_of_other_texts_are_not_compared_and_those_that_can_be_are_named(visit: Any, shown: Shown) -> None:
    page = open_pair(visit, shown, "sigmoid", "stories")
    words = page.inner_text(".obstacle")
    assert "nothing can be compared" in words
    links = page.locator(".obstacle a")
    assert links.count() == 1
    links.click()
    page.wait_for_selector(".agreement")
    assert page.evaluate("() => location.hash").endswith(f"/{shown.key('sigmoid again')}")


def test_a_run_is_not_compared_with_itself(visit: Any, shown: Shown) -> None:
    page = open_pair(visit, shown, "sigmoid", "sigmoid")
    assert "not compared with itself" in page.inner_text(".obstacle")
    assert page.locator(".key-figures").count() == 0
    page.click(".obstacle a")
    page.wait_for_selector(".agreement")
    offered = page.locator(".pair select").nth(1).locator("option").evaluate_all("(all) => all.map((one) => one.value)")
    assert shown.key("sigmoid") not in offered


def test_a_run_without_a_partner_leads_to_two_that_have_one(visit: Any, shown: Shown) -> None:
    page = visit(shown.page, f"#/compare/{shown.key('stories')}")
    page.wait_for_selector(".agreement")
    first, second = page.locator(".pair select").evaluate_all("(all) => all.map((one) => one.value)")
    assert first != second


def test_without_a_second_run_a_fitting_one_is_taken(visit: Any, shown: Shown) -> None:
    page = visit(shown.page, f"#/compare/{shown.key('sigmoid again')}")
    page.wait_for_selector(".agreement")
    chosen = page.locator(".pair select").evaluate_all("(all) => all.map((one) => one.value)")
    assert chosen == [shown.key("sigmoid again"), shown.key("sigmoid")]
    page.locator(".pair select").nth(0).select_option(shown.key("stories"))
    page.wait_for_selector(".obstacle")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_window(visit: Any, shown: Shown, theme: Any) -> None:
    window = {"viewport": {"width": 380, "height": 800}, "color_scheme": theme}
    page = open_pair(visit, shown, "flan", "han", f"?id={shown.runs['flan'].evidence.ids[0]}", **window)
    page.wait_for_selector(".sides")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 380
