import shutil
from pathlib import Path

import pytest

from heedful.corpora import cache_key as module
from heedful.corpora.cache_key import SCHEME, cache_key, imported_files, same_scheme
from heedful.corpora.reader import Options
from heedful.corpora.registry import READERS
from heedful.corpora.sentence_reader import SentenceOptions


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """A copy of the package, to be edited."""
    copy = shutil.copytree(module.PACKAGE, tmp_path / "heedful", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "PACKAGE", copy)
    return copy


def keys():
    module._code.cache_clear()  # kept as long as the process
    return {name: cache_key("", reader, Options()) for name, reader in READERS.items()}


def changed_by(edit):
    before = keys()
    edit()
    after = keys()
    return [name for name in READERS if before[name] != after[name]]


def appended(path):
    return lambda: path.write_text(path.read_text() + "\n# edited\n")


def test_keys_carry_their_scheme():
    key = cache_key("", READERS["planted"], Options())
    assert key.startswith(f"{SCHEME}-")
    assert same_scheme(key)
    assert not same_scheme("b933ea55d9ce0e7d")


def test_adding_a_corpus_changes_no_key(package):
    def add():
        (package / "corpora" / "readers" / "new.py").write_text("from heedful.corpora.reader import Reader\n")
        appended(package / "corpora" / "registry.py")()

    assert changed_by(add) == []


@pytest.mark.parametrize("name", ["loading", "cache_key", "registry", "download"])
def test_modules_that_do_not_shape_documents_change_no_key(package, name):
    assert changed_by(appended(package / "corpora" / f"{name}.py")) == []


@pytest.mark.parametrize(
    ("edited", "changed"),
    [
        ("corpora/readers/sst.py", ["sst"]),
        ("corpora/readers/imdb.py", ["imdb", "imdb-ratings"]),
        ("corpora/json_objects.py", ["imdb-ratings"]),
        ("corpora/readers/babi.py", [name for name in READERS if name.startswith("babi")]),
        ("corpora/splitting.py", [name for name in READERS if name not in ("snli", "planted")]),
        ("text/sentences.py", ["yahoo", "imdb-ratings", "amazon", "yelp", "planted", "table"]),
        ("text/vocabulary.py", []),
        ("randomness.py", [name for name in READERS if name == "planted" or "simulated" in name]),
        ("text/tokenising.py", list(READERS)),
        ("corpora/writing.py", list(READERS)),
        ("corpora/reader.py", list(READERS)),
    ],
)
def test_an_edit_changes_the_keys_of_those_that_use_it(package, edited, changed):
    assert changed_by(appended(package / edited)) == changed


def test_imports_are_followed_however_they_are_written(tmp_path):
    text = tmp_path / "heedful" / "text"
    text.mkdir(parents=True)
    lines = {
        "a": "def f():\n    from heedful.text import b\n",
        "b": "import heedful.text.c as c\nimport heedful.files\n",
        "c": "from . import d\nfrom .e import g\n",
        "d": "from heedful.text.a import f\n",
        "e": "",
        "f": "",
    }
    for name, content in lines.items():
        (text / f"{name}.py").write_text(content)
    found = imported_files(("heedful.text.a",), tmp_path / "heedful")
    assert sorted(found) == [f"heedful.text.{name}" for name in "abcde"]


def test_the_registry_is_never_part_of_a_key():
    for reader in READERS.values():
        assert "heedful.corpora.registry" not in imported_files(module._modules(reader), module.PACKAGE)


def test_a_reader_from_outside_the_package_counts_too():
    class Outside(type(READERS["sst"])):
        pass

    assert {__name__, "heedful.corpora.readers.sst"} <= set(imported_files(module._modules(Outside()), module.PACKAGE))


def test_so_does_the_version_of_an_installed_sentence_model(monkeypatch):
    found = []
    for version in ("3.8.0", "3.8.1"):
        monkeypatch.setattr(module, "_version", lambda package, version=version: version)
        assert module._sentence_model("en_core_web_sm") == [version]
        found.append(cache_key("", READERS["yelp"], SentenceOptions(sentences="en_core_web_sm")))
    assert found[0] != found[1]
