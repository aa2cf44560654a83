"""The list of instances: order, filters and search against the run's own files; keys, addresses, maps."""

from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest

from heedful.findings.instance_table import columns_of, instance_rows


def table(shown: Any, kind: str) -> pl.DataFrame:
    run = shown.runs[kind]
    return instance_rows(run, [column.name for column in columns_of(run)]).with_row_index("index")


def open_list(visit: Any, shown: Any, kind: str, query: str = "", **options: Any) -> Any:
    page = visit(shown.page, f"#/instances/{shown.key(kind)}{query}", **options)
    page.wait_for_selector(".page-instances .list-row")
    return page


def settle(page: Any, words: str | None = None) -> None:
    """Until the list shows so many instances, and has been drawn."""
    if words is not None:
        page.wait_for_function("(words) => document.querySelector('.status').textContent === words", arg=words)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def order(page: Any) -> list[int]:
    """The visible instances, from the top."""
    rows = page.locator(".list-row:not([hidden])").evaluate_all(
        "(rows) => rows.map((row) => [Number(row.getAttribute('aria-rowindex')), Number(row.dataset.index)])"
    )
    return [index for _, index in sorted(rows)]


def count(page: Any) -> int:
    return int(page.get_attribute(".list", "aria-rowcount")) - 1


def hash_of(page: Any) -> str:
    return str(page.evaluate("() => decodeURIComponent(location.hash)"))


@pytest.mark.parametrize("kind", ["sigmoid", "softmax", "stories", "han"])
@pytest.mark.parametrize("name", ["confidence", "tau_gradient", "permuted_tvd", "jsd", "items"])
def test_sorting_by_a_figure(visit: Any, shown: Any, kind: str, name: str) -> None:
    rows = table(shown, kind)
    page = open_list(visit, shown, kind, f"?sort=-{name}")
    for query, falling in ((f"-{name}", True), (name, False)):
        page.evaluate("(sort) => heedful.route.change({sort})", query)
        settle(page)
        page.wait_for_selector(f".list-header [aria-sort={'descending' if falling else 'ascending'}], .list-header")
        expected = rows.sort(name, "index", descending=[falling, False], nulls_last=True)["index"].to_list()
        found = order(page)
        assert len(found) > 5
        assert found == expected[: len(found)]


def test_headers_sort_in_turn_and_say_so(visit: Any, shown: Any) -> None:
    page = open_list(visit, shown, "sigmoid")
    header = page.locator("[role=columnheader]", has=page.locator("[data-sort=confidence]"))
    seen = []
    for _ in range(3):
        page.click("[data-sort=confidence]")
        settle(page)
        seen.append(header.get_attribute("aria-sort"))
        assert page.evaluate("() => document.activeElement.dataset.sort") == "confidence"
    assert seen == ["descending", "ascending", "none"]
    assert order(page)[:5] == [0, 1, 2, 3, 4]


def test_filters_show_what_polars_finds_and_can_be_taken_away(visit: Any, shown: Any) -> None:
    rows = table(shown, "sigmoid")
    middle = rows["tau_gradient"].median()
    low = float(f"{middle:.3f}")
    page = open_list(visit, shown, "sigmoid", f"?where=tau_gradient:{low}..1;label:1..1")
    expected = rows.filter((pl.col("tau_gradient") >= low) & (pl.col("label") == 1))
    settle(page, f"{len(expected)} of {len(rows)} instances")
    assert order(page) == expected["index"].to_list()[: len(order(page))]
    assert page.input_value("[data-menu=label]") == "1"
    page.click(".filter[data-range=tau_gradient]")
    settle(page, f"{rows.filter(pl.col('label') == 1).height} of {len(rows)} instances")
    assert "tau_gradient" not in hash_of(page)
    page.select_option("[data-menu=label]", "")
    settle(page, f"{len(rows)} instances")
    page.select_option("[data-menu=decision]", "0")
    settle(page, f"{rows.filter(pl.col('decision') == 0).height} of {len(rows)} instances")


