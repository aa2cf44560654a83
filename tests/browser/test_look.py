"""What everyone can read and reach: contrast, names, headings, keyboard, narrow windows, themes, print."""

import re
from itertools import pairwise
from typing import Any

import pytest

PLACES = ("overview", "run")
TEXT = {  # what is written on what
    "paper": ("ink", "ink-soft", "accent"),
    "panel": ("ink", "ink-soft", "accent", "good", "bad", "unsure"),
    "wash": ("ink", "ink-soft", "accent"),
    "accent": ("accent-ink",),
    "good-wash": ("good",),
    "bad-wash": ("bad", "ink"),
    "unsure-wash": ("unsure",),
}
LINED = ("mark-1", "mark-2", "mark-3")  # marks of charts, on which lines are drawn
MARKS = {
    "paper": ("edge", "focus", "accent"),
    "panel": ("edge", "focus", "accent", "warm", "cool", *LINED),
}


def luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def opened_at(visit: Any, shown: Any, place: str, **options: Any) -> Any:
    page = visit(shown.page, f"#/{place}", **options)
    page.wait_for_selector(f".page-{place} h1")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_enough_in_both_themes(visit: Any, shown: Any, scheme: str) -> None:
    page = opened_at(visit, shown, "overview", color_scheme=scheme)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    names = {name for table in (TEXT, MARKS) for ground, marks in table.items() for name in (ground, *marks)}
    colours = {name: page.evaluate("name => heedful.theme.colour(name)", name) for name in names}
    assert all(re.fullmatch(r"#[0-9a-f]{6}", colour) for colour in colours.values())
    text = {(ground, name): contrast(colours[ground], colours[name]) for ground in TEXT for name in TEXT[ground]}
    assert {pair: ratio for pair, ratio in text.items() if ratio < 4.5} == {}
    marks = {(ground, name): contrast(colours[ground], colours[name]) for ground in MARKS for name in MARKS[ground]}
    assert {pair: ratio for pair, ratio in marks.items() if ratio < 3} == {}
    assert all(contrast(colours[ground], colours["ink"]) >= 3 for ground in LINED)


def test_the_theme_is_chosen_and_kept(visit: Any, shown: Any) -> None:
    page = opened_at(visit, shown, "overview", color_scheme="light")
    assert page.locator("#theme").get_attribute("aria-label") == "Show the site in dark colours"
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != light
    page.reload()
    page.wait_for_selector("h1")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click("#theme")
    assert page.evaluate(ground) == light


def test_the_system_changes_the_theme_until_the_reader_does(visit: Any, shown: Any) -> None:
    page = opened_at(visit, shown, "overview", color_scheme="light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("() => document.documentElement.dataset.theme === 'dark'")
    page.click("#theme")
    page.emulate_media(color_scheme="light")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("width", [360, 768])
def test_a_narrow_window_scrolls_only_up_and_down(visit: Any, shown: Any, place: str, width: int) -> None:
    page = opened_at(visit, shown, place, viewport={"width": width, "height": 700})
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("place", PLACES)
def test_controls_have_names_and_headings_are_in_order(visit: Any, shown: Any, place: str) -> None:
    page = opened_at(visit, shown, place)
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")]
            .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length))
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    levels = [
        int(level)
        for level in page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((one) => one.tagName[1])")
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    names = "[...document.querySelectorAll('[aria-labelledby]')].map((one) => one.getAttribute('aria-labelledby'))"
    assert set(page.evaluate(names)) <= set(ids)
    assert page.locator("[aria-current=page]").inner_text().lower() == place


def test_the_keyboard_skips_to_the_content_and_shows_where_it_is(visit: Any, shown: Any) -> None:
    page = opened_at(visit, shown, "overview")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert "#/overview" in page.url  # the address stays that of the view
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_print_is_light_and_without_controls(visit: Any, shown: Any) -> None:
    page = opened_at(visit, shown, "run", color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("heedful.theme.colour('panel')") == "#ffffff"
    assert not page.locator(".top").is_visible()
    assert not page.locator(".tools").is_visible()


def test_the_site_is_made_of_small_plain_scripts(shown: Any) -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|\bfetch\(|XMLHttpRequest|https?://"
    )
    scripts = [file for file in (shown.page.parent / "assets").glob("*.js") if file.name != "vega.js"]
    assert len(scripts) > 20
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert not forbidden.search(text), script.name
        assert '"use strict";' in text, script.name
        assert text.count("\n") < 220, script.name
        assert f'src="assets/{script.name}"' in shown.page.read_text(encoding="utf-8"), script.name
