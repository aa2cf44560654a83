import pytest

from heedful.corpora.tabular import column_place, columns_of, values
from heedful.corpora.text_format import text_format, text_lines
from heedful.errors import BadConfig, BadInput
from tests.corpora.native import write

ROWS = [("a café, they say", "good"), ("nothing; really", "bad"), ('she said "no"', "bad")]


def table(delimiter=",", rows=ROWS):
    lines = [["text", "label"], *rows]
    return "\r\n".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in lines) + "\r\n"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "T.CSV"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_file(tmp_path, name, delimiter):
    path = write(tmp_path / name, table(delimiter))
    assert text_format(path).delimiter == delimiter
    assert [tuple(row) for _, row in values(path, ["text", "label"])] == ROWS
    assert columns_of(path) == ["text", "label"]


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("text,label;x\na,b\n", ","),  # the usual one if it does as well
        ("text;label\na, b, c;good\nd;bad\n", ";"),
        ("text\none\ntwo, three\n", ","),  # a single column
        ("", ","),
        ('"text, long";label\n"a;b";good\n', ";"),
        ("text;label\n" + "a,b;good\n" * 200 + 'damaged "row;x\n', ";"),
        ("text,label\n" + '"a;b;c",good\n' * 5, ","),
    ],
)
def test_the_delimiter_of_awkward_files(tmp_path, content, delimiter):
    assert text_format(write(tmp_path / "t.csv", content)).delimiter == delimiter


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
        ("cp1252", "cp1252"),
        ("latin-1", "cp1252"),  # where they differ, see below
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_the_encoding_is_told_from_the_file(tmp_path, name, encoding, told):
    path = write(tmp_path / name, table(";").encode(encoding))
    form = text_format(path)
    assert (form.encoding, form.delimiter) == (told, ";")
    assert [tuple(row) for _, row in values(path, ["text", "label"])] == ROWS


def test_bytes_without_a_meaning_in_windows_are_latin(tmp_path):
    assert text_format(write(tmp_path / "t.csv", b"text,label\n\x81\xe9,x\n")).encoding == "latin-1"


def test_a_file_of_utf8_with_damaged_bytes_is_no_other_encoding(tmp_path):
    path = write(tmp_path / "t.csv", "text,label\nÉté été,x\n".encode() + b"caf\xe9,y\n")
    with pytest.raises(BadInput, match=r"t\.csv, line 3: byte 0xe9 is not UTF-8"):
        list(values(path, ["text"]))


def test_characters_cut_by_the_pieces_that_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("heedful.corpora.text_format._PIECE", 7)
    assert text_format(write(tmp_path / "t.csv", "text,label\n" + "é€😀,x\n" * 50)).encoding == "utf-8"


def test_json_lines_in_another_encoding(tmp_path):
    path = write(tmp_path / "t.jsonl", '{"text": "café"}\n\n{"text": "thé"}\n'.encode("utf-16"))
    assert [row for _, row in values(path, ["text"])] == [["café"], ["thé"]]
    assert columns_of(path) == ["text"]
    assert str(text_format(path)) == "text is UTF-16"


def test_a_changed_file_is_looked_at_again(tmp_path):
    path = write(tmp_path / "t.csv", "text;label\na;b\n")
    assert text_format(path).delimiter == ";"
    write(path, "text|label|more\na|b|c\n")
    assert text_format(path).delimiter == "|"


def test_what_is_named_is_not_guessed(tmp_path):
    path = write(tmp_path / "t.csv", table(";").encode("cp1252"))
    form = text_format(path, delimiter=";", encoding="latin-1")
    assert (form.encoding, form.delimiter, form.usual) == ("iso8859-1", ";", True)
    with pytest.raises(BadConfig, match="encoding 'utf-9' is unknown; valid: utf-8"):
        text_format(path, encoding="utf-9")
    with pytest.raises(BadConfig, match="delimiter '\"': give one character"):
        text_format(path, delimiter='"')
    with pytest.raises(BadInput, match=r"t\.csv, after line \d: not text in ascii .*name its encoding"):
        list(text_lines(path, "ascii"))


@pytest.mark.parametrize(
    ("there", "wanted", "near"),
    [
        (["Text", "Label"], "text", "Text"),
        (["Review Text", "x"], "review_text", "Review Text"),
        (["Review Text", "x"], "text", "Review Text"),
        (["labels"], "label", "labels"),
        (["a", "b"], "text", ""),
    ],
)
def test_the_nearest_column_is_suggested(there, wanted, near):
    with pytest.raises(BadInput, match=f"no column '{wanted}'") as error:
        column_place(there, wanted, "t.csv")
    assert (f"(did you mean '{near}'?)" in str(error.value)) == bool(near)
