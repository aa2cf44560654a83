import subprocess
import sys

import heedful.corpora.readers
from heedful.corpora import registry
from heedful.corpora.loading import load
from heedful.corpora.registry import READERS, overview
from tests.corpora.native import write


def test_what_is_there_and_what_is_not(tmp_path):
    for name in ("train.txt", "dev.txt", "test.txt"):
        write(tmp_path / "sst" / name, "")
    write(tmp_path / "ag_news_csv" / "train_subset.csv.gz", "")
    write(tmp_path / "ag_news_csv" / "test.csv", "")
    write(tmp_path / "aclImdb_v1.tar.gz", "")
    entries = {entry.name: entry for entry in overview(tmp_path)}
    assert list(entries) == list(READERS)
    assert (entries["sst"].found, entries["sst"].subset_only) == (tmp_path / "sst", False)
    assert (entries["agnews"].found, entries["agnews"].subset_only) == (tmp_path / "ag_news_csv", True)
    assert entries["imdb"].found == tmp_path / "aclImdb_v1.tar.gz"
    assert entries["newsgroups"].found is None
    assert [name for name, entry in entries.items() if entry.built_in] == [
        name for name in READERS if name == "planted" or "simulated" in name
    ]
    assert [name for name, entry in entries.items() if entry.downloadable] == [
        *("sst", "imdb", "newsgroups", "agnews", "babi-1", "babi-2", "babi-3", "snli")
    ]
    assert all(entry.how_to_get and entry.task and entry.sizes for entry in entries.values())


def test_the_registry_is_light():
    program = "import sys, heedful.corpora.registry; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "heedful.corpora.readers.sst" in modules
    assert not {"torch", "spacy", "sklearn", "gensim", "pooch", "pandas"} & set(modules)


TOY = """
from heedful.corpora.corpus import Document
from heedful.corpora.locating import below
from heedful.corpora.reader import Reader, Source


class Toy(Reader):
    name = "toy"
    task = "even or odd"
    sizes = "30"
    how_to_get = "put toy.txt below the data folder"
    source = Source("https://example.org", "toy", {"numbers": "toy.txt"}, {"": 30})
    layouts = below(["toy", ""], {"numbers": "toy.txt"})
    class_names = ("even", "odd")

    def native_splits(self, found):
        return (document.split for document in self.documents(found, None))

    def documents(self, found, options):
        for number in found.files["numbers"].read_text().split():
            split = ("train", "dev", "test")[int(number) // 2 % 3]
            yield Document(number, ["number", number], self.class_names[int(number) % 2], split)
"""


def test_a_corpus_is_one_file_and_one_line(tmp_path, monkeypatch):
    write(tmp_path / "readers" / "toy.py", TOY)
    monkeypatch.setattr(heedful.corpora.readers, "__path__", [str(tmp_path / "readers")])
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(READERS, "toy", registry._reader("toy.Toy"))  # the line
    write(tmp_path / "data" / "toy.txt", " ".join(map(str, range(30))))
    corpus = load("toy", data=tmp_path / "data")
    assert corpus.counts() == {"train": [5, 5], "dev": [5, 5], "test": [5, 5]}
    entry = overview(tmp_path / "data")[-1]
    assert (entry.name, entry.found, entry.downloadable) == ("toy", tmp_path / "data" / "toy.txt", True)
    sys.modules.pop("heedful.corpora.readers.toy")
