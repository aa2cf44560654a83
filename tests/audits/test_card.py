"""The card: one page, nothing to run, and no text that gets out of its place."""

import json
from html.parser import HTMLParser
from pathlib import Path

import polars as pl

import heedful
from heedful.audits.overview import advice, caveats, costs, examples, facts
from tests.audits.made import planted
from tests.making import as_older

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Which tags and attributes a page has, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_card_tells_what_the_verdict_follows_from(audited: heedful.Audit, tmp_path: Path) -> None:
    page = Tags(audited.report(tmp_path / "mine.html").read_text(encoding="utf-8"))
    verdict = audited.verdict
    assert f"May this attention be shown as an explanation? {verdict.answer.capitalize()}." in page.text
    for criterion in verdict.criteria:
        shown = bool(criterion.decisive or criterion.n)
        assert (criterion.question in page.text) == shown
        assert not shown or criterion.display()["threshold"] in page.text
    assert page.tags.count("circle") == sum(criterion.value is not None for criterion in verdict.criteria)
    for words in (*caveats(audited), *advice(audited), *(value for _, value in facts(audited))):
        assert words in page.text
    assert {"erasure", "evidence"} <= {cost.stage for cost in costs(audited)}
    assert next(example.title for example in examples(audited)) == "most trustworthy"
    assert audited.report(tmp_path) == tmp_path / "card.html"


def test_examples_are_texts_that_all_tests_were_performed_on(audited: heedful.Audit) -> None:
    tested = set(audited.results("erasure")["id"])
    ranks = {"yes": 0, "with caution": 1, "no": 2, "not determined": 3}
    shown = examples(audited)
    assert {example.id for example in shown} <= tested
    order = [ranks[example.answer] for example in shown]
    assert order == sorted(order)
    assert abs(sum(word.weight for word in shown[0].words) - 1) < 1e-5


def test_nothing_on_the_card_can_run_or_load_anything(tmp_path: Path) -> None:
    subject = planted()
    subject.about["name"] = subject.about["map"] = f'"{HOSTILE}'
    subject.classes = (f"{HOSTILE}", "'\"><img src=x onerror=alert(1)>")
    texts = [f"{HOSTILE} for0-1 \u202eevil \x1b[31m", "word-1 ' \" onload=alert(1) for1-2", "<b>bold</b> for0-3 &amp;"]
    ids = [f"<i>{row}" for row in range(3)]
    done = heedful.audit(subject, texts=texts, ids=ids, labels=[0, 1, 0], sample=0, out=tmp_path)
    for page in (done.report(tmp_path / "card.html").read_text(encoding="utf-8"), done._repr_html_()):
        parsed = Tags(page)
        assert not {"script", "img", "link", "iframe", "b", "i", "object"} & set(parsed.tags)
        assert not [name for name in parsed.attributes if name.startswith("on") or name in ("src", "href")]
        assert HOSTILE not in page
        assert "\u202e" not in page
        assert "\x1b" not in page
    assert "&lt;script&gt;" in (tmp_path / "card.html").read_text(encoding="utf-8")


def test_an_unfinished_audit_is_called_so(audited: heedful.Audit, tmp_path: Path) -> None:
    copy = audited.save(tmp_path / "copy")
    (copy.folder / "verdict.json").unlink()
    assert "unfinished" in repr(copy)
    assert "not finished" in copy._repr_html_()


def test_a_notebook_shows_verdict_and_criteria(audited: heedful.Audit) -> None:
    assert audited.verdict.words in Tags(audited._repr_html_()).text


def test_instances_that_were_tested_have_an_answer_each(audited: heedful.Audit) -> None:
    tested = audited.results("highlights")["id"].to_list()
    assert sorted(audited.verdict.instances["id"]) == sorted(tested)
    assert audited.verdict.instances.schema["reasons"] == pl.List(pl.String)


def test_an_audit_that_an_earlier_version_judged_is_judged_again(audited: heedful.Audit, tmp_path: Path) -> None:
    """Its criteria are gone, and no words were deleted from its texts."""
    old = audited.save(tmp_path / "old")
    as_older(old.folder)
    criteria = [{"name": "lead", "question": "Do the top-attended words matter more?", "value": 0.4, "outcome": "met"}]
    whole = {"answer": "yes", "words": "Yes.", "level": "input", "criteria": criteria, "limits": [], "better": None}
    (old.folder / "verdict.json").write_text(json.dumps(whole))
    pl.read_parquet(old.folder / "signals.parquet").select("id", lead=pl.lit(0.4)).write_parquet(
        old.folder / "signals.parquet"
    )
    for gone in ("instances.parquet", "instances.csv", "results/highlights.parquet"):
        (old.folder / gone).unlink()
    manifest = old.manifest
    del manifest["stages"]["highlights"]
    (old.folder / "manifest.json").write_text(json.dumps(manifest))
    loaded = heedful.Audit.load(old.folder)
    assert loaded.verdict.level == "attention"
    assert loaded.verdict.answer in ("no", "not determined")
    shuffling = {criterion.name: criterion.value for criterion in audited.verdict.criteria}["shuffling"]
    assert {criterion.name: criterion.value for criterion in loaded.verdict.criteria}["shuffling"] == shuffling
    page = Tags(loaded.report(tmp_path / "card.html").read_text()).text
    assert "An earlier version performed these tests" in page


def test_a_deleted_table_of_instances_is_missed(audited: heedful.Audit, tmp_path: Path) -> None:
    copy = audited.save(tmp_path / "copy")
    (copy.folder / "instances.parquet").unlink()
    assert not copy.done("verdict")
