import gzip
import json
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora.loading import load
from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, BadInput, BadRows, MissingExtra, NotFound
from heedful.text import tokenising
from heedful.text.sentences import flatten
from tests.corpora.native import write
from tests.strategies import examples

WORDS = ["good", "bad"]
ROWS = [{"text": f"A {WORDS[n % 2]} film, number {n}", "label": WORDS[n % 2]} for n in range(100)]


def as_csv(rows, delimiter=","):
    lines = [delimiter.join(rows[0])]
    lines += [delimiter.join(f'"{value}"' for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def save(path, rows):
    if path.suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif ".jsonl" in path.name:
        write(path, as_jsonl(rows))
    else:
        write(path, as_csv(rows, "\t" if ".tsv" in path.name else ","))
    return path


def table(path, **options):
    return load("table", options={"file": str(path), **options})


def everything(corpus):
    frames = [corpus.split(split).with_columns(split=pl.lit(split)) for split in ("train", "dev", "test")]
    return pl.concat(frames).sort("id")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.jsonl", "t.jsonl.gz", "t.parquet"])
def test_every_kind_of_file(tmp_path, name):
    corpus = table(save(tmp_path / name, ROWS))
    assert corpus.classes == ("bad", "good")
    assert {split: sum(counts) for split, counts in corpus.counts().items()} == {"train": 72, "dev": 13, "test": 15}
    first = everything(corpus).filter(pl.col("id") == "row-1").row(0, named=True)
    assert " ".join(first["tokens"]) == "a good film , number qqq"
    assert corpus.classes[first["label"]] == "good"


def test_the_kinds_agree(tmp_path):
    frames = [everything(table(save(tmp_path / f"t.{kind}", ROWS))) for kind in ("csv", "tsv", "jsonl", "parquet")]
    assert all(frame.equals(frames[0]) for frame in frames)


def test_the_seed_draws_the_splits(tmp_path):
    path = save(tmp_path / "t.csv", ROWS)
    same, other = table(path), table(path, seed=1)
    assert everything(table(path)).equals(everything(same))
    assert not everything(same).equals(everything(other))
    assert sorted(same.counts()["test"]) == sorted(other.counts()["test"]) == [7, 8]


def test_named_columns_and_given_splits(tmp_path):
    splits = ["train"] * 80 + ["validation"] * 10 + ["TEST"] * 10
    rows = [{"Id": f"doc{n}", "body": "w " * (n + 1), "y": n % 2, "part": split} for n, split in enumerate(splits)]
    corpus = table(save(tmp_path / "t.parquet", rows), text="body", label="y", split="part", id="Id", tokens="spaces")
    assert corpus.classes == ("0", "1")
    assert corpus.counts() == {"train": [40, 40], "dev": [5, 5], "test": [5, 5]}
    assert corpus.split("dev")["id"].to_list() == [f"doc{n}" for n in range(80, 90)]
    assert corpus.split("test")["tokens"].list.len().to_list() == list(range(91, 101))


def test_dev_is_drawn_where_only_test_is_given(tmp_path):
    rows = [{**row, "split": "test" if n >= 80 else "train"} for n, row in enumerate(ROWS)]
    counts = table(save(tmp_path / "t.jsonl", rows), split="split").counts()
    assert counts["test"] == [10, 10]
    assert counts["dev"] == [6, 6]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([10, 9], ("9", "10")),
        ([1.0, 0.0], ("0", "1")),
        ([0.5, 1.5], ("0.5", "1.5")),
        ([True, False], ("false", "true")),
        ([" two\nlines ", "one"], ("one", "two lines")),
    ],
)
def test_labels_of_any_type(tmp_path, labels, classes):
    rows = [{"text": f"text {n}", "label": labels[n % 2]} for n in range(40)]
    assert table(save(tmp_path / "t.jsonl", rows)).classes == classes
    assert table(save(tmp_path / "t.parquet", rows)).classes == classes


def test_lists_of_tokens_are_taken_as_they_are(tmp_path):
    rows = [{"text": ["Two Words", "x", str(n)], "label": n % 2} for n in range(40)]
    for kind in ("jsonl", "parquet"):
        first = everything(table(save(tmp_path / f"t.{kind}", rows), tokens="spaces")).filter(pl.col("id") == "row-1")
        assert first["tokens"].to_list() == [["Two Words", "x", "0"]]


