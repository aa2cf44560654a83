"""What if: weights are moved in a real browser; what the page says is what Python says."""

import json
from typing import Any

import numpy as np
import pytest

from heedful.evidence import Evidence, decide
from heedful.experiments.view import normalised
from heedful.findings.story import texts
from heedful.measures import jsd, tvd
from heedful.ragged import Ragged

KINDS = ["sigmoid", "softmax", "stories"]
INSTANCE = 2


def evidence_of(shown: Any, kind: str, index: int = INSTANCE) -> Evidence:
    return shown.runs[kind].evidence.slice(index, index + 1)


def open_instance(visit: Any, shown: Any, kind: str, index: int = INSTANCE, *, w: str = "", **options: Any) -> Any:
    id = shown.runs[kind].evidence.ids[index]
    page = visit(shown.page, f"#/what-if/{shown.key(kind)}?id={id}{w and '&w=' + w}", **options)
    page.wait_for_selector(".readout[data-tvd]")
    return page


def weights_of(page: Any) -> list[float]:
    """The weights as they are now, in full precision."""
    page.wait_for_function(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
    )
    return list(page.evaluate("() => heedful.pages['what-if'].weights()"))


def check(page: Any, evidence: Evidence) -> list[float]:
    """All that the page says of its weights, against the evidence; the weights."""
    weights = weights_of(page)
    own, now = normalised(evidence.weights), Ragged.from_rows([weights], dtype=np.float64)
    assert sum(weights) == pytest.approx(1, abs=1e-9)
    before, output = evidence.decode(own), evidence.decode(now)
    said = page.locator(".readout").evaluate("(element) => ({...element.dataset})")
    assert np.allclose(json.loads(said["output"]), output[0], rtol=0, atol=1e-6)
    assert float(said["tvd"]) == pytest.approx(tvd(before, output)[0], abs=1e-6)
    assert float(said["jsd"]) == pytest.approx(jsd(own, now)[0], abs=1e-6)
    assert int(said["decision"]) == decide(output)[0]
    flipped = bool(decide(output)[0] != decide(before)[0])
    assert said["flipped"] == str(flipped).lower()
    assert ("flipped" in page.inner_text(".verdict-now")) == flipped
    return weights


def bar(page: Any, item: int) -> Any:
    return page.locator(f".eq-item[data-item='{item}']")


def drag(page: Any, item: int, way: int) -> None:
    bar(page, item).evaluate("(element) => element.scrollIntoView({block: 'end'})")
    box = bar(page, item).locator(".eq-track").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x, y - way * step / 5)
    page.mouse.up()


