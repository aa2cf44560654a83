"""The story on the first page: the answer, two maps and the bar between them, how often, what to show instead."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from heedful.evidence import decide
from heedful.experiments.view import normalised
from heedful.findings.gathering import AuditedRun, gather
from heedful.findings.instance_table import instance_rows
from heedful.findings.story import texts
from heedful.measures import jsd, tvd
from heedful.ragged import Ragged
from heedful.report.site.writer import write_site
from heedful.runs.directory import Run
from tests.browser import stories


class Stories(NamedTuple):
    """A report of runs and audits with different answers."""

    page: Path
    runs: dict[str, Run]  # by kind

    def key(self, kind: str) -> str:
        return self.runs[kind].folder.name


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Stories:
    folder = tmp_path_factory.mktemp("stories")
    folders = {kind: stories.audited(kind, folder / "audits") for kind in ("faithful", "distracted")}
    for name in ("without_adversary", "untested", "recorded", "single_items"):
        folders[name] = getattr(stories, name)(folder / "runs" / name).folder
    gathered = gather(list(folders.values()))
    site = write_site(gathered, folder / "site", formats=[])
    return Stories(site.page, dict(zip(folders, gathered.runs, strict=True)))


def open_story(visit: Any, page: Path, key: str, query: str = "", **options: Any) -> Any:
    opened = visit(page, f"#/overview?of={key}{query}", **options)
    opened.wait_for_selector(".hero h1")
    return opened


def headings(page: Any) -> list[str]:
    return list(page.locator(".step h2").all_inner_texts())


def slide(page: Any, share: int) -> None:
    """Move the bar between the maps to a percentage."""
    page.locator(".pair-bar").evaluate(
        "(bar, share) => { bar.value = share; bar.dispatchEvent(new Event('input')); }", share
    )


def weights_drawn(page: Any, map: int) -> list[float]:
    """The shares of the largest weight, as the words of a map of the hero are shaded."""
    read = "(all) => all.map((one) => Number(one.style.getPropertyValue('--share')))"
    return list(page.locator(".hero .pair-map").nth(map).locator("[data-item]").evaluate_all(read))


@pytest.mark.parametrize(
    ("kind", "answer", "last"),
    [
        ("faithful", "Yes.", "So this map may be shown."),
        ("distracted", "No.", "Here is what to show instead."),
        ("without_adversary", None, None),
        ("untested", "Not determined.", "Here is what is missing."),
    ],
)
def test_the_answer_is_the_verdict_and_comes_first(
    visit: Any, told: Stories, kind: str, answer: str | None, last: str | None
) -> None:
    verdict = told.runs[kind].verdict
    page = open_story(visit, told.page, told.key(kind), viewport={"width": 1280, "height": 800})
    word = page.inner_text(".answer-word")
    assert word.rstrip(".").lower() == verdict.answer
    assert answer in (None, word)
    assert last in (None, headings(page)[-1])
    assert verdict.words.endswith(page.inner_text(".hero-reason")[1:])
    for seen in (".answer-word", ".hero-reason", ".hero .pair-map >> nth=0"):
        box = page.locator(seen).bounding_box()
        assert box["y"] + box["height"] < 800  # above the fold


@pytest.mark.parametrize("kind", ["sigmoid", "softmax", "stories", "han"])
def test_the_bar_leads_from_attention_to_the_other_map_and_the_output_follows(
    visit: Any, shown: Any, kind: str
) -> None:
    run = shown.runs[kind]
    text = texts(run, run.verdict)[0]
    evidence = run.evidence.slice(text.index, text.index + 1)
    own = normalised(evidence.weights)
    other = np.array(run.results("adversary").row(text.index, named=True)["weights"])
    page = open_story(visit, shown.page, shown.key(kind))
    for share in (100, 0, 35):
        slide(page, share)
        weights = (1 - share / 100) * own.values + share / 100 * other / other.sum()
        output = evidence.decode(Ragged.from_rows([weights], dtype=np.float64))
        said = page.locator(".hero .outcome").evaluate("(element) => ({...element.dataset})")
        assert float(said["tvd"]) == pytest.approx(tvd(evidence.decode(own), output)[0], abs=1e-5)
        assert int(said["decision"]) == decide(output)[0]
        largest = max(own.values.max(), (other / other.sum()).max())
        assert np.allclose(weights_drawn(page, 1), weights / largest, atol=2e-3)
        assert np.allclose(weights_drawn(page, 0), own.values / largest, atol=2e-3)
        apart = 100 * jsd(own, Ragged.from_rows([weights], dtype=np.float64))[0] / np.log(2)
        caption = page.locator(".hero .pair-map").nth(1).locator("figcaption").inner_text()
        told = "over 99" if 99 < apart < 99.99 else "under 1" if 0 < apart < 1 else f"{apart:.0f}"
        assert f"{told}\xa0% of the largest possible difference" in caption


def test_the_bar_answers_the_keyboard_and_says_what_it_does(visit: Any, shown: Any) -> None:
    page = open_story(visit, shown.page, shown.key("softmax"))
    page.focus(".pair-bar")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert page.input_value(".pair-bar") == "97"
    assert page.get_attribute(".pair-bar", "aria-valuetext").startswith("97 % of the way.")


def test_the_word_that_decides_is_outlined(visit: Any, shown: Any) -> None:
    run = shown.runs["sigmoid"]
    text = texts(run, run.verdict)[0]
    truth = run.evidence.truth
    assert truth is not None
    page = open_story(visit, shown.page, shown.key("sigmoid"))
    read = "(all) => all.map((one) => Number(one.dataset.item))"
    outlined = page.locator(".hero .pair-map").first.locator(".tok-deciding").evaluate_all(read)
    assert outlined == np.flatnonzero(truth[text.index]).tolist() != []


def test_where_attention_is_faithful_the_other_map_changes_the_output(visit: Any, told: Stories) -> None:
    run = told.runs["faithful"]
    text = texts(run, run.verdict)[0]
    assert text.other == "unattended"
    assert text.items
    page = open_story(visit, told.page, told.key("faithful"))
    assert "The model does not care." not in headings(page)
    moved = float(page.get_attribute(".hero .outcome", "data-tvd"))
    assert moved > 0.05
    evidence = run.evidence.slice(text.index, text.index + 1)
    left = evidence.weights.values.astype(np.float64)
    left[text.items] = 0
    output = evidence.decode(Ragged.from_rows([left / left.sum()], dtype=np.float64))
    assert moved == pytest.approx(tvd(evidence.decode(normalised(evidence.weights)), output)[0], abs=1e-5)
    assert "better" not in page.locator(".step").last.inner_text()


def test_where_attention_misleads_the_model_does_not_care(visit: Any, told: Stories) -> None:
    page = open_story(visit, told.page, told.key("distracted"))
    assert headings(page)[:4] == [
        "Here is the map.",
        "Here is another.",
        "The model does not care.",
        "Here is how often.",
    ]
    assert float(page.get_attribute(".hero .outcome", "data-tvd")) <= 0.01 + 1e-6
    better = told.runs["distracted"].verdict.better
    assert better is not None
    last = page.locator(".step").last
    assert last.locator("input:checked").get_attribute("value") == better.method
    last.locator("input[value=attention]").check()
    assert last.locator(".heat-map").get_attribute("data-map") == "attention"


@pytest.mark.parametrize("change", [0, 1, 2, 3])
def test_how_often_counts_texts_and_leads_to_them(visit: Any, shown: Any, change: int) -> None:
    run = shown.runs["softmax"]
    page = open_story(visit, shown.page, shown.key("softmax"))
    options = page.locator(".often select option").evaluate_all("(all) => all.map((one) => one.value)")
    names = ["top", "uniform", "shuffled", "any"]
    column = dict(zip(names, ["top_flips", "uniform_changed", "permuted_changed", "attention_matters"], strict=True))
    assert set(names) <= set(options)
    page.select_option(".often select", names[change])
    values = instance_rows(run, [column[names[change]]]).to_series(1).cast(float)
    kept = int((values == 0).sum())
    assert f"same decision: {kept} of {len(values)}" in page.inner_text(".waffle-legend")
    assert page.locator(".waffle > span").count() == 100
    squares = page.locator(".waffle .cell-kept").count()
    assert abs(squares - 100 * kept / len(values)) < 1.01
    if kept:
        page.locator(".waffle-legend a").first.click()
        page.wait_for_selector(".page-instances h1")
        page.wait_for_function(
            "count => document.querySelector('.status').textContent.startsWith(`${count} `)", arg=str(kept)
        )


def test_any_attention_can_be_tried(visit: Any, shown: Any) -> None:
    page = open_story(visit, shown.page, shown.key("softmax"))
    outcome = page.locator(".trying .outcome")
    page.click(".trying [data-start=own]")
    assert float(outcome.get_attribute("data-tvd")) == 0
    item = page.locator(".trying .eq-item").first
    item.focus()
    page.keyboard.press("End")
    assert float(item.get_attribute("aria-valuenow")) == 1
    assert float(outcome.get_attribute("data-tvd")) > 0


def test_other_texts_and_other_models_are_in_the_address(visit: Any, told: Stories) -> None:
    page = open_story(visit, told.page, told.key("distracted"))
    words = "document.querySelector('.hero .strip-text').textContent"
    first = page.evaluate(words)
    page.click("[data-do=next-text]")
    page.wait_for_function(f"(before) => {words} !== before", arg=first)
    assert "text=1" in page.url
    second = page.evaluate(words)
    page.reload()
    page.wait_for_selector(".hero .strip-text")
    assert page.evaluate(words) == second
    page.select_option(".models select", told.key("faithful"))
    page.wait_for_function("() => document.querySelector('.answer-word').textContent === 'Yes.'")
    assert "text=" not in page.url
    page.click(".tally a:has-text('No:')")
    page.wait_for_function("() => document.querySelector('.answer-word').textContent === 'No.'")


def test_without_adversarial_attention_uniform_attention_is_shown(visit: Any, told: Stories) -> None:
    run = told.runs["without_adversary"]
    text = texts(run, run.verdict)[0]
    assert text.other == "uniform"
    page = open_story(visit, told.page, told.key("without_adversary"))
    assert "All words alike" in page.locator(".hero .pair-map").nth(1).inner_text()
    known = run.results("substitution").row(text.index, named=True)
    assert float(page.get_attribute(".hero .outcome", "data-tvd")) == pytest.approx(known["uniform_tvd"], abs=1e-5)


def test_what_cannot_be_computed_is_told_as_it_was_measured(visit: Any, told: Stories) -> None:
    run = told.runs["recorded"]
    text = texts(run, run.verdict)[0]
    page = open_story(visit, told.page, told.key("recorded"))
    assert page.locator(".pair-bar").count() == 0
    assert page.locator(".hero .pair-map").count() == 2
    words = page.locator(".hero .outcome-words").inner_text()
    assert run.classes[run.results("adversary").row(text.index, named=True)["adversary_decision"]] in words
    assert "Measured when the model was tested" in words


@pytest.mark.parametrize("kind", ["untested", "single_items"])
def test_where_there_is_no_other_map_only_the_model_s_own_is_shown(visit: Any, told: Stories, kind: str) -> None:
    page = open_story(visit, told.page, told.key(kind))
    assert page.locator(".hero .pair-map").count() == 1
    assert "Here is another." not in headings(page)
    assert headings(page)[0] == "Here is the map."


def test_the_answer_of_an_audit_leads_to_its_card(visit: Any, told: Stories) -> None:
    page = open_story(visit, told.page, told.key("faithful"))
    card = page.locator(".hero a:has-text('Printable card')").get_attribute("href")
    file = told.page.parent / card
    assert "Yes" in file.read_text(encoding="utf-8")
    assert "<script" not in file.read_text(encoding="utf-8")
    page.click(".hero a:has-text('Why')")
    page.wait_for_selector(".page-run h1")
    assert page.inner_text("h1") == "Audit of faithful, none on faithful texts.csv"
    assert page.locator(".verdict a:has-text('Printable card')").get_attribute("href") == card


def test_titles_are_no_paths(visit: Any, told: Stories) -> None:
    page = open_story(visit, told.page, told.key("faithful"))
    titles = page.locator(".models option").all_inner_texts()
    assert len(titles) == len(told.runs)
    assert not any("/" in title or "\\" in title for title in titles)


def test_cards_of_striking_texts_have_heat_maps(visit: Any, told: Stories) -> None:
    page = visit(told.page, f"#/run/{told.key('distracted')}")
    page.wait_for_selector(".page-run h1")
    first = page.locator(".card").first
    first.scroll_into_view_if_needed()
    first.locator("[data-card-map] .tok").first.wait_for()
    assert first.locator("[data-card-map]").count() == 2
    shares = first.locator("[data-card-map=attention] .tok").evaluate_all(
        "(all) => all.map((one) => Number(one.style.getPropertyValue('--share')))"
    )
    assert max(shares) > 0.1
    assert "of the largest possible difference" in first.inner_text()


@pytest.mark.parametrize("width", [390, 768])
def test_the_story_fits_a_narrow_window(visit: Any, shown: Any, told: Stories, width: int) -> None:
    for page_file, key in ((shown.page, shown.key("han")), (told.page, told.key("faithful"))):
        page = open_story(visit, page_file, key, viewport={"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_report_without_two_runs_to_compare_offers_no_comparison(visit: Any, told: Stories, tmp_path: Path) -> None:
    run = told.runs["faithful"]
    assert isinstance(run, AuditedRun)
    site = write_site(gather([run.origin]), tmp_path / "site", formats=[])
    page = open_story(visit, site.page, told.key("faithful"))
    assert page.locator("#pages a").all_inner_texts() == ["Overview", "Run", "Instances", "What if"]
    assert page.locator(".models").count() == 0
