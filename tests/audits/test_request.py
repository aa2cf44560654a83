"""`heedful.audit`: from a subject and texts to a verdict."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import heedful
from benchmarks.calibration.planted import Planted
from heedful.adapters.subject import Padded, Reading
from heedful.audits import test_stages as testing
from heedful.audits.overview import caveats
from heedful.audits.plan import DataFacts
from heedful.audits.request import Request
from heedful.errors import BadConfig, BadInput, BadRows, NotFound
from tests.audits.made import TEXTS, Short, assert_same, labels_of, planted


def test_an_audit_has_a_verdict_and_all_that_it_follows_from(audited: heedful.Audit) -> None:
    assert audited.verdict.answer != "no"  # its attention is faithful by construction
    assert audited.metrics["accuracy"] == 1.0
    assert len(audited.evidence) == len(TEXTS)
    assert {"erasure", "permutation", "substitution", "correlation", "curves"} <= set(audited.tests)
    assert audited.results("substitution")["label"].null_count() == 0
    assert audited.signals["id"].to_list() == [f"row-{row}" for row in range(1, len(TEXTS) + 1)]
    assert set(audited.importance["measure"]) >= {"gradient", "gradient_input", "leave_one_out"}
    for cost in audited.manifest["stages"].values():
        assert cost["seconds"] >= 0
    assert audited.manifest["stages"]["erasure"]["readings"] > 30


def test_costly_tests_are_of_the_sample_and_cheap_ones_of_all(audited: heedful.Audit) -> None:
    assert len(audited.results("erasure")) == 30
    assert len(audited.results("substitution")) == len(TEXTS)


def test_the_same_options_are_the_same_directory_and_nothing_is_done_again(
    audited: heedful.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = planted()
    labels = labels_of(subject, TEXTS)
    monkeypatch.setattr(type(subject), "forward", lambda *_, **__: pytest.fail("the model was read again"))
    again = heedful.audit(subject, texts=TEXTS, labels=labels, sample=30, out=audited.folder.parent)
    assert again.folder == audited.folder


def test_another_model_or_other_texts_are_another_directory(tmp_path: Path) -> None:
    names = set()
    for subject, texts in ((planted(), TEXTS), (planted(seed=1), TEXTS), (planted(), TEXTS[1:])):
        options, _ = Request(subject=subject, texts=texts).resolved()
        names.add(options.name)
    assert len(names) == 3


def test_results_do_not_depend_on_the_size_of_parts(
    audited: heedful.Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("BATTERY_PART", (7, 40)), ("EXACT_PART", (9, 1 << 20))):
        monkeypatch.setattr(testing, name, size)
    monkeypatch.setattr("heedful.audits.evidence_stage.ROWS", 11)
    monkeypatch.setattr("heedful.audits.texts_stage.ROWS", 3)
    monkeypatch.setattr("heedful.audits.test_stages.ROWS", 10)
    subject = planted()
    other = heedful.audit(subject, texts=TEXTS, labels=labels_of(subject, TEXTS), sample=30, out=tmp_path)
    assert_same(audited, other)


def test_an_audit_is_saved_and_loaded(audited: heedful.Audit, tmp_path: Path) -> None:
    copy = audited.save(tmp_path / "copy")
    loaded = heedful.Audit.load(tmp_path / "copy")
    assert loaded.options == audited.options
    assert_same(copy, loaded)
    assert loaded.verdict.to_json() == audited.verdict.to_json()
    assert_frame_equal(loaded.verdict.instances, audited.verdict.instances)
    assert loaded.verdict.answer in repr(loaded)
    with pytest.raises(BadInput, match="exists already"):
        audited.save(tmp_path / "copy")
    with pytest.raises(NotFound, match="not an audit directory"):
        heedful.Audit.load(tmp_path)
    with pytest.raises(BadConfig, match="did you mean 'erasure'"):
        loaded.results("erasur")


def test_a_model_with_scores_may_be_tested_by_readings_all_the_same(audited: heedful.Audit, tmp_path: Path) -> None:
    subject = planted()
    read = heedful.audit(subject, texts=TEXTS, sample=8, exact=False, out=tmp_path)
    assert read.evidence.scores is None
    assert audited.evidence.scores is not None
    both = read.results("substitution").join(audited.results("substitution"), on="id")
    assert len(both) == 8
    assert (both["uniform_tvd"] - both["uniform_tvd_right"]).abs().max() < 1e-5
    assert len(read.results("permutation")) == 8


def test_reading_an_audit_needs_no_torch(audited: heedful.Audit) -> None:
    code = (
        "import sys, heedful\n"
        f"audit = heedful.Audit.load({str(audited.folder)!r})\n"
        "audit.verdict, audit.signals, audit.evidence, audit._repr_html_(), audit.tests\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_texts_longer_than_the_model_reads_are_refused_or_cut(tmp_path: Path) -> None:
    subject = Short(planted().plan)
    long = sum(len(text.split()) > 6 for text in TEXTS)
    first = next(row for row, text in enumerate(TEXTS, start=1) if len(text.split()) > 6)
    with pytest.raises(BadInput, match=rf"text {first}: .* 6 at most \({long} such texts in all\).*--truncate"):
        heedful.audit(subject, texts=TEXTS, out=tmp_path)
    assert not any(tmp_path.iterdir())
    cut = heedful.audit(subject, texts=TEXTS, truncate=True, sample=5, out=tmp_path)
    assert cut.manifest["data"] == {"texts": len(TEXTS), "skipped": 0, "truncated": long}
    assert cut.evidence.tokens.lengths.max() == 6
    assert list(cut.evidence.tokens[0]) == TEXTS[0].split()[:6]


def test_empty_texts_are_refused_or_skipped(tmp_path: Path) -> None:
    texts = [*TEXTS[:4], "  ", *TEXTS[4:6]]
    with pytest.raises(BadInput, match=r"text 5: .*empty.*--skip-empty"):
        heedful.audit(planted(), texts=texts, out=tmp_path)
    done = heedful.audit(planted(), texts=texts, skip_empty=True, sample=3, out=tmp_path)
    assert done.manifest["data"] == {"texts": 6, "skipped": 1, "truncated": 0}
    assert "row-5" not in done.evidence.ids


def test_texts_without_a_label_are_refused_together_or_skipped(tmp_path: Path) -> None:
    subject, texts = planted(), [*TEXTS[:4], "  ", *TEXTS[4:6]]
    labels: list[str | None] = [subject.classes[0]] * 7
    labels[1] = labels[2] = ""
    labels[4] = None
    with pytest.raises(BadRows) as error:
        heedful.audit(subject, texts=texts, labels=labels, out=tmp_path)
    assert str(error.value).splitlines() == [
        "texts: 3 rows cannot be used",
        "  text 2: there is no label",
        "  text 3: there is no label",
        "  text 5: there is neither text nor label",
        "remove the row or fill it in; --skip-unlabelled leaves out 3 of them; --skip-empty leaves out 1 of them",
    ]
    done = heedful.audit(subject, texts=texts, labels=labels, skip_unlabelled=True, sample=3, out=tmp_path)
    assert done.manifest["data"] == {"texts": 4, "skipped": 3, "truncated": 0}


def test_new_options_that_are_off_leave_the_names_of_audits_alone() -> None:
    data = DataFacts(name="x", fingerprint="y")
    assert set(data.model_dump()) == {"name", "fingerprint", "text", "label", "id", "truncate", "skip_empty"}
    assert DataFacts(name="x", fingerprint="y", merge_labels=True).model_dump()["merge_labels"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "a table .data. or a list"),
        ({"texts": TEXTS, "evidence": "x.parquet"}, "subject and evidence"),
        ({"texts": TEXTS, "labels": [0]}, "labels has 1 entries for 34 texts"),
        ({"texts": "one"}, "single string"),
        ({"texts": TEXTS, "ids": ["a"] * len(TEXTS)}, "id 'a' occurs more than once"),
        ({"texts": TEXTS, "sample": -1}, "sample = -1"),
        ({"texts": TEXTS, "smaple": 3}, "did you mean 'sample'"),
        ({"texts": []}, "no text"),
        (
            {"texts": TEXTS, "labels": ["good"] * len(TEXTS)},
            "text 1: label 'good' is not a class .*0 class 0, 1 class 1",
        ),
        ({"texts": TEXTS, "labels": [2] * len(TEXTS)}, "text 1: label '2' is not a class"),
        ({"data": "nowhere.csv"}, "no such file"),
    ],
)
def test_bad_requests_are_named_and_leave_nothing(values: dict[str, object], words: str, tmp_path: Path) -> None:
    with pytest.raises(heedful.HeedfulError, match=words):
        heedful.audit(planted(), out=tmp_path / "audits", **values)
    assert not list((tmp_path / "audits").rglob("*.parquet"))


class Halved(Planted):
    """Its map does not sum to one."""

    def forward(self, batch: Padded, **options: Any) -> Reading:
        reading = super().forward(batch, **options)
        return reading._replace(weights=reading.weights / 2)


def test_a_map_that_does_not_sum_to_one_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="sum"):
        heedful.audit(Halved(planted().plan), texts=TEXTS, out=tmp_path)
    assert not any(tmp_path.iterdir())


def test_what_is_no_subject_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="wrap a torch module"):
        heedful.audit("bert", texts=TEXTS, out=tmp_path)  # type: ignore[arg-type]


def test_texts_of_unknown_words_are_warned_of(audited: heedful.Audit, tmp_path: Path) -> None:
    few = [f"{text} zyx" for text in TEXTS[:6]]
    many = [" ".join(["zyx wvu", *text.split()[:2]]) for text in TEXTS[:6]]
    some, most = (heedful.audit(planted(), texts=texts, sample=3, out=tmp_path) for texts in (few, many))
    assert 0 < some.manifest["unknown"] < 0.5 == most.manifest["unknown"]
    assert not any("unknown words" in line for audit in (audited, some) for line in caveats(audit))
    assert any(line.startswith("50 % of the items are unknown words") for line in caveats(most))
    assert "unknown words to the model" in (most.folder / "card.html").read_text()
