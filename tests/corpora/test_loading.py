import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from heedful.corpora import locating
from heedful.corpora.loading import load
from heedful.corpora.locating import Found, source_fingerprint
from heedful.corpora.reader import sorted_classes
from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, BadInput
from tests.corpora.native import write

ROWS = "text,label\n" + "".join(f"word{n} and more,{n % 2}\n" for n in range(60))
PROGRAM = """
import sys
from heedful.corpora.loading import load
print(load("table", options={"file": sys.argv[1], "tokens": "spaces"}).path.read_bytes().hex()[:80])
"""


@pytest.fixture
def own_cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def rows(tmp_path) -> Path:
    return write(tmp_path / "t.csv", ROWS)


def table(path, **options):
    return load("table", options={"file": str(path), "tokens": "spaces", **options})


def test_the_second_load_comes_from_the_cache(own_cache, rows, monkeypatch):
    first = table(rows)
    monkeypatch.setattr(type(READERS["table"]), "documents", None)  # reading again would fail
    assert table(rows) == first


def test_content_options_and_subset_make_the_key(own_cache, rows):
    first = table(rows)
    assert table(rows, seed=1).fingerprint != first.fingerprint
    write(rows, ROWS.replace("more", "less"))
    assert table(rows).fingerprint != first.fingerprint
    write(rows, ROWS)
    assert table(rows).fingerprint == first.fingerprint


def test_nothing_is_left_of_a_load_that_fails(own_cache, rows):
    write(rows, ROWS + "too few\n")
    with pytest.raises(BadInput):
        table(rows)
    assert list((own_cache / "corpora").iterdir()) == []