@pytest.mark.parametrize("kind", KINDS)
def test_every_button_gives_what_the_evidence_says(visit: Any, shown: Any, kind: str) -> None:
    evidence = evidence_of(shown, kind)
    page = open_instance(visit, shown, kind)
    own = normalised(evidence.weights).values
    assert np.allclose(check(page, evidence), own, atol=1e-12)

    page.click("[data-start=uniform]")
    assert np.allclose(check(page, evidence), 1 / len(own))
    page.click("[data-do=permute]")
    first = check(page, evidence)
    page.click("[data-do=permute]")
    assert check(page, evidence) != first
    assert np.allclose(np.sort(first), np.sort(own))
    page.click("[data-start=adversarial]")
    found = shown.runs[kind].results("adversary").row(INSTANCE, named=True)
    assert np.allclose(check(page, evidence), found["weights"], atol=1e-6)
    said = page.locator(".readout").get_attribute("data-jsd")
    assert float(said) == pytest.approx(found["jsd"], abs=1e-5)
    bar(page, 1).click()
    page.click("[data-do=only]")
    assert check(page, evidence) == [float(item == 1) for item in range(len(own))]
    bar(page, 0).click()
    page.click("[data-do=without]")
    rest = np.array([0.0, *own[1:]])
    assert np.allclose(check(page, evidence), rest / rest.sum(), atol=1e-12)
    page.click("[data-start=own]")
    assert np.allclose(check(page, evidence), own, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_dragging_a_bar_moves_its_weight_and_the_rest_in_proportion(visit: Any, shown: Any, kind: str) -> None:
    evidence = evidence_of(shown, kind)
    page = open_instance(visit, shown, kind)
    own = check(page, evidence)
    item = int(np.argmin(own))
    drag(page, item, 40)
    raised = check(page, evidence)
    assert raised[item] > own[item] + 0.05
    others = np.delete(own, item) / (1 - own[item]) * (1 - raised[item])
    assert np.allclose(np.delete(raised, item), others, atol=1e-6)
    drag(page, item, -500)
    assert check(page, evidence)[item] == 0
    drag(page, item, 500)
    assert check(page, evidence)[item] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_keys_do_what_dragging_does(visit: Any, shown: Any, kind: str) -> None:
    evidence = evidence_of(shown, kind)
    page = open_instance(visit, shown, kind)
    own = check(page, evidence)
    slider = bar(page, 0)
    slider.focus()
    for key, expected in [("ArrowUp", own[0] + 0.01), ("PageUp", own[0] + 0.11), ("ArrowDown", own[0] + 0.1)]:
        page.keyboard.press(key)
        assert check(page, evidence)[0] == pytest.approx(min(1, expected), abs=1e-5)
    page.keyboard.press("End")
    assert check(page, evidence)[0] == 1
    page.keyboard.press("Home")
    assert check(page, evidence)[0] == 0
    assert slider.get_attribute("role") == "slider"
    assert float(slider.get_attribute("aria-valuenow")) == 0
    assert "own" in slider.get_attribute("aria-valuetext")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("() => document.activeElement.dataset.item") == "1"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("() => document.activeElement.dataset.item") == "0"


def test_steps_can_be_undone(visit: Any, shown: Any) -> None:
    page = open_instance(visit, shown, "sigmoid")
    own = weights_of(page)
    page.click("[data-start=uniform]")
    drag(page, 0, 40)
    moved = weights_of(page)
    bar(page, 1).focus()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    weights_of(page)
    page.keyboard.press("Control+z")  # one after the other, the presses are one step
    assert weights_of(page) == moved
    page.click("text=Undo")
    assert np.allclose(weights_of(page), 1 / len(own))
    page.click("text=Undo")
    assert weights_of(page) == own
    assert page.is_disabled("text=Undo")


@pytest.mark.parametrize("kind", KINDS)
def test_a_reload_gives_the_same_numbers(visit: Any, shown: Any, kind: str) -> None:
    page = open_instance(visit, shown, kind)
    drag(page, 0, 30)
    drag(page, 3, 20)
    weights = weights_of(page)
    page.wait_for_function("() => document.getElementById('main').dataset.address.includes('w=own')")
    before = page.locator(".readout").evaluate("(element) => ({...element.dataset})")
    page.wait_for_function(
        "(text) => decodeURIComponent(document.getElementById('main').dataset.address).includes(text)",
        arg=before["weights"],
    )
    page.reload()
    page.wait_for_selector(".readout[data-tvd]")
    assert weights_of(page) == weights
    assert page.locator(".readout").evaluate("(element) => ({...element.dataset})") == before


def test_a_link_and_going_back_lead_to_their_weights(visit: Any, shown: Any) -> None:
    page = open_instance(visit, shown, "sigmoid", w="only.1")
    assert weights_of(page)[1] == 1
    page.evaluate("() => heedful.route.change({w: 'uniform'}, {replace: false})")
    page.wait_for_selector("[data-start=uniform][aria-pressed=true]")
    page.go_back()
    page.wait_for_selector("[data-start=uniform][aria-pressed=false]")
    assert weights_of(page)[1] == 1


def test_a_decision_that_flips_is_said_loudly(visit: Any, shown: Any) -> None:
    run = shown.runs["sigmoid"]
    matters = run.results("reach")["can_change"].to_list()
    index = matters.index(True)
    evidence = run.evidence.slice(index, index + 1)
    own = decide(evidence.decode(evidence.weights))[0]
    only = np.eye(len(evidence.weights.values))
    alone = [decide(evidence.decode(Ragged.from_rows([row], dtype=np.float64)))[0] for row in only]
    flips = next(item for item, decision in enumerate(alone) if decision != own)
    page = open_instance(visit, shown, "sigmoid", index, w=f"only.{flips}")
    check(page, evidence)
    assert page.inner_text(".loud") == f"The decision flipped: {run.classes[1 - own]}"
    assert page.locator(".readout.flipped").count() == 1


def test_touch_moves_weights(visit: Any, shown: Any) -> None:
    evidence = evidence_of(shown, "sigmoid")
    page = open_instance(visit, shown, "sigmoid", has_touch=True, viewport={"width": 380, "height": 800})
    own = weights_of(page)
    bar(page, 0).scroll_into_view_if_needed()
    page.evaluate("() => document.querySelector('.eq-item').scrollIntoView({block: 'end'})")
    box = bar(page, 0).locator(".eq-track").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 5):
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - 10 * step}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert check(page, evidence)[0] > own[0] + 0.05


