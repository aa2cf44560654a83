"""Heat-maps and long lists with what texts can bring along."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def page(chromium: Any, shown: Any) -> Iterator[Any]:
    context = chromium.new_context(offline=True, viewport={"width": 900, "height": 700})
    opened = context.new_page()
    opened.goto(shown.page.as_uri())
    opened.wait_for_selector(".page-overview h1")
    yield opened
    context.close()


DRAW = """([tokens, values, options]) => {
  if (options.marked) options.marked = new Set(options.marked);
  document.getElementById('main').replaceChildren(heedful.heatmap(tokens, values, {title: 'map', ...options}));
}"""


def test_text_is_text(page: Any) -> None:
    tokens = ["<img src=x onerror=alert(1)>", "a\x1b[31m", "\u202egnp.exe", "שלום", "👩‍👩‍👧", "&amp;", "x" * 10_000]
    page.evaluate(DRAW, [tokens, [0.1] * 7, {}])
    shown = page.locator(".tok").all_inner_texts()
    assert shown[:6] == ["<img src=x onerror=alert(1)>", "a\\x1b[31m", "\\u202egnp.exe", "שלום", "👩‍👩‍👧", "&amp;"]
    assert page.locator("#main img").count() == 0
    assert len(shown[6]) < 100
    assert "10,000 letters" in shown[6]
    assert page.locator(".tok").evaluate_all("(all) => all.every((one) => one.tagName === 'BDI')")


def test_marks_and_signs_are_not_colour_only(page: Any) -> None:
    page.evaluate(DRAW, [["a", "b", "c"], [0.5, -0.2, 0.0], {"signed": True, "marked": [2], "truth": [1, 0, 0]}])

    def content(item: int, place: str) -> str:
        script = "(element, place) => getComputedStyle(element, place).content"
        return str(page.locator(f".tok[data-item='{item}']").evaluate(script, place))

    assert content(0, "::before") == '"+"'
    assert content(1, "::before") == '"\u2212"'
    assert content(2, "::before") == '"["'
    assert content(0, "::after") == '"◆"'


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("value", [1.0, -1.0, 0.5, 0.0])
def test_text_can_be_read_on_any_heat(page: Any, theme: str, value: float) -> None:
    page.evaluate("(theme) => heedful.theme.choose(theme)", theme)
    page.evaluate(DRAW, [["word", "other"], [value, 1.0], {"signed": True}])
    contrast = page.locator(".tok[data-item='0']").evaluate("""(element) => {
      const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
      const paint = (...colours) => {
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((c) => c / 255)
          .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const under = getComputedStyle(element.closest('.heat')).backgroundColor;
      const own = getComputedStyle(element);
      const [low, high] = [paint(under, own.backgroundColor), paint(own.color)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    }""")
    assert contrast >= 4.5


def test_thousands_of_tokens_are_drawn_in_parts_and_all_of_them(page: Any) -> None:
    tokens = [f"w{item}" for item in range(5000)]
    page.evaluate(DRAW, [tokens, [1 / 5000] * 5000, {}])
    page.wait_for_function("() => document.querySelectorAll('.tok').length === 5000")
    page.evaluate(DRAW, [tokens, [1 / 5000] * 5000, {"sentences": [50] * 100}])
    page.wait_for_function("() => document.querySelectorAll('.heat p').length === 100")


def test_a_list_of_a_million_rows_has_few_elements(page: Any) -> None:
    page.evaluate("""() => {
      const list = heedful.list({label: 'many', fill: (row, position) => { row.textContent = position; }, onPick() {}});
      document.getElementById('main').replaceChildren(list.element);
      list.reset(1_000_000);
    }""")
    page.wait_for_selector(".list-row")
    page.focus(".list")
    page.keyboard.press("End")
    page.wait_for_selector(".list-row[aria-rowindex='1000001']")
    assert page.locator(".list-row").count() < 60
    assert page.locator(".list-row[aria-rowindex='1000001']").bounding_box()["y"] < 700
    page.keyboard.press("Home")
    page.wait_for_selector(".list-row[aria-rowindex='2']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("PageDown")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    named = page.get_attribute(".list", "aria-activedescendant")
    box, frame = page.locator(f"#{named}").bounding_box(), page.locator(".list").bounding_box()
    assert frame["y"] <= box["y"] <= frame["y"] + frame["height"] - box["height"] + 1