def test_errors_only(visit: Any, shown: Any) -> None:
    rows = table(shown, "softmax")
    wrong = rows.filter("wrong")["index"].to_list()
    assert wrong, "the model of this test makes errors"
    page = open_list(visit, shown, "softmax")
    page.check("[data-menu=wrong]")
    settle(page, f"{len(wrong)} of {len(rows)} instances")
    assert order(page) == wrong[: len(order(page))]
    page.uncheck("[data-menu=wrong]")
    settle(page, f"{len(rows)} instances")


def test_a_range_can_be_given_in_numbers(visit: Any, shown: Any) -> None:
    rows = table(shown, "sigmoid")
    high = f"{rows['confidence'].median():.3f}"
    page = open_list(visit, shown, "sigmoid")
    page.click("summary:has-text('Range')")
    page.select_option("[aria-label=Figure]", "confidence")
    page.fill("[aria-label=to]", high)
    page.click(".menu-body button")
    settle(page, f"{rows.filter(pl.col('confidence') <= float(high)).height} of {len(rows)} instances")
    assert f"confidence:..{float(high):g}" in hash_of(page)
    assert f"confidence at most {float(high):g}" in page.inner_text(".filters")


@pytest.mark.parametrize("kind", ["sigmoid", "stories", "han"])
def test_search_finds_what_polars_finds(visit: Any, shown: Any, kind: str) -> None:
    evidence = shown.runs[kind].evidence
    tokens = evidence.words if evidence.words is not None else evidence.tokens
    texts = [" ".join(map(str, row)) for row in tokens]
    if evidence.query is not None:
        texts = [f"{text}\n{' '.join(map(str, query))}" for text, query in zip(texts, evidence.query, strict=True)]
    frame = pl.DataFrame({"id": list(evidence.ids), "text": texts}).with_row_index("index")
    word = str(tokens[7][2])
    phrase = f"{tokens[3][0]} {tokens[3][1]}"
    page = open_list(visit, shown, kind)
    for asked in (word.upper(), phrase, str(evidence.ids[4]), "no text has this"):
        page.fill(".search", asked)
        found = frame.filter(
            pl.col("text").str.to_lowercase().str.contains(asked.lower(), literal=True)
            | pl.col("id").str.to_lowercase().str.contains(asked.lower(), literal=True)
        )["index"].to_list()
        few = len(found) < len(frame)
        settle(page, f"{len(found)} of {len(frame)} instances" if few else f"{len(frame)} instances")
        assert order(page) == found[: len(order(page))]
        assert count(page) == len(found)
    assert page.is_visible(".empty")


def test_search_is_part_of_the_address_and_marked_in_the_list(visit: Any, shown: Any) -> None:
    word = str(shown.runs["sigmoid"].evidence.tokens[5][3])
    page = open_list(visit, shown, "sigmoid", f"?q={quote(word)}")
    page.wait_for_selector(".list-row mark")
    assert page.inner_text(".list-row mark >> nth=0").lower() == word.lower()
    assert page.input_value(".search") == word
    page.reload()
    page.wait_for_selector(".list-row mark")
    assert page.input_value(".search") == word


def test_a_search_that_is_given_up_leaves_no_trace(visit: Any, shown: Any) -> None:
    page = open_list(visit, shown, "sigmoid")
    settle(page, "60 instances")
    page.evaluate("""() => {
      heedful.search.find = (key, words, {progress}) => {
        progress(1, 3);
        return new Promise(() => {});
      };
    }""")
    page.fill(".search", "slow")
    settle(page, "Reading texts: 1 of 3 parts …")
    assert page.is_visible(".status-line progress")
    page.fill(".search", "")
    settle(page, "60 instances")
    assert not page.is_visible(".status-line progress")