def test_sentences_lie_and_are_dragged_sideways(visit: Any, shown: Any) -> None:
    evidence = evidence_of(shown, "han")
    page = open_instance(visit, shown, "han")
    own = check(page, evidence)
    item = int(np.argmin(own))
    bar(page, item).scroll_into_view_if_needed()
    box = bar(page, item).locator(".eq-track").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 5, steps=4)
    page.mouse.up()
    assert check(page, evidence)[item] > own[item] + 0.05


def points(moved: float) -> str:
    """A distance of outputs as the page says it."""
    number = f"{100 * moved:.1f}" if 100 * moved < 10 else f"{100 * moved:.0f}"
    return "<\xa00.1\xa0points" if 100 * moved < 0.05 else f"{number}\xa0points"


def test_the_invitation_keeps_its_promise(visit: Any, shown: Any) -> None:
    page = open_instance(visit, shown, "sigmoid")
    promised = page.inner_text(".hint")
    page.click("[data-do=try]")
    check(page, evidence_of(shown, "sigmoid"))
    moved = float(page.locator(".readout").get_attribute("data-tvd"))
    flipped = page.locator(".readout").get_attribute("data-flipped") == "true"
    assert ("flips" in promised) if flipped else (f"moves by {points(moved)}" in promised)


def test_long_texts_begin_with_the_words_that_matter_and_hide_none(visit: Any, shown: Any) -> None:
    page = open_instance(visit, shown, "sigmoid")
    script = """() => {
      const count = 3000;
      const own = Float64Array.from({length: count}, (_, item) => (item === 1234 ? 0.5 : 0.5 / (count - 1)));
      const tokens = Array.from(own, (_, item) => `w${item}`);
      const shown = heedful.equaliser.relevant(count, [own]);
      const nothing = () => {};
      const {element} = heedful.equaliser({
        tokens, own, shown, change: nothing, begin: nothing, end: nothing, pick: nothing,
      });
      document.querySelector('.whatif').replaceChildren(element);
      return [element.querySelectorAll('.eq-item').length, Boolean(element.querySelector("[data-item='1234']"))];
    }"""
    bars, heaviest = page.evaluate(script)
    assert bars < 100
    assert heaviest
    gap = page.locator(".eq-gap").last
    start = int(gap.get_attribute("data-gap"))
    gap.click()
    assert bar(page, start).count() == 1
    assert page.evaluate("() => document.activeElement.dataset.item") == str(start)


def test_without_scores_the_page_says_why_and_shows_the_maps(visit: Any, shown: Any) -> None:
    page = visit(shown.page)
    page.wait_for_selector(".page-overview h1")
    page.evaluate("""() => {
      const {maps} = heedful.store;
      const bare = {scores: undefined, whatif: 'Left out here.'};
      heedful.store.maps = async (...asked) => ({...(await maps(...asked)), ...bare});
    }""")
    page.evaluate("(hash) => { location.hash = hash; }", f"#/what-if/{shown.key('sigmoid')}")
    page.wait_for_selector(".page-what-if .absent")
    assert "Left out here." in page.inner_text(".page-what-if .absent")
    assert page.locator(".page-what-if .heat-map").count() >= 1
    assert page.locator(".equaliser").count() == 0


def test_an_instance_that_is_not_there_is_named(visit: Any, shown: Any) -> None:
    page = visit(shown.page, f"#/what-if/{shown.key('sigmoid')}?id=nobody")
    page.wait_for_selector(".page-what-if [role=alert]")
    assert "nobody" in page.inner_text("[role=alert]")


def test_it_opens_on_the_most_striking_instance(visit: Any, shown: Any) -> None:
    run = shown.runs["softmax"]
    page = visit(shown.page, f"#/what-if/{shown.key('softmax')}")
    page.wait_for_selector(".readout[data-tvd]")
    assert page.inner_text(".instance-head h2") == texts(run, run.verdict)[0].id


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["sigmoid", "stories", "han"])
def test_a_narrow_window_shows_everything(visit: Any, shown: Any, kind: str, theme: Any) -> None:
    page = open_instance(visit, shown, kind, viewport={"width": 390, "height": 844}, color_scheme=theme)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    everything = ".whatif button, .whatif .class-bar, .whatif .scale, .whatif .eq-item, .verdict-now, .hint"
    boxes = page.locator(everything).evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect())"
        ".map((box) => [box.left, box.right, box.width, box.height])"
    )
    assert all(left >= 0 and right <= 390 and width > 0 and height > 0 for left, right, width, height in boxes)
    own = shown.runs[kind].classes
    assert page.locator(".readout .class-bar").count() == min(6, len(own))
    assert page.locator(".readout").bounding_box()["height"] < 844 / 2  # it stays in sight, and so do the bars below it
