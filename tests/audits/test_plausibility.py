"""Rationales beside an audit: read, mapped to items, reported, and never part of the verdict."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import heedful
from heedful.audits.overview import plausibility_of
from heedful.errors import BadInput, NotFound
from heedful.experiments.plausibility import ranking_names
from heedful.experiments.plausibility_summary import HEADING
from tests.audits.made import TEXTS, labels_of, planted
from tests.making import make_evidence

SAMPLE = 12


def _jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    text = "\n".join(map(json.dumps, rows)) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def _spans(text: str, places: Sequence[int]) -> list[list[int]]:
    """The characters of some words."""
    words = text.split()
    starts = [len(" ".join(words[:place])) + bool(place) for place in places]
    return [[start, start + len(words[place])] for start, place in zip(starts, places, strict=True)]


def _marked(row: int) -> list[int]:
    """One or two words of each text."""
    count = len(TEXTS[row].split())
    return sorted({row % count, (row + 1) % count} if count > 2 else {0})


FLAGS = [[int(place in _marked(row)) for place in range(len(text.split()))] for row, text in enumerate(TEXTS)]
IDS = [f"row-{row}" for row in range(1, len(TEXTS) + 1)]


def _audit(out: Path, **options: Any) -> heedful.Audit:
    subject = planted()
    return heedful.audit(subject, texts=TEXTS, labels=labels_of(subject, TEXTS), sample=SAMPLE, out=out, **options)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> heedful.Audit:
    return _audit(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> heedful.Audit:
    folder = tmp_path_factory.mktemp("marked")
    rows = [
        {"id": id, "spans": _spans(text, _marked(row))} for row, (id, text) in enumerate(zip(IDS, TEXTS, strict=True))
    ]
    return _audit(folder, rationales=_jsonl(folder / "marked.jsonl", rows))


def test_rationales_change_nothing_in_the_verdict(plain: heedful.Audit, marked: heedful.Audit) -> None:
    assert marked.folder.name != plain.folder.name
    assert marked.verdict.to_json() == plain.verdict.to_json()
    assert marked.signals.equals(plain.signals)
    assert set(marked.tests) - set(plain.tests) == {"plausibility"}


def test_every_ranking_is_compared_with_the_marked_items(marked: heedful.Audit) -> None:
    frame = marked.results("plausibility")
    assert len(frame) == SAMPLE
    assert ranking_names(frame) == ["attention", "random", "gradient_input", "leave_one_out"]
    wanted = {id: len(_marked(row)) for row, id in enumerate(IDS)}
    assert frame["marked"].to_list() == [wanted[id] for id in frame["id"]]
    weights = dict(zip(marked.evidence.ids, marked.evidence.weights, strict=True))
    for row in frame.iter_rows(named=True):
        flags = FLAGS[IDS.index(row["id"])]
        top = sorted(range(len(flags)), key=lambda place: -weights[row["id"]][place])[: sum(flags)]
        assert row["attention_f1"] == pytest.approx(sum(flags[place] for place in top) / sum(flags))


def test_spans_flags_tokens_lists_frames_and_columns_say_the_same(marked: heedful.Audit, tmp_path: Path) -> None:
    expected = marked.results("plausibility")
    spans = [_spans(text, _marked(row)) for row, text in enumerate(TEXTS)]
    tokens = [text.split() for text in TEXTS]
    rows = [
        {"id": id, "rationale": flags, "tokens": words} for id, flags, words in zip(IDS, FLAGS, tokens, strict=True)
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "marked.parquet")
    given: dict[str, Any] = {
        "list of spans": spans,
        "list of flags": FLAGS,
        "frame": pl.DataFrame({"id": IDS, "rationale": FLAGS}),
        "parquet": tmp_path / "marked.parquet",
        "zipped": _jsonl(tmp_path / "marked.jsonl.gz", rows),
    }
    for name, rationales in given.items():
        assert _audit(tmp_path / name, rationales=rationales).results("plausibility").equals(expected), name
    table = pl.DataFrame({"text": TEXTS, "why": [json.dumps(each) for each in spans]})
    table.write_csv(tmp_path / "data.csv")
    audit = heedful.audit(planted(), data=tmp_path / "data.csv", rationales="why", sample=SAMPLE, out=tmp_path)
    assert audit.results("plausibility").equals(expected)


def test_texts_without_a_rationale_are_undefined(tmp_path: Path) -> None:
    audit = _audit(tmp_path, rationales=[*FLAGS[:-2], None, [0] * len(FLAGS[-1])])
    assert pl.read_parquet(audit.folder / "rationales.parquet").height == len(TEXTS) - 1
    nothing = heedful.audit(planted(), texts=TEXTS[:3], rationales=[[0] * len(FLAGS[0]), None, None], out=tmp_path)
    assert nothing.results("plausibility")["attention_auprc"].to_list() == [None] * 3
    told = plausibility_of(nothing)
    assert told is not None
    assert "None of the tested texts" in told.words
    assert not told.rows
    assert HEADING in (nothing.folder / "card.html").read_text()


def test_importance_from_elsewhere_is_compared_too_also_without_a_model(tmp_path: Path) -> None:
    evidence = make_evidence(n=5)
    flags = [[place == 0 for place in range(length)] for length in evidence.tokens.lengths]
    tokens = [row.tolist() for row in evidence.tokens]
    first = pl.DataFrame(
        {
            "id": list(evidence.ids),
            "method": "first",
            "values": [[-float(place) for place in range(len(row))] for row in flags],
        }
    )
    frame = pl.DataFrame({"id": list(evidence.ids), "rationale": flags, "tokens": tokens})
    audit = heedful.audit(evidence=evidence, rationales=frame, importance=first, out=tmp_path)
    found = audit.results("plausibility")
    assert ranking_names(found) == ["attention", "random", "first"]
    assert set(found["first_auprc"].drop_nulls()) == {1.0}


def test_it_is_told_in_the_card_and_to_programs(plain: heedful.Audit, marked: heedful.Audit) -> None:
    assert plausibility_of(plain) is None
    assert HEADING not in (plain.folder / "card.html").read_text()
    card = (marked.folder / "card.html").read_text()
    assert HEADING in card
    assert "IOU F1" in card
    plausible = plausibility_of(marked)
    assert plausible is not None
    told = plausible.to_json()
    assert told["part_of_verdict"] is False
    assert [row["ranking"] for row in told["scores"]] == ["attention", "random", "gradient_input", "leave_one_out"]
    assert f"{SAMPLE} texts with rationales" in told["words"]
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "row-99", "spans": []}, r"line 2: there is no text with the id 'row-99'; remove the row"),
        ({"id": "row-1", "spans": []}, r"line 2: a second rationale of text 'row-1'"),
        ({"id": "row-2", "spans": [[3, 9000]]}, r"line 2: the span \[3, 9000\) is not inside the text"),
        ({"id": "row-2", "spans": [[3]]}, r"line 2: .* is not a rationale; give spans"),
        ({"id": "row-2", "spans": "none"}, r"line 2: none is not a rationale; give spans"),
        ({"id": "row-2", "spans": [0.5, 1]}, r"line 2: .* is not a rationale; give spans"),
        ({"id": "row-2", "spans": [1, 0]}, r"line 2: the rationale has 2 values for \d+ tokens that white space"),
        ({"id": "", "spans": []}, r"line 2: column 'id' is empty"),
    ],
)
def test_rationales_that_do_not_fit_are_refused_with_their_row(
    row: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = _jsonl(tmp_path / "marked.jsonl", [{"id": "row-1", "spans": [[0, 2]]}, row])
    with pytest.raises(BadInput, match=message):
        _audit(tmp_path / "out", rationales=file)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"tokens": ["a", "b"], "rationale": [1]}, "line 1: the rationale has 1 values for 2 tokens; give one a token"),
        ({"tokens": ["zebra"], "rationale": [1]}, "line 1: token 1, 'zebra', does not occur in text 'row-1'"),
        ({"tokens": [1], "rationale": [1]}, "line 1: column 'tokens' is not a list of text"),
    ],
)
def test_tokens_that_do_not_fit_are_refused(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        _audit(tmp_path / "out", rationales=_jsonl(tmp_path / "marked.jsonl", [{"id": "row-1", **row}]))


def test_what_is_no_table_of_rationales_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="rationales 'nowhere': no such file;"):
        _audit(tmp_path, rationales="nowhere")
    with pytest.raises(BadInput, match="has 1 entries for 34 texts"):
        _audit(tmp_path, rationales=[[1]])
    with pytest.raises(BadInput, match="need the column 'id'"):
        _audit(tmp_path, rationales=_jsonl(tmp_path / "a.jsonl", [{"id": "row-1"}]))
    with pytest.raises(BadInput, match="need the column 'id'"):
        _audit(tmp_path, rationales=pl.DataFrame({"spans": [[[0, 1]]]}))
    with pytest.raises(BadInput, match="it has no rationale"):
        _audit(tmp_path, rationales=[None] * len(TEXTS))
    data = tmp_path / "data.csv"
    pl.DataFrame({"text": TEXTS}).write_csv(data)
    with pytest.raises(NotFound, match=r"no such file or column of .*data\.csv, which has: text;"):
        heedful.audit(planted(), data=data, rationales="why", out=tmp_path)


def test_all_pieces_of_a_marked_word_are_marked(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from heedful.adapters.huggingface import HuggingFace
    from tests.adapters.tiny import WORDS, classifier, word_pieces

    texts = [f"{WORDS[row]}  Unfunny {WORDS[row + 1]}" for row in range(4)]
    spans = [[[text.index("Unf") + 1, text.index("Unf") + 4]] for text in texts]
    for items in ("tokens", "words"):
        subject = HuggingFace(classifier("bert", num_labels=2), word_pieces(), items=items)
        audit = heedful.audit(subject, texts=texts, rationales=spans, out=tmp_path)
        overlapping = 1 if items == "words" else 2  # the span ends within the second piece, "funny"
        assert audit.results("plausibility")["marked"].to_list() == [overlapping] * 4


def test_eraser_movies_are_read_as_they_are(real_data: Path) -> None:
    from heedful.corpora.rationales import file_rationales, marked_spans
    from heedful.text.alignment import items_in

    file = real_data / "rationales" / "eraser_movies.jsonl.gz"
    if not file.is_file():
        pytest.skip("HEEDFUL_DATA has no rationales/eraser_movies.jsonl.gz")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:60]
    for rationale, row in zip(file_rationales(file).rows(), rows, strict=False):
        assert rationale.id == row["id"]
        for text in (" ".join(row["tokens"]), "  ".join(row["tokens"]).upper()):
            spans = marked_spans(rationale, text)
            assert spans is not None
            found = items_in(text, row["tokens"], spans)
            assert found is not None
            assert found.tolist() == [bool(flag) for flag in row["rationale"]]