def test_processes_that_load_the_same_corpus_do_not_meet(own_cache, rows):
    write(rows, "text,label\n" + "".join(f"word{n} and more,{n % 2}\n" for n in range(3000)))
    processes = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(rows)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = {process.communicate(timeout=600)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(answers) == 1
    assert [path.suffix for path in (own_cache / "corpora").iterdir()] == [".parquet"]


def test_a_load_at_work_is_left_alone_and_the_remains_of_a_killed_one_are_cleared(own_cache, tmp_path):
    pipe = tmp_path / "t.csv"
    os.mkfifo(pipe)  # a source that never ends keeps the reader in the middle of its work
    program = PROGRAM.replace(
        "from heedful",
        "import heedful.corpora.writing as w; w.PART_TOKENS = 10\n"
        "import heedful.corpora.readers.table as t; t.Path.is_file = lambda self: True\n"
        "import heedful.corpora.text_format as f; plain = f.TextFormat('utf-8', ',', True)\n"
        "t.text_format = f.text_format = lambda path, **options: plain  # a pipe cannot be read twice\n"
        "import heedful.corpora.cache_key as k; k.source_fingerprint = lambda path: ''\nfrom heedful",
        1,
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(pipe)])
    with pipe.open("w") as source:
        source.write(ROWS * 3)
        source.flush()
        deadline = time.monotonic() + 30
        while not list(own_cache.glob("corpora/.building.*/.*.parts/*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        other = write(tmp_path / "other.csv", ROWS)
        table(other)
        [draft] = (own_cache / "corpora").glob(".building.*")
        assert list(draft.rglob("*.parquet"))  # it is at work still
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert draft.exists()
    table(other, seed=5)
    assert not draft.exists()
    assert len(list((own_cache / "corpora").iterdir())) == 2


def test_documents_without_tokens_are_dropped(own_cache, tmp_path):
    lines = [f"{number % 2 * 2 + 1},title,{'  ' if number < 10 else 'some words'}" for number in range(60)]
    write(tmp_path / "ag_news_csv" / "train.csv", "\n".join(lines))
    write(tmp_path / "ag_news_csv" / "test.csv", "\n".join(lines))
    counts = load("agnews", data=tmp_path).counts()
    assert counts["test"] == [25, 25]
    assert sum(counts["train"]) + sum(counts["dev"]) == 50


def test_progress_counts_every_document(own_cache, tmp_path):
    path = write(tmp_path / "t.csv", "text,label\n" + "".join(f"word{n},{n % 2}\n" for n in range(1234)))
    counts = []
    load("table", options={"file": str(path), "tokens": "spaces"}, progress=counts.append)
    assert sum(counts) == 1234
    assert len(counts) > 3


def test_tokens_survive_parts(own_cache, rows, monkeypatch):
    whole = table(rows)
    frame = pl.read_parquet(whole.path)
    whole.path.unlink()
    monkeypatch.setattr("heedful.corpora.writing.PART_TOKENS", 7)
    assert pl.read_parquet(table(rows).path).equals(frame)


def test_bad_names_and_options():
    with pytest.raises(BadConfig, match=r"unknown corpus 'ssst' \(did you mean 'sst'\?\); valid: adr, agnews"):
        load("ssst")
    with pytest.raises(BadConfig, match=r"corpus sst, option cleaning: .*'paper' or 'released'"):
        load("sst", options={"cleaning": "thorough"})


def test_fingerprints_of_large_files_and_folders_are_remembered(own_cache, tmp_path, monkeypatch):
    monkeypatch.setattr(locating, "LARGE", 10)
    folder = tmp_path / "folder"
    file = write(folder / "a" / "1.txt", "some content here")
    first = source_fingerprint(folder), source_fingerprint(file)
    assert (source_fingerprint(folder), source_fingerprint(file)) == first
    monkeypatch.setattr(locating, "_content", lambda path, names: "read again")
    assert (source_fingerprint(folder), source_fingerprint(file)) == first
    write(folder / "a" / "2.txt", "more")
    assert source_fingerprint(folder) == "read again"
    os.utime(file, ns=(1, 1))
    assert source_fingerprint(file) == "read again"


def test_fingerprints_tell_names_and_contents_apart(tmp_path):
    kinds = [{"a": "x", "b": "y"}, {"a": "y", "b": "x"}, {"a": "xy"}, {"c": "x", "b": "y"}]
    found = set()
    for number, files in enumerate(kinds):
        for name, content in files.items():
            write(tmp_path / str(number) / name, content)
        found.add(source_fingerprint(tmp_path / str(number)))
    assert len(found) == len(kinds)
    with pytest.raises(BadInput, match="gone"):
        source_fingerprint(tmp_path / "gone" / "file")


def test_found_is_what_a_reader_says():
    assert READERS["planted"].find([], None, subset=False) == Found()


def test_class_names_have_one_order_whatever_order_they_come_in():
    names = ["1", "01", "1.0", "2", "-3"]
    assert sorted_classes(names) == sorted_classes(names[::-1]) == ("-3", "01", "1", "1.0", "2")
    assert sorted_classes(["nan", "2", "10"]) == ("10", "2", "nan")
    assert sorted_classes(["1_0", "2"]) == ("1_0", "2")


def test_a_copy_of_another_kind_is_not_taken_from_the_cache(tmp_path):
    rows = "text,label\n" + "".join(f"a film {i},{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(rows)
    (tmp_path / "t.xls").write_text(rows)
    options = {"tokens": "spaces"}
    assert load("table", options={"file": str(tmp_path / "t.csv"), **options}).classes == ("0", "1")
    with pytest.raises(BadInput, match="unknown kind of file"):
        load("table", options={"file": str(tmp_path / "t.xls"), **options})


def test_a_damaged_cache_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path))
    options = {"train": 10, "dev": 4, "test": 4}
    load("planted", options=options).path.write_bytes(b"PAR1")
    with pytest.raises(BadInput, match=r"planted-.*\.parquet: this part of the cache is damaged"):
        load("planted", options=options)


def test_a_model_that_finds_sentences_is_part_of_the_key(own_cache, rows, tmp_path, monkeypatch):
    spacy = pytest.importorskip("spacy")
    model = spacy.blank("en")
    model.add_pipe("sentencizer")
    model.to_disk(tmp_path / "model")
    first = table(rows, sentences=str(tmp_path / "model"))
    assert table(rows, sentences=str(tmp_path / "model")).fingerprint == first.fingerprint
    model.meta["version"] = "0.0.1"
    model.to_disk(tmp_path / "model")
    second = table(rows, sentences=str(tmp_path / "model"))
    assert second.fingerprint != first.fingerprint
    assert second.content == first.content
    assert len({first.fingerprint, table(rows).fingerprint, table(rows, sentences="sentencizer").fingerprint}) == 3