def test_a_row_opens_beside_the_list_and_a_link_opens_it_again(visit: Any, shown: Any) -> None:
    evidence = shown.runs["sigmoid"].evidence
    page = open_list(visit, shown, "sigmoid", "?sort=-jsd")
    page.click(".list-row[aria-rowindex='4']")
    page.wait_for_selector("article.instance")
    index = int(page.get_attribute(".list-row[aria-selected=true]", "data-index"))
    assert page.get_attribute("article.instance", "data-id") == evidence.ids[index]
    page.reload()
    page.wait_for_selector("article.instance")
    assert page.get_attribute("article.instance", "data-id") == evidence.ids[index]
    assert page.get_attribute(".list-row[aria-selected=true]", "aria-rowindex") == "4"
    page.click("[aria-label='Next instance']")
    page.wait_for_selector(".list-row[aria-selected=true][aria-rowindex='5']")
    page.click("[aria-label='Previous instance']")
    page.wait_for_selector(".list-row[aria-selected=true][aria-rowindex='4']")
    page.go_back()
    page.wait_for_selector(".invitation")


def test_keys_move_through_the_list(visit: Any, shown: Any) -> None:
    evidence = shown.runs["sigmoid"].evidence
    page = open_list(visit, shown, "sigmoid")
    page.focus(".list")

    def active() -> int:
        settle(page)
        named = page.get_attribute(".list", "aria-activedescendant")
        return int(page.get_attribute(f"#{named}", "data-index"))

    page.keyboard.press("ArrowDown")
    assert active() == 0
    page.keyboard.press("ArrowDown")
    assert active() == 1
    page.keyboard.press("ArrowUp")
    assert active() == 0
    page.keyboard.press("PageDown")
    assert active() > 3
    page.keyboard.press("End")
    assert active() == len(evidence) - 1
    page.keyboard.press("Enter")
    page.wait_for_selector("article.instance")
    assert page.get_attribute("article.instance", "data-id") == evidence.ids[len(evidence) - 1]
    page.keyboard.press("Home")
    assert active() == 0


def test_columns_by_choice(visit: Any, shown: Any) -> None:
    page = open_list(visit, shown, "sigmoid")
    before = page.locator("[role=columnheader]").count()
    page.click("summary:has-text('Columns')")
    page.check("[data-column=max_attention]")
    page.wait_for_selector("[data-sort=max_attention]")
    assert page.locator("[role=columnheader]").count() == before + 1
    cells = page.locator(".list-row >> nth=0").locator("[role=gridcell]").count()
    assert cells == before + 1
    page.uncheck("[data-column=label]")
    page.wait_for_selector("[data-sort=label]", state="detached")


@pytest.mark.parametrize("kind", ["sigmoid", "softmax", "stories", "flan", "han"])
def test_an_instance_is_told_as_in_the_terminal(visit: Any, shown: Any, kind: str) -> None:
    from heedful.report.heatmaps.instance import read_instance
    from heedful.report.heatmaps.terminal import heaviest, maps

    run = shown.runs[kind]
    known = read_instance(run, run.evidence.ids[1])
    page = open_list(visit, shown, kind, f"?id={known.id}")
    page.wait_for_selector("article.instance .heat-map")
    headline = page.inner_text(".headline")
    assert f"decided {known.decision} (p = {known.probability:.3f})" in headline
    assert ("correct" in headline) == (known.label == known.decision)
    own = page.locator(".heat-map[data-map=attention]")
    assert own.locator(".tok").count() == len(known.tokens)
    marked = own.locator(".tok-marked").evaluate_all("(all) => all.map((one) => Number(one.dataset.item))")
    assert marked == sorted(maps(known)[0].marked)
    assert own.locator(".heat-top").inner_text() == heaviest(known, maps(known)[0]).replace("most attended", "most")
    truth = own.locator(".tok-truth").evaluate_all("(all) => all.map((one) => Number(one.dataset.item))")
    assert truth == [item for item, decides in enumerate(known.truth or []) if decides]
    assert "JSD" not in "\n".join(page.locator(".note").all_inner_texts())  # the field's terms are folded
    notes = "\n".join(page.locator(".note").all_text_contents())
    assert f"TVD {known.adversarial.tvd:.3f}" in notes
    assert f"JSD {known.adversarial.jsd:.3f}" in notes
    share = 100 * known.adversarial.jsd / np.log(2)
    told = "over 99" if 99 < share < 99.99 else f"{share:.0f}"
    assert f"The map is {told}\xa0% of the largest possible difference away" in notes
    if known.flip_set is not None and known.flip_set.decision is not None:
        assert f"flips the decision to {known.flip_set.decision}" in notes
    if known.query is not None:
        assert page.inner_text(".asked") == f"asked: {' '.join(known.query)}"


