"""Texts and labels that users bring: files, datasets, and what is wrong with them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.adapters.texts import NO_ITEM, Texts, each_token_an_item
from heedful.audits.overview import as_words
from heedful.audits.plan import slug
from heedful.audits.text_sources import file_source, memory_source
from heedful.audits.texts_stage import cut, label_indices
from heedful.errors import BadInput, BadRows, NotFound
from heedful.ragged import Ragged
from heedful.randomness import sample
from tests.audits.made import csv


def test_rows_of_a_table_have_their_place(tmp_path: Path) -> None:
    path = csv(tmp_path / "mine.csv", ["text,stars,key", '"a, b",1,x', "c,2,y"])
    rows = list(file_source(path, text="text", label="stars", id="key").rows())
    assert [(row.id, row.text, row.label) for row in rows] == [("x", "a, b", "1"), ("y", "c", "2")]
    assert rows[1].where.endswith("mine.csv, line 3")
    assert [row.id for row in file_source(path, text="text", label=None, id=None).rows()] == ["row-1", "row-2"]
    with pytest.raises(BadInput, match="no column 'label'; it has: text, stars, key"):
        list(file_source(path, text="text", label="label", id=None).rows())


def test_a_table_is_read_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes("\ufefftext;label\r\ncafé, bar;pos\r\n;\r\nthé;\r\n".encode("utf-16-le"))
    source = file_source(path, text="text", label="label", id=None)
    assert [(row.text, row.label) for row in source.rows()] == [("café, bar", "pos"), ("", None), ("thé", None)]
    assert source.columns == ("text", "label")
    assert source.note == "text is UTF-16, fields are separated by semicolons"
    with pytest.raises(BadInput, match=r"no column 'Text' \(did you mean 'text'\?\)"):
        list(file_source(path, text="Text", label=None, id=None).rows())


def test_all_bad_rows_of_a_table_are_reported_at_once(tmp_path: Path) -> None:
    path = csv(tmp_path / "mine.csv", ["text,label", "a,1", "b", "c,1,2", *["d"] * 12])
    with pytest.raises(BadRows) as error:
        list(file_source(path, text="text", label="label", id=None).rows())
    lines = str(error.value).splitlines()
    assert lines[0] == f"{path}: 14 rows cannot be used"
    assert lines[1] == "  line 3: 1 fields, but the header has 2"
    assert lines[11:] == ["  and 4 more", "missing quote?"]


def test_labels_may_differ_from_names_in_case_and_spaces_if_asked() -> None:
    labels = _labels("World", "world ", "SCI-TECH")
    assert label_indices(labels, ("Sci Tech", "World"), merge=True) == {"World": 1, "world ": 1, "SCI-TECH": 0}
    with pytest.raises(BadInput, match=r"line 3: label 'world ' is not a class of the model.*--merge-labels takes"):
        label_indices(labels, ("Sci Tech", "World"))
    with pytest.raises(BadInput, match=r"line 2: label 'Worlds' .*give names or indices"):
        label_indices(_labels("Worlds"), ("Sci Tech", "World"), merge=True)


def test_a_source_is_known_by_its_content() -> None:
    first, same, other = (
        memory_source(texts, labels=None, ids=None).fingerprint for texts in (["a", "b"], ["a", "b"], ["a", "c"])
    )
    assert first == same != other


def _labels(*values: str) -> pl.LazyFrame:
    return pl.LazyFrame({"label": values, "where": [f"line {row}" for row in range(2, len(values) + 2)]})


def test_labels_are_names_or_indices_all_the_same_way() -> None:
    assert label_indices(_labels("pos", "neg"), ("neg", "pos")) == {"pos": 1, "neg": 0}
    assert label_indices(_labels("1", "0"), ("neg", "pos")) == {"1": 1, "0": 0}
    assert label_indices(_labels("1.0", "0.0", "1"), ("neg", "pos")) == {"1.0": 1, "0.0": 0, "1": 1}
    assert label_indices(_labels("1.0", "2.0"), ("1", "2", "3")) == {"1.0": 0, "2.0": 1}  # names come first
    assert label_indices(_labels("0.0", "1.00"), ("pos", "neg"), names=("neg", "pos")) == {"0.0": 1, "1.00": 0}
    for strange in ("0.5", "2.0", ".0", "1e0", "-1.0"):
        with pytest.raises(BadInput, match=f"line 2: label '{strange}'"):
            label_indices(_labels(strange, "1.0"), ("neg", "pos"))
    assert label_indices(_labels("1", "2"), ("1", "2", "3")) == {"1": 0, "2": 1}  # names come first
    assert label_indices(_labels("0", "2"), ("1", "2", "3")) == {"0": 0, "2": 2}  # a zero can only be an index
    assert label_indices(_labels("0", "1"), ("pos", "neg"), names=("neg", "pos")) == {"0": 1, "1": 0}
    assert label_indices(_labels("0", "1"), ("LABEL_0", "LABEL_1"), names=("neg", "pos")) == {"0": 0, "1": 1}
    with pytest.raises(BadInput, match=r"line 3: label '1' is not a class of the model, which has 0 neg, 1 pos"):
        label_indices(_labels("pos", "1"), ("neg", "pos"))
    with pytest.raises(BadInput, match="line 4: label '5'"):
        label_indices(_labels("0", "1", "5"), ("neg", "pos"))


def test_a_sample_depends_on_ids_only() -> None:
    ids = [f"text-{row}" for row in range(50)]
    small, large = sample(ids, 10, 0), sample(ids, 20, 0)
    assert len(small) == 10
    assert set(small) <= set(large)
    assert sample(ids, 0, 0).tolist() == list(range(50)) == sample(ids, 99, 0).tolist()
    assert {ids[row] for row in small} == {ids[::-1][row] for row in sample(ids[::-1], 10, 0)}
    assert sample(ids, 10, 1).tolist() != small.tolist()


def test_texts_are_cut_item_by_item_and_added_tokens_stay() -> None:
    tokens = Ragged.from_rows([[9, 1, 2, 3, 8], [9, 1, 8]], dtype=np.int64)
    item = Ragged.from_rows([[NO_ITEM, 0, 1, 1, NO_ITEM], [NO_ITEM, 0, NO_ITEM]], dtype=np.int64)
    texts = Texts(tokens, item, Ragged.from_rows([["a", "bc"], ["a"]], dtype=object))
    found = cut(texts, 4)  # the word of two tokens has no room
    assert [row.tolist() for row in found.tokens] == [[9, 1, 8], [9, 1, 8]]
    assert [row.tolist() for row in found.names] == [["a"], ["a"]]
    assert cut(texts, 5) is texts
    assert cut(texts, None) is texts
    many = each_token_an_item(Ragged.from_rows([[1, 2, 3]], dtype=np.int64), Ragged.from_rows([["x", "y", "z"]]))
    assert cut(many, 2).names[0].tolist() == ["x", "y"]


def test_pieces_are_shown_as_words() -> None:
    words = as_words("Un-Believable film", ["un", "-", "believ", "able", "film"], [0.1, 0.2, 0.3, 0.3, 0.1])
    assert [word.text for word in words] == ["un", "-", "believable", "film"]
    assert words[2].weight == pytest.approx(0.6)
    assert [word.text for word in as_words(None, ["un", "fun"], [0.5, 0.5])] == ["un", "fun"]
    assert [word.text for word in as_words("abc", ["ab", "<unk>"], [0.5, 0.5])] == ["ab", "<unk>"]


def test_directories_have_names_that_files_can_have() -> None:
    assert slug("models/My Model.v2/") == "my-model"
    assert slug("hf:imdb") == "imdb"
    assert slug("../..") == "unnamed"


def test_datasets_are_read_from_folders_and_never_fetched(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    from heedful.audits.text_sources import hub_source

    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["neg", "pos"])})
    made = datasets.Dataset.from_dict({"text": ["a", "b", "c"], "label": [0, 1, 1]}, features=features)
    made.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"train": made, "test": made.select([2])}).save_to_disk(tmp_path / "two")
    options = {"text": "text", "label": "label", "id": None, "download": False}
    source = hub_source(f"hf:{tmp_path / 'one'}", **options)
    assert [(row.text, row.label) for row in source.rows()] == [("a", "0"), ("b", "1"), ("c", "1")]
    assert source.names == ("neg", "pos")
    assert len(list(hub_source(f"hf:{tmp_path / 'two'}", **options).rows())) == 1
    assert len(list(hub_source(f"hf:{tmp_path / 'two'}:train", **options).rows())) == 3
    with pytest.raises(BadInput, match="no split 'dev'; valid: train, test"):
        hub_source(f"hf:{tmp_path / 'two'}:dev", **options)
    with pytest.raises(NotFound, match="--download"):
        hub_source("hf:no-such-dataset-of-heedful", **options)
    with pytest.raises(BadInput, match="no column 'words'"):
        hub_source(f"hf:{tmp_path / 'one'}", **{**options, "text": "words"})