def bad(row, place=3):
    rows = [dict(r) for r in ROWS]
    rows[place] = {**rows[place], **row}
    return rows


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (as_csv(ROWS), {"text": "body"}, r"t\.csv has no column 'body'; it has: text, label"),
        (as_csv(bad({"text": "  "})), {}, r"t\.csv, line 5: column 'text' is empty"),
        (as_csv(bad({"label": ""})), {}, r"t\.csv, line 5: column 'label' has no label"),
        (as_csv(ROWS) + '"one field"\n', {}, r"t\.csv, line 102: 1 fields, but the header has 2"),
        (as_csv(ROWS) + '"a "bad" quote",good\n', {}, r"t\.csv, row that begins on line 102: .*doubled"),
        (as_csv(ROWS) + '"never closed,good\n', {}, r"t\.csv, row that begins on line 102: .*double quotes"),
        (
            as_csv(ROWS).encode() + "é,good\n".encode() * 2 + b"caf\xe9,good\n",
            {},
            r"t\.csv, line 104: byte 0xe9 is not UTF-8 .*save the file as UTF-8",
        ),
        (as_csv([{**row, "label": "x"} for row in ROWS]), {}, r"t\.csv: all training labels are 'x'; .*two classes"),
        (as_csv(bad({"label": "odd"})), {}, r"class 'odd' has one instance"),
        (as_csv(ROWS[:6]), {}, r"6 instances of 2 classes are too few"),
        (
            as_csv([{**r, "id": n // 2} for n, r in enumerate(ROWS)]),
            {"id": "id"},
            r"t\.csv: the id '\d+' occurs more than",
        ),
        (as_csv([{**r, "s": "train"} for r in ROWS]), {"split": "s"}, r"t\.csv: column 's' puts no row in test"),
        (
            as_csv([{**r, "s": "part"} for r in ROWS]),
            {"split": "s"},
            r"t\.csv: 100 rows cannot be used\n  line 2: 'part' is no split\n(.*\n)*  and 90 more\nvalid: train",
        ),
        ("", {}, r"t\.csv has no column 'text'; it has: none"),
        ("text,label\n", {}, r"t\.csv: no documents were found"),
    ],
)
def test_bad_csv(tmp_path, content, options, message):
    with pytest.raises(BadInput, match=message):
        table(write(tmp_path / "t.csv", content), **options)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{not json}", r"t\.jsonl, line 101: not JSON"),
        ("[1, 2]", r"t\.jsonl, line 101: each line must be one object"),
        ('{"text": "x"}', r"t\.jsonl, line 101 has no column 'label'; it has: text"),
        ('{"text": "x", "label": null}', r"t\.jsonl, line 101: column 'label' has no label"),
        ('{"text": "x", "label": [1]}', r"t\.jsonl, line 101: label \[1\] in column 'label' is not one value"),
        ('{"text": "x\\ud800", "label": 1}', r"t\.jsonl, line 101, column 'text': holds .* half a surrogate pair"),
        ('{"text": "x", "label": "a\\ud800"}', r"t\.jsonl, line 101, column 'label': holds .* half a surrogate pair"),
        ('{"text": "x", "label": ' + "9" * 5000 + "}", r"t\.jsonl, line 101: not JSON"),
        ('{"text": {"a": 1}, "label": 1}', r"t\.jsonl, line 101: column 'text' holds .* no text"),
        (
            '{"text": ["x"], "label": 1}',
            r"t\.jsonl, line 101: column 'text' holds lists; if of tokens, set tokens to 'spaces'",
        ),
        ('{"text": null, "label": 1}', r"t\.jsonl, line 101: column 'text' is empty"),
    ],
)
def test_bad_jsonl(tmp_path, line, message):
    with pytest.raises(BadInput, match=message):
        table(write(tmp_path / "t.jsonl", as_jsonl(ROWS) + line + "\n"))


def test_a_class_of_the_test_split_that_training_lacks(tmp_path):
    rows = [{**row, "split": ("train", "dev", "test")[n % 3]} for n, row in enumerate(ROWS)]
    rows[2]["label"] = "odd"
    with pytest.raises(BadInput, match=r"t\.jsonl: label 'odd' occurs in test but never in training"):
        table(save(tmp_path / "t.jsonl", rows), split="split")