def test_maps_can_be_chosen_and_show_their_values(visit: Any, shown: Any) -> None:
    run = shown.runs["sigmoid"]
    page = open_list(visit, shown, "sigmoid", f"?id={run.evidence.ids[1]}")
    page.wait_for_selector(".heat-map")
    page.check("[data-choice=difference]")
    page.check("[data-choice=leave_one_out]")
    page.uncheck("[data-choice=adversarial]")
    shown_maps = page.locator(".heat-map").evaluate_all("(all) => all.map((one) => one.dataset.map)")
    assert shown_maps == ["attention", "difference", "gradient", "leave one out"]
    signs = page.locator(".heat-map[data-map=difference]")
    assert signs.locator(".tok-plus").count() >= 1
    assert signs.locator(".tok-minus").count() >= 1
    weights = run.evidence.weights[1]
    page.locator(".heat-map[data-map=attention] .tok[data-item='3']").hover()
    tip = page.inner_text(".heat-map[data-map=attention] .heat-tip")
    assert f"{weights[3]:.3f}" in tip or "e-" in tip
    page.mouse.move(0, 0)
    page.focus(".heat-map[data-map=attention] .heat")
    page.keyboard.press("ArrowDown")
    assert page.locator(".heat-map[data-map=attention] .tok-here").get_attribute("data-item") == str(weights.argmax())


def test_all_figures_of_an_instance_have_their_meaning(visit: Any, shown: Any) -> None:
    row = table(shown, "sigmoid").row(1, named=True)
    page = open_list(visit, shown, "sigmoid", f"?id={shown.runs['sigmoid'].evidence.ids[1]}")
    page.click(".all-figures summary")
    assert page.inner_text("[data-figure=jsd] .number") == f"{row['jsd']:.3f}"
    assert "nearly the same" in page.inner_text("[data-figure=jsd]")


def test_the_items_can_be_taken_away_as_csv(visit: Any, shown: Any, tmp_path: Any) -> None:
    evidence = shown.runs["sigmoid"].evidence
    page = open_list(visit, shown, "sigmoid", f"?id={evidence.ids[1]}")
    with page.expect_download() as waiting:
        page.click("text=Download CSV")
    waiting.value.save_as(tmp_path / "items.csv")
    frame = pl.read_csv(tmp_path / "items.csv")
    assert frame["token"].to_list() == evidence.tokens[1].tolist()
    assert frame["weights"].to_list() == pytest.approx(evidence.weights[1].tolist(), abs=1e-7)


def test_an_instance_that_is_not_there_is_named(visit: Any, shown: Any) -> None:
    page = open_list(visit, shown, "sigmoid", "?id=nobody")
    assert "nobody" in page.inner_text(".side [role=alert]")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_window_has_the_instance_below_the_list(visit: Any, shown: Any, theme: Any) -> None:
    window = {"viewport": {"width": 380, "height": 800}, "color_scheme": theme}
    page = open_list(visit, shown, "flan", **window)
    page.click(".list-row >> nth=1")
    page.wait_for_selector("article.instance")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 380
    below = page.locator("article.instance").bounding_box()["y"]
    assert below > page.locator(".list").bounding_box()["y"]
