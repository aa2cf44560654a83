import subprocess
import sys

from heedful.corpora.download import SOURCES
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
    assert [name for name, entry in entries.items() if entry.downloadable] == list(SOURCES)
    assert all(entry.how_to_get and entry.task and entry.sizes for entry in entries.values())


def test_the_registry_is_light():
    program = "import sys, heedful.corpora.registry; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "heedful.corpora.readers.sst" in modules
    assert not {"torch", "spacy", "sklearn", "gensim", "pooch", "pandas"} & set(modules)
