"""What axe-core finds on every page, light and dark; what the keyboard reaches; what moves."""

from typing import Any

import pytest

PAGES = ("overview", "run", "instances", "what-if", "compare")


@pytest.fixture(scope="module")
def axe() -> Any:
    found = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing")
    return found.Axe()


def unfolded(visit: Any, shown: Any, kind: str, name: str, **options: Any) -> Any:
    """A page with everything open and drawn."""
    key = shown.key(kind)
    id = shown.runs[kind].evidence.ids[1]
    hashes = {
        "overview": f"#/overview?of={key}",
        "compare": f"#/compare/{shown.key('sigmoid')}/{shown.key('sigmoid again')}?id={id}",
    }
    page = visit(shown.page, hashes.get(name, f"#/{name}/{key}?id={id}"), **options)
    page.wait_for_selector(f".page-{name} h1")
    for summary in page.locator("main summary").all():
        if summary.is_visible():
            summary.evaluate("summary => { summary.parentElement.open = true; }")
    for place in page.locator(".plot-place:not([hidden])").all():
        place.evaluate("place => place.scrollIntoView({ block: 'center' })")
        place.locator(".plot :is(canvas, svg)").first.wait_for()
    return page


def violations(axe: Any, page: Any) -> list[str]:
    """Each rule that is broken, with the first element that breaks it."""
    # preloading would fetch the page's styles once more, which it forbids
    found = axe.run(page, options={"preload": False}).response["violations"]
    return [f"{rule['id']} ({len(rule['nodes'])}): {rule['nodes'][0]['html'][:200]}" for rule in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(visit: Any, shown: Any, axe: Any, name: str, scheme: Any) -> None:
    assert violations(axe, unfolded(visit, shown, "softmax", name, color_scheme=scheme)) == []


@pytest.mark.parametrize("kind", ["stories", "han"])
def test_axe_finds_nothing_where_a_question_is_answered_or_sentences_are_attended(
    visit: Any, shown: Any, axe: Any, kind: str
) -> None:
    for name in ("overview", "instances", "what-if"):
        assert violations(axe, unfolded(visit, shown, kind, name)) == []


def test_axe_finds_nothing_in_a_narrow_window(visit: Any, shown: Any, axe: Any) -> None:
    for name in PAGES:
        page = unfolded(visit, shown, "softmax", name, viewport={"width": 390, "height": 844})
        assert violations(axe, page) == []


def test_axe_finds_what_is_wrong(visit: Any, shown: Any, axe: Any) -> None:
    """The test above can fail."""
    page = unfolded(visit, shown, "softmax", "overview")
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert any(rule.startswith("button-name") for rule in violations(axe, page))


def test_nothing_in_a_chart_is_announced_without_a_name(visit: Any, shown: Any) -> None:
    page = unfolded(visit, shown, "softmax", "run")
    assert page.locator(".plot svg").count() > 3
    assert page.locator(".plot svg [role=graphics-symbol]:not([aria-label])").count() == 0
    assert page.locator(".plot svg [class*=brush][role]").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_of_charts_have_the_colours_of_the_theme(visit: Any, shown: Any, scheme: Any) -> None:
    page = unfolded(visit, shown, "softmax", "run", color_scheme=scheme)
    allowed = {page.evaluate(f"heedful.theme.colour('mark-{number}')") for number in (1, 2, 3)}
    box = page.locator("[data-chart=tau-gradient] .mark-rect.role-mark:not([class*=brush]) path")
    fills = set(box.evaluate_all("(all) => all.map((one) => one.getAttribute('fill'))"))
    assert fills
    assert fills <= allowed
    assert set(box.evaluate_all("(all) => all.map((one) => getComputedStyle(one).opacity)")) == {"1"}


def test_a_row_is_chosen_by_keyboard_alone(visit: Any, shown: Any) -> None:
    page = visit(shown.page, f"#/instances/{shown.key('softmax')}")
    page.wait_for_selector(".list-row")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('list')"):
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("article.instance")
    id = shown.runs["softmax"].evidence.ids[1]
    assert page.get_attribute("article.instance", "data-id") == id
    chosen = page.locator("[role=row][aria-selected=true]")
    assert chosen.count() == 1
    assert page.get_attribute(".list", "aria-activedescendant") == chosen.get_attribute("id")


def test_everything_that_takes_the_focus_shows_it(visit: Any, shown: Any) -> None:
    page = visit(shown.page, f"#/overview?of={shown.key('softmax')}")
    page.wait_for_selector(".hero h1")
    seen = 0
    for _ in range(60):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "() => { const one = document.activeElement, style = getComputedStyle(one);"
            " return one === document.body ? null"
            " : [one.outerHTML.slice(0, 120), style.outlineStyle, style.outlineWidth]; }"
        )
        if outline is None:
            break
        seen += 1
        assert outline[1] == "solid", outline[0]
        assert float(outline[2].removesuffix("px")) >= 2, outline[0]
    assert seen > 20


def test_nothing_moves_for_readers_who_want_no_motion(visit: Any, shown: Any) -> None:
    page = visit(shown.page, f"#/overview?of={shown.key('softmax')}", reduced_motion="reduce")
    page.wait_for_selector(".strip .tok")
    moving = "all => all.filter((one) => getComputedStyle(one).transitionProperty !== 'none').length"
    assert page.locator("main *").evaluate_all(moving) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.locator("main *").evaluate_all(moving) > 0  # what a drag changes fades in for all others
