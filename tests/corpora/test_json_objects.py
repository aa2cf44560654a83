import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora import json_objects as module
from heedful.corpora.json_objects import json_objects
from heedful.errors import BadInput
from tests.corpora.native import write

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=4), max_size=5)


@pytest.fixture
def small(monkeypatch):
    """Objects reach over many chunks."""
    monkeypatch.setattr(module, "CHUNK", 3)


@given(objects=OBJECTS, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans(), chunk=st.integers(1, 9))
def test_any_objects_in_any_chunks(tmp_path_factory, objects, indent, ascii_only, chunk):
    path = tmp_path_factory.mktemp("objects") / "data.json"
    options = {"indent": indent, "ensure_ascii": ascii_only}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        for text in (json.dumps(objects, **options), "\n".join(json.dumps(one, **options) for one in objects)):
            write(path, text.encode("utf-8", "surrogatepass"))
            assert [value for _, value in json_objects(path)] == objects


@pytest.mark.parametrize("name", ["data.json", "data.json.gz"])
def test_places(tmp_path, small, name):
    path = write(tmp_path / name, '\ufeff\n [ {"a": 1},\n\n{"b":\n 2}, {"c": 3}\n]\n ')
    assert list(json_objects(path)) == [
        (f"{path}, line 2, column 4", {"a": 1}),
        (f"{path}, line 4, column 1", {"b": 2}),
        (f"{path}, line 5, column 6", {"c": 3}),
    ]


@pytest.mark.parametrize("content", ["", " \n", "[]", " [ \n ] "])
def test_nothing(tmp_path, content):
    assert list(json_objects(write(tmp_path / "data.json", content))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '[{"a": 1}, {"a": 2',
            r"line 1, column 19: not JSON \(Expecting ',' delimiter\), in what begins at .*column 12",
        ),
        ('[{"a": 1},\n{"a": "2', r"line 2, column 7: not JSON \(Unterminated string.*cut short"),
        ('[{"a": 1}', r"line 1, column 10: not JSON \(',' or '\]' should follow.*cut short"),
        ('[{"a": 1} {"a": 2}]', r"line 1, column 11: not JSON \(',' or '\]' should follow"),
        ('[{"a": 1},]', r"line 1, column 11: not JSON \(Expecting value\)"),
        ('[{"a": 1},', r"line 1, column 11: not JSON \(Expecting value\)"),
        ("[", r"line 1, column 2: not JSON \(Expecting value\)"),
        ('[{"a": 1}] {"a": 2}', r"line 1, column 12: not JSON \(something follows the end"),
        (
            '{"a": 1}\n{"a": oops}',
            r"line 2, column 7: not JSON \(Expecting value\), in what begins at .*line 2, column 1;",
        ),
        ('{"a": 1}\n[2]', r"line 2, column 1: holds \[2\], which is no object"),
        ("[1, 2]", r"line 1, column 2: holds 1, which is no object"),
        ("<html>not found</html>", r"line 1, column 1: not JSON \(Expecting value\)"),
        ('{"a": ' + "9" * 5000 + "}", r"line 1, column 1: not JSON \(.*digits"),
        ('{"a": ' + "[" * 100_000, r"line 1, column 1: nested too deeply"),
        (b'{"a": 1}\n{"a": "caf\xe9"}', r"byte 0xe9 is not UTF-8 text; save the file as UTF-8"),
    ],
)
@pytest.mark.parametrize("chunk", [5, 1 << 20])
def test_damage_is_placed(tmp_path, monkeypatch, content, message, chunk):
    monkeypatch.setattr(module, "CHUNK", chunk)
    path = write(tmp_path / "data.json", content)
    with pytest.raises(BadInput, match=rf"data\.json, {message}" if message.startswith("line") else message):
        list(json_objects(path))


def test_a_packed_file_that_was_cut_short(tmp_path):
    path = write(tmp_path / "data.json.gz", '[{"a": 1}]' * 10)
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(BadInput, match=r"data\.json\.gz is damaged or was cut short"):
        list(json_objects(path))


def test_damage_does_not_make_it_read_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 1000)
    monkeypatch.setattr(module, "LARGEST", 10_000)
    path = write(tmp_path / "data.json", '[{"a": "never closed ' + "x" * 100_000)
    read = []
    monkeypatch.setattr(module._Text, "_more", counted(module._Text._more, read))
    with pytest.raises(BadInput, match="column 8: not JSON"):
        list(json_objects(path))
    assert sum(read) <= 20_000


def counted(more, read):
    def counting(self, size):
        read.append(size)
        return more(self, size)

    return counting


def test_an_array_is_never_in_memory_at_once(tmp_path):
    path = tmp_path / "data.json"
    with path.open("w") as file:
        file.write("[" + ",".join(json.dumps({"review": "x" * 2000, "n": n}) for n in range(10_000)) + "]")
    tracemalloc.start()
    assert sum(1 for _ in json_objects(path)) == 10_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000  # of 20 MB