def test_bad_parquet_gz_names_and_options(tmp_path):
    with pytest.raises(BadInput, match=r"t\.parquet is not a Parquet file"):
        table(write(tmp_path / "t.parquet", "text,label"))
    with pytest.raises(BadInput, match=r"t\.parquet has no column 'body'; it has: text, label"):
        table(save(tmp_path / "t.parquet", ROWS), text="body")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(as_csv(ROWS).encode())[:-10])
    with pytest.raises(BadInput, match=r"t\.csv\.gz is damaged or was cut short"):
        table(tmp_path / "t.csv.gz")
    with pytest.raises(BadInput, match=r"t\.xlsx: unknown kind of file; valid: \.csv"):
        table(write(tmp_path / "t.xlsx", "x"))
    with pytest.raises(NotFound, match=r"nowhere\.csv: there is no such file"):
        table(tmp_path / "nowhere.csv")
    with pytest.raises(BadConfig, match="option file: Field required"):
        load("table")
    with pytest.raises(BadConfig, match=r"unknown option of corpus table 'txt' \(did you mean 'text'\?\)"):
        table(tmp_path / "t.csv", txt="x")


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    path = write(tmp_path / "t.csv", "\ufeff" + as_csv(ROWS).replace("\n", "\r\n"))
    assert everything(table(path)).equals(everything(table(save(tmp_path / "plain.csv", ROWS))))


def test_a_file_below_the_data_folder_and_the_same_file_elsewhere(tmp_path):
    save(tmp_path / "t.csv", ROWS)
    below = load("table", options={"file": "t.csv"}, data=tmp_path)
    assert below.fingerprint == table(tmp_path / "t.csv").fingerprint


def test_a_column_of_queries(tmp_path):
    rows = [{**row, "question": f"What's {n}?"} for n, row in enumerate(ROWS)]
    corpus = table(save(tmp_path / "t.csv", rows), query="question")
    assert corpus.query
    assert set(map(tuple, corpus.split("test")["query"])) == {("what", "'s", "qqq", "?")}
    spaced = table(save(tmp_path / "t.jsonl", rows), query="question", tokens="spaces")
    assert spaced.split("dev")["query"].list.first().to_list() == ["What's"] * 13
    listed = table(
        save(tmp_path / "t.parquet", [{**row, "question": ["Why", "so"]} for row in ROWS]),
        query="question",
        tokens="spaces",
    )
    assert listed.split("dev")["query"].to_list() == [["Why", "so"]] * 13
    assert not table(tmp_path / "t.csv").query


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_query(tmp_path, empty):
    rows = [{**row, "question": empty if n == 4 else "What?"} for n, row in enumerate(ROWS)]
    with pytest.raises(BadInput, match=r"t\.csv, line 6: column 'question' is empty"):
        table(save(tmp_path / "t.csv", rows), query="question")
    rows[4]["question"] = []
    with pytest.raises(BadInput, match=r"t\.jsonl, line 5: the text in column 'question' is empty"):
        table(save(tmp_path / "t.jsonl", rows), query="question", tokens="spaces")
    with pytest.raises(BadInput, match=r"has no column 'hypothesis'; it has: text, label, question"):
        table(save(tmp_path / "u.csv", rows), query="hypothesis")


TWO = [{"text": f"It isn't {WORDS[n % 2]}. Film {n} is!", "label": WORDS[n % 2]} for n in range(100)]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_texts_in_sentences(tmp_path, name):
    path = save(tmp_path / name, TWO)
    flat, cut = everything(table(path)), everything(table(path, sentences="sentencizer"))
    assert "sentences" not in flat.columns
    assert cut.drop("sentences").equals(flat)
    assert cut["sentences"].to_list() == [[5, 4]] * 100
    assert "qqq" in cut["tokens"][0].to_list()


def test_texts_in_sentences_that_are_tokenised_already(tmp_path):
    rows = [{**row, "text": "We can't wait . So what ?! Film. No"} for row in ROWS]
    cut = everything(table(save(tmp_path / "t.csv", rows), tokens="spaces", sentences="sentencizer"))
    assert cut["tokens"][0].to_list() == rows[0]["text"].split()
    assert cut["sentences"].to_list() == [[4, 5]] * 100  # "?!" and "Film." are no marks of the rule


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("tokens", ["built-in", "spacy", "spaces"])
def test_lists_of_sentences(tmp_path, kind, tokens):
    rows = [{"text": ["It's 5. Yes.", " ", "Two words", ""], "label": n % 2} for n in range(40)]
    cut = everything(table(save(tmp_path / f"t.{kind}", rows), tokens=tokens, sentences="sentencizer"))
    words = "it 's qqq . yes . two words" if tokens != "spaces" else "It's 5. Yes. Two words"
    assert " ".join(cut["tokens"][0]) == words
    assert cut["sentences"].to_list() == [[len(words.split()) - 2, 2]] * 40


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_lists_of_sentences_of_tokens(tmp_path, kind):
    rows = [{"text": [["Two words", "x"], [], ["Y"]], "label": n % 2} for n in range(40)]
    path = save(tmp_path / f"t.{kind}", rows)
    cut = everything(table(path, tokens="spaces", sentences="sentencizer"))
    assert cut["tokens"][0].to_list() == ["Two words", "x", "Y"]
    assert cut["sentences"].to_list() == [[2, 1]] * 40
    with pytest.raises(
        BadInput,
        match=rf"t\.{kind}: 40 rows .*\n  (line|row) 1: column 'text' holds lists\n(.*\n)*.*set tokens to 'spaces'",
    ):
        table(path, sentences="sentencizer")
    with pytest.raises(BadInput, match=r"(line|row) 1: column 'text' holds \['Two words', 'x'\], which is no text"):
        table(path, tokens="spaces")


