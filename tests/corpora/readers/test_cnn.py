import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora.loading import load
from heedful.corpora.readers.cnn import _ENTITY
from heedful.errors import BadInput, NotFound
from tests.corpora.native import pack, unpack, write

FOLDERS = {"train": "training", "dev": "validation", "test": "test"}
COUNTS = {"train": 6, "dev": 3, "test": 3}


def article(n):
    return f"( @entity{n % 3 * 5} ) -- @entity10 met @entity{n % 3 * 5} , 21 , on monday {n}"


def native(n, answer=None, entities=True):
    answer = answer or f"@entity{n % 3 * 5}"
    names = "\n\n@entity0:CNN\n@entity5:Oslo\n@entity10:Anna" if entities else ""
    return f"http://cnn.com/{n}\n\n{article(n)}\n\n@placeholder met Anna\n\n{answer}{names}".encode()


def files(prefix=""):
    return {
        f"{prefix}questions/{FOLDERS[split]}/{n:03x}.question": native(n, entities=n % 2 == 0)
        for split, count in COUNTS.items()
        for n in range(count)
    }


def preprocessed(count):
    return "".join(f"@placeholder met Anna\n@entity{n % 3 * 5}\n{article(n)}\n\n" for n in range(count))


def rows(corpus, split):
    return corpus.split(split).drop("id").to_dicts()


def test_native_files(tmp_path):
    unpack(tmp_path / "cnn", files())
    corpus = load("cnn", data=tmp_path)
    assert corpus.sizes() == COUNTS
    assert corpus.classes == ("@entity0", "@entity5", "@entity10")
    first, second, third = corpus.split("test").to_dicts()
    assert first["id"] == "test-000"
    assert first["tokens"] == article(0).split()
    assert first["query"] == ["@placeholder", "met", "Anna"]
    assert (first["label"], second["label"], third["label"]) == (0, 1, 2)
    assert (first["candidates"], second["candidates"], third["candidates"]) == ([0, 2], [1, 2], [2])


def test_every_format_gives_the_same(tmp_path):
    unpack(tmp_path / "native" / "cnn", files())
    pack(
        tmp_path / "packed" / "cnn.tgz",
        files("cnn/") | {"cnn/questions/test/._000.question": b"x", "cnn/stories/x.story": b"x"},
    )
    texts = {f"{split}.txt": preprocessed(count).encode() for split, count in COUNTS.items()}
    unpack(tmp_path / "text" / "cnn", texts)
    pack(tmp_path / "tar" / "cnn" / "cnn.tar.gz", {f"cnn/{name}": text for name, text in texts.items()})
    corpora = [load("cnn", data=tmp_path / kind) for kind in ("native", "packed", "text", "tar")]
    for split in COUNTS:
        assert all(rows(corpus, split) == rows(corpora[0], split) for corpus in corpora)
    assert corpora[2].split("dev")["id"].to_list() == ["dev-1", "dev-2", "dev-3"]


def test_entities_that_training_never_saw(tmp_path):
    unpack(tmp_path / "cnn", files())
    folder = tmp_path / "cnn" / "questions" / "test"
    write(folder / "000.question", b"u\n\n@entity7 and @entity10 met\n\n@placeholder ?\n\n@entity7")
    write(folder / "001.question", b"u\n\n@entity7 and @entity8 met\n\n@placeholder ?\n\n@entity8")
    first, second, third = load("cnn", data=tmp_path).split("test").to_dicts()
    assert (first["label"], first["candidates"]) == (None, [2])
    assert (second["label"], second["candidates"]) == (None, [0, 1, 2])
    assert third["label"] == 2


def test_the_training_folder_alone_is_a_subset(tmp_path):
    unpack(tmp_path / "cnn", {name: text for name, text in files().items() if "training" in name})
    with pytest.raises(NotFound, match=r"a subset is there: --subset uses it\): get the questions"):
        load("cnn", data=tmp_path)
    corpus = load("cnn", data=tmp_path, subset=True)
    assert corpus.subset
    assert corpus.sizes() == {"train": 3, "dev": 1, "test": 2}


def test_all_splits_go_before_the_training_folder_alone(tmp_path):
    unpack(tmp_path / "cnn", files())
    corpus = load("cnn", data=tmp_path, subset=True)
    assert (corpus.subset, corpus.sizes()) == (False, COUNTS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (native(0, "@entity5"), r"000\.question, line 7: the answer '@entity5' is no entity of the article"),
        (native(0, "Anna"), r"000\.question, line 7: the answer 'Anna' is no entity"),
        (
            b"url\n\ntext @entity1\n\n@placeholder",
            r"000\.question: 3 blocks .* needs address, article, question",
        ),
        (b"", r"000\.question: 0 blocks between blank lines"),
        (b"caf\xe9", r"000\.question: byte 0xe9 is not UTF-8"),
    ],
)
def test_bad_native_files(tmp_path, content, message):
    unpack(tmp_path / "cnn", files())
    write(tmp_path / "cnn" / "questions" / "validation" / "000.question", content)
    with pytest.raises(BadInput, match=message):
        load("cnn", data=tmp_path)
    pack(tmp_path / "packed" / "cnn.tgz", files() | {"questions/test/000.question": content})
    with pytest.raises(BadInput, match=rf"cnn\.tgz, questions/test/{message}"):
        load("cnn", data=tmp_path / "packed")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("who ?\n@entity1\n", r"dev\.txt, line 13: 2 lines instead of question, answer, article"),
        ("who ?\n@entity1\n@entity1 did\nmore\n", r"dev\.txt, line 13: 4 lines instead of"),
        ("who ?\n@entity1\n@entity2 did\n", r"dev\.txt, line 14: the answer '@entity1' is no entity of the article"),
    ],
)
def test_bad_preprocessed_files(tmp_path, block, message):
    for split, count in COUNTS.items():
        write(tmp_path / "cnn" / f"{split}.txt", preprocessed(count))
    write(tmp_path / "cnn" / "dev.txt", preprocessed(3) + block)
    with pytest.raises(BadInput, match=message):
        load("cnn", data=tmp_path)


@given(st.lists(st.sampled_from(["@entity1", "@entity23", "@entity1's", "x@entity4", "@entity", "@entity5x", "a"])))
def test_entities_are_whole_tokens(tokens):
    assert _ENTITY.findall(" ".join(tokens)) == [token for token in tokens if token in ("@entity1", "@entity23")]
