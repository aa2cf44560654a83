"""The Overview: the question, the answer, the matrix of runs, all tables."""

import re
from typing import Any
from urllib.parse import unquote

import pytest

from heedful.findings.key_figures import key_figures
from heedful.findings.labels import labels
from heedful.report.tables.table import UNKNOWN
from tests.browser.runs import KINDS


@pytest.fixture
def overview(visit: Any, shown: Any) -> Any:
    page = visit(shown.page, "#/overview?open=figures")
    page.wait_for_selector(".matrix")
    return page


def rows_of(page: Any) -> list[str]:
    """The runs of the matrix, from top to bottom."""
    keys: list[str] = page.locator(".matrix [data-run]").evaluate_all("rows => rows.map((row) => row.dataset.run)")
    return keys


def corpora_of(shown: Any) -> dict[str, str]:
    """What the corpora of the runs are called beside each other."""
    return {kind: corpus for kind, (corpus, _) in zip(KINDS, labels([shown.runs[kind] for kind in KINDS]), strict=True)}


def settled(page: Any, pattern: str) -> None:
    """Wait until a view is not only asked for, but shown."""
    page.wait_for_function(
        "pattern => new RegExp(pattern).test(decodeURIComponent(document.getElementById('main').dataset.address))",
        arg=pattern,
    )


def test_the_answer_comes_first_and_every_model_has_one(overview: Any, shown: Any) -> None:
    verdicts = {shown.key(kind): shown.runs[kind].verdict for kind in KINDS}
    heading = overview.locator("h1").inner_text()
    assert heading.startswith("May this attention be shown as an explanation?")
    assert heading.split("\n")[-1].rstrip(".").lower() in {verdict.answer for verdict in verdicts.values()}
    listed = overview.locator(".model-list li")
    assert listed.count() == len(KINDS)
    for row in listed.all():
        key = unquote(row.locator("a").get_attribute("href").partition("of=")[2]).replace("+", " ")
        assert verdicts[key].answer in row.inner_text()


def test_the_figures_are_folded_until_they_are_asked_for(visit: Any, shown: Any) -> None:
    page = visit(shown.page)
    page.wait_for_selector(".hero h1")
    assert not page.locator(".matrix").is_visible()
    page.click("summary:has(#runs)")
    settled(page, "open=figures")
    assert page.locator(".matrix").is_visible()


def test_the_matrix_has_a_row_for_every_run_below_its_corpus(overview: Any, shown: Any) -> None:
    assert sorted(rows_of(overview)) == sorted(shown.key(kind) for kind in KINDS)
    corpora = overview.locator(".matrix .group").all_inner_texts()
    assert sorted(corpora) == sorted(set(corpora_of(shown).values()))


def test_a_figure_orders_the_runs_and_what_is_undefined_comes_last(overview: Any, shown: Any) -> None:
    known = {shown.key(kind): key_figures(shown.runs[kind], draws=1)["irrelevant"] for kind in KINDS}
    defined = sorted((key for key in known if known[key]), key=lambda key: known[key].value)
    overview.click("[data-sort=irrelevant]")
    settled(overview, "sort=-irrelevant$")
    falling = rows_of(overview)
    overview.click("[data-sort=irrelevant]")
    settled(overview, "sort=irrelevant$")
    rising = rows_of(overview)
    values = {key: figure and figure.value for key, figure in known.items()}
    assert [values[key] for key in rising[: len(defined)]] == [values[key] for key in defined]
    assert [values[key] for key in falling[: len(defined)]] == [values[key] for key in defined[::-1]]
    assert {values[key] for key in rising[len(defined) :] + falling[len(defined) :]} == {None}  # a query leaves it open
    assert overview.locator("[aria-sort=ascending]").inner_text().startswith("no effect")
    overview.click("[data-sort=irrelevant]")
    overview.wait_for_selector(".matrix .group")  # a third click undoes it


def test_the_address_restores_order_and_filters(overview: Any, shown: Any) -> None:
    corpus = corpora_of(shown)["sigmoid again"]
    overview.select_option(".tools label:has-text('Corpus') select", corpus)
    overview.fill("input[type=search]", "bilstm seed 1")
    settled(overview, "corpus=.*q=bilstm.seed.1")
    overview.click("[data-sort=jsd]")
    settled(overview, "sort=-jsd")
    assert rows_of(overview) == [shown.key("sigmoid again")]
    overview.reload()
    overview.wait_for_selector(".matrix")
    assert rows_of(overview) == [shown.key("sigmoid again")]
    assert overview.input_value("input[type=search]") == "bilstm seed 1"
    assert overview.input_value(".tools label:has-text('Corpus') select") == corpus
    assert overview.locator("[aria-sort=descending] [data-sort=jsd]").count() == 1
    assert "1 of 6 runs" in overview.locator(".tools").inner_text()


def test_headers_answer_the_keyboard_and_keep_the_focus(overview: Any) -> None:
    overview.focus("[data-sort=jsd]")
    overview.keyboard.press("Enter")
    settled(overview, "sort=-jsd")
    overview.keyboard.press("Space")
    settled(overview, "sort=jsd$")
    assert overview.evaluate("document.activeElement.dataset.sort") == "jsd"


def test_a_row_leads_to_its_run(overview: Any, shown: Any) -> None:
    overview.click(f"[data-run='{shown.key('han')}'] a")
    overview.wait_for_selector(".page-run h1")
    assert shown.key("han") in overview.url
    assert overview.evaluate("document.activeElement.id") == "main"


def test_tables_open_sort_and_stay_open_on_reload(overview: Any, shown: Any) -> None:
    first = overview.locator("[data-table]").first
    name = first.get_attribute("data-table")
    first.locator("summary").click()
    settled(overview, f"open=figures,{name}")
    overview.reload()
    table = overview.locator(f"[data-table='{name}'] table")
    table.wait_for()
    assert table.locator("tbody tr").count() >= len(KINDS)
    numbers = table.locator("th.number [data-sort]").first
    column = numbers.evaluate("button => [...button.closest('tr').children].indexOf(button.closest('th'))")
    numbers.click()
    cells = table.locator(f"tbody tr > :nth-child({column + 1})").all_inner_texts()
    known = [cell for cell in cells if cell != UNKNOWN]
    values = [float(number) for cell in known for number in re.findall(r"^-?[\d.]+", cell.replace(",", ""))]
    assert len(values) == len(known) > 0
    assert values == sorted(values, reverse=True)
    assert cells == known + [UNKNOWN] * (len(cells) - len(known))


def test_every_table_has_its_files(overview: Any, shown: Any) -> None:
    for summary in overview.locator("[data-table] > summary").all():
        summary.click()
    overview.wait_for_function("() => !document.querySelector('[data-table]:not(:has(.table-box))')")
    files = overview.locator("[data-table] .downloads a").evaluate_all(
        "links => links.map((link) => link.getAttribute('href'))"
    )
    assert len(files) >= 3
    assert all((shown.page.parent / file).is_file() for file in files)


def test_what_cannot_be_shown_is_said(overview: Any, shown: Any) -> None:
    refused = overview.locator("section:has(> #refused)").inner_text()
    assert shown.runs["half"].folder.name in refused
    assert "evidence" in refused
    assert "adversary_search was not performed" in overview.locator("section:has(> #missing)").inner_text()


def test_a_damaged_address_says_what_is_wrong(visit: Any, shown: Any) -> None:
    page = visit(shown.page, "#/overview?sort=-nothing&corpus=nowhere&open=none")
    page.wait_for_selector(".matrix")
    assert "0 of 6 runs" in page.locator(".tools").inner_text()