@pytest.mark.parametrize("empty", ["", "  ", [], [""], [[], []], ["\t", " "], None])
def test_a_text_without_a_sentence(tmp_path, empty):
    rows = [{"text": empty if n == 4 else ["Yes.", "No."], "label": n % 2} for n in range(40)]
    with pytest.raises(BadInput, match=r"t\.jsonl, line 5: column 'text' (is empty|has no sentence); remove the row"):
        table(save(tmp_path / "t.jsonl", rows), sentences="sentencizer")


@pytest.mark.parametrize("strange", [None, 7, {"a": 1}, True])
def test_a_sentence_that_is_no_text(tmp_path, strange):
    rows = [{"text": ["Yes.", strange] if n == 4 else ["Yes.", "No."], "label": n % 2} for n in range(40)]
    with pytest.raises(BadInput, match=r"t\.jsonl, line 5: column 'text' has the sentence .*; give strings"):
        table(save(tmp_path / "t.jsonl", rows), sentences="sentencizer")


def test_an_empty_row_of_a_csv_in_sentences(tmp_path):
    with pytest.raises(BadInput, match=r"t\.csv, line 5: column 'text' is empty"):
        table(save(tmp_path / "t.csv", bad({"text": "  "})), sentences="sentencizer")


def test_queries_are_not_cut_into_sentences(tmp_path):
    rows = [{**row, "question": "Is it? Really?"} for row in TWO]
    corpus = table(save(tmp_path / "t.csv", rows), query="question", sentences="sentencizer")
    assert corpus.split("test")["query"][0].to_list() == ["is", "it", "?", "really", "?"]


def test_a_model_for_sentences_that_is_not_there(tmp_path):
    path = save(tmp_path / "t.csv", TWO)
    with pytest.raises(BadConfig, match=r"'en_no_such' is neither .*python -m spacy download en_no_such.*sentencizer"):
        table(path, sentences="en_no_such")
    with pytest.raises(BadConfig, match="option sentences: String should have at least 1 character"):
        table(path, sentences="")


@examples(100)
@given(text=st.text(max_size=60), tokens=st.sampled_from(["built-in", "spacy", "spaces"]))
def test_sentences_and_tokens_of_a_text_given_later_agree(text, tokens):
    reader = READERS["table"]
    options = reader.options(file="t.csv", tokens=tokens, sentences="sentencizer")
    assert flatten(reader.sentences(text, options))[0] == reader.tokenise(text, options)
    assert reader.sentences(text, reader.options(file="t.csv", tokens=tokens)) is None


def test_all_bad_rows_are_reported_at_once(tmp_path):
    rows = [dict(row) for row in ROWS]
    for place in range(0, 60, 5):
        rows[place]["text"] = " "
    rows[1]["label"] = ""
    rows[2] = {"text": "", "label": ""}
    content = as_csv(rows) + '"one field"\n'
    with pytest.raises(BadRows) as error:
        table(write(tmp_path / "t.csv", content))
    first, *lines = str(error.value).splitlines()
    assert first == f"{tmp_path}/t.csv: 15 rows cannot be used"
    assert lines[:3] == [
        "  line 2: column 'text' is empty",
        "  line 3: column 'label' has no label",
        "  line 4: there is neither text nor label",
    ]
    assert len(lines) == 12
    assert lines[10] == "  and 5 more"
    assert "--skip-empty leaves out 13 of them; --skip-unlabelled leaves out 2 of them" in lines[11]
    with pytest.raises(BadInput, match=r"t\.csv, line 102: 1 fields, but the header has 2; missing quote\?$"):
        table(tmp_path / "t.csv", skip_empty=True, skip_unlabelled=True)


def test_one_bad_row_names_the_option_that_leaves_it_out(tmp_path):
    with pytest.raises(BadInput, match=r"or leave it out with --skip-empty$"):
        table(save(tmp_path / "t.csv", bad({"text": "  "})))
    with pytest.raises(BadInput, match=r"or leave it out with --skip-unlabelled$"):
        table(save(tmp_path / "t.csv", bad({"label": "  "})))


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_rows_without_text_or_label_are_left_out_if_asked(tmp_path, name):
    rows = [dict(row) for row in ROWS]
    rows[3]["text"] = rows[4]["label"] = rows[5]["text"] = rows[5]["label"] = None
    if name == "t.csv":
        rows = [{key: "" if value is None else value for key, value in row.items()} for row in rows]
    path = save(tmp_path / name, rows)
    corpus = table(path, skip_empty=True, skip_unlabelled=True)
    assert sum(corpus.sizes().values()) == 97
    assert not {"row-4", "row-5", "row-6"} & set(everything(corpus)["id"])  # the others keep their numbers
    assert corpus.notes == ("2 rows without text were left out", "1 rows without a label were left out")
    assert table(path, skip_empty=True, skip_unlabelled=True).notes == corpus.notes  # from the cache
    with pytest.raises(BadInput, match=r"(line|row) [56]: column 'label' has no label"):
        table(path, skip_empty=True)
    with pytest.raises(BadInput, match=r"(line|row) [45]: column 'text' is empty"):
        table(path, skip_unlabelled=True)


def test_a_table_of_nothing_but_empty_rows(tmp_path):
    with pytest.raises(BadInput, match="no documents were found"):
        table(write(tmp_path / "t.csv", "text,label\n,\n,\n"), skip_empty=True)


VARIED = [{**row, "label": [row["label"], row["label"].upper()][n % 10 < 2]} for n, row in enumerate(ROWS)]


def test_labels_that_look_the_same_are_told_and_merged_if_asked(tmp_path):
    path = save(tmp_path / "t.csv", VARIED)
    apart, together = table(path), table(path, merge_labels=True)
    assert apart.classes == ("BAD", "GOOD", "bad", "good")
    assert apart.notes == (
        "labels 'good' (40) and 'GOOD' (10); 'bad' (40) and 'BAD' (10) look the same; "
        "--merge-labels makes them one class",
    )
    assert together.classes == ("bad", "good")
    assert together.notes == ("labels 'good' (40) and 'GOOD' (10); 'bad' (40) and 'BAD' (10) were merged",)
    assert {split: sum(counts) for split, counts in together.counts().items()} == {"train": 72, "dev": 13, "test": 15}
    assert table(save(tmp_path / "u.csv", ROWS)).notes == ()


def test_a_rare_form_of_a_label_is_named_where_splitting_fails(tmp_path):
    path = save(tmp_path / "t.csv", bad({"label": "Good"}))
    with pytest.raises(BadInput, match=r"class 'Good' has one instance.*'Good' \(1\) look the same; --merge-labels"):
        table(path)
    assert table(path, merge_labels=True).classes == ("bad", "good")


def test_how_a_file_is_written_is_told_where_its_name_says_otherwise(tmp_path):
    path = write(tmp_path / "t.csv", as_csv(ROWS, ";").encode("utf-16"))
    corpus = table(path)
    assert corpus.notes == ("text is UTF-16, fields are separated by semicolons",)
    assert everything(corpus).equals(everything(table(save(tmp_path / "plain.csv", ROWS))))
    assert table(path, delimiter=";", encoding="utf-16").notes == ()
    with pytest.raises(BadConfig, match="a Parquet file has neither delimiter nor encoding"):
        table(save(tmp_path / "t.parquet", ROWS), delimiter=";")


def test_options_that_are_off_are_not_in_the_configuration():
    options = READERS["table"].options
    assert set(options(file="t.csv").model_dump(exclude_none=True)) == {
        "cleaning",
        "file",
        "text",
        "label",
        "tokens",
        "seed",
    }
    assert options(file="t.csv", skip_empty=True).model_dump()["skip_empty"] is True


def test_the_built_in_tokeniser_is_the_default_and_spacy_a_choice(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    tokenising.tokeniser.cache_clear()
    path = save(tmp_path / "t.csv", TWO)
    corpus = table(path, sentences="sentencizer")
    assert corpus.split("test")["tokens"][0].to_list()[:4] == ["it", "is", "n't", corpus.split("test")["tokens"][0][3]]
    assert set(corpus.split("test")["sentences"].to_list()[0]) == {5, 4}
    with pytest.raises(MissingExtra, match="spaCy"):
        table(path, tokens="spacy")
