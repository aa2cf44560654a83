import gzip

import numpy as np
import pytest

from heedful.errors import BadInput, NotFound
from heedful.text.word_vectors import Coverage, Vectors, from_keyed_vectors, initial_embedding, read_vectors

WORDS = ["<0>", "the", "café", ".", "absent"]
TABLE = {"the": [1.0, -2.5, 3e-2], "of": [9.0, 9.0, 9.0], "café": [0.5, 0.25, 4.0], ".": [7.0, 8.0, 9.0]}


def as_text(header=False):
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in TABLE.items()]
    return "\n".join([*([f"{len(TABLE)} 3"] if header else []), *lines]) + "\n"


def check(vectors):
    assert vectors.found.tolist() == [False, True, True, True, False]
    np.testing.assert_array_equal(vectors.rows, np.float32([TABLE["the"], TABLE["café"], TABLE["."]]))


@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("name", ["v.vec", "v.txt", "v.vec.gz"])
def test_text_files(tmp_path, header, name):
    path = tmp_path / name
    data = as_text(header).encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    check(read_vectors(path, WORDS, 3))


def test_words_with_spaces_are_not_taken_for_shorter_ones(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("of 9 9 9\n. . . 1 1 1\n" + as_text(), encoding="utf-8")
    check(read_vectors(path, WORDS, 3))


def test_trailing_spaces_and_repeated_words(tmp_path):
    path = tmp_path / "v.vec"
    path.write_text(as_text().replace("\n", " \n") + "the 0 0 0\n", encoding="utf-8")
    check(read_vectors(path, WORDS, 3))


@pytest.mark.parametrize("binary", [True, False])
def test_what_gensim_writes(tmp_path, binary):
    models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(3)
    keyed.add_vectors(list(TABLE), np.float32(list(TABLE.values())))
    check(from_keyed_vectors(keyed, WORDS))
    path = tmp_path / ("v.bin" if binary else "v.vec")
    keyed.save_word2vec_format(str(path), binary=binary)
    check(read_vectors(path, WORDS, 3))
    path.with_suffix(".bin.gz" if binary else ".vec.gz").write_bytes(gzip.compress(path.read_bytes()))
    check(read_vectors(path.with_suffix(".bin.gz" if binary else ".vec.gz"), WORDS, 3))
    if binary:
        path.write_bytes(path.read_bytes()[:-5])
        with pytest.raises(BadInput, match=r"v\.bin was cut short: 3 rows, its header promises 4"):
            read_vectors(path, WORDS, 3)


def test_binary_with_line_breaks_and_many_rows(tmp_path):
    path = tmp_path / "v.bin"
    rows = np.arange(5000 * 100, dtype="<f4").reshape(5000, 100)  # 2 MB: more than is read at a time
    path.write_bytes(b"5000 100\n" + b"".join(b"w%d " % i + row.tobytes() + b"\n" for i, row in enumerate(rows)))
    vectors = read_vectors(path, ["w4999", "no", "w0", "w2500"], 100)
    assert vectors.found.tolist() == [True, False, True, True]
    np.testing.assert_array_equal(vectors.rows, rows[[4999, 0, 2500]])


def test_gensims_pickles_are_refused(tmp_path):
    models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(3)
    keyed.add_vectors(list(TABLE), np.float32(list(TABLE.values())))
    for name in ("v.kv", "v.bin"):  # by its name, and by its content under another name
        keyed.save(str(tmp_path / name))
        with pytest.raises(BadInput, match=rf"{name}.*pickle.*save_word2vec_format"):
            read_vectors(tmp_path / name, WORDS, 3)


@pytest.mark.parametrize(
    ("content", "width", "message"),
    [
        (as_text(), 2, r"v\.txt, line 1: vectors of 3 dimensions, but 2 are wanted; .*width of the embedding"),
        (as_text(header=True), 5, r"v\.txt, line 1: vectors of 3 dimensions, but 5 are wanted"),
        (as_text().replace("4.0", ""), 3, r"v\.txt, line 3: vectors of 2 dimensions"),
        (as_text().replace("4.0", "4,0"), 3, r"v\.txt, line 3: not a number .*4,0"),
        (as_text().replace("4.0", "nan"), 3, r"v\.txt, line 3: a number that is not finite"),
        (as_text(header=True).replace("4 3", "40 3"), 3, r"v\.txt was cut short: 4 rows, its header promises 40"),
        ("", 3, r"v\.txt is empty"),
        ("PK\x03\x04", 3, r"v\.txt is a zip: unpack it"),
    ],
)
def test_bad_files(tmp_path, content, width, message):
    path = tmp_path / "v.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_vectors(path, WORDS, width)


def test_cut_off_gz_and_missing_file(tmp_path):
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(as_text().encode())[:-12])
    with pytest.raises(BadInput, match=r"v\.txt\.gz is damaged or was cut short"):
        read_vectors(path, WORDS, 3)
    with pytest.raises(NotFound, match="nowhere"):
        read_vectors(tmp_path / "nowhere.vec", WORDS, 3)
    (tmp_path / "v.bin").write_bytes(b"hello world, this is text\n")
    with pytest.raises(BadInput, match="not in word2vec's binary format"):
        read_vectors(tmp_path / "v.bin", WORDS, 3)


def test_a_missing_words_vector_does_not_depend_on_the_others():
    many = [f"word{number}" for number in range(2000)]
    whole = initial_embedding(many, width=20, seed=3)
    np.testing.assert_array_equal(initial_embedding(many[1500:1502], width=20, seed=3), whole[1500:1502])
    assert whole.dtype == np.float32
    assert abs(whole.mean()) < 0.02
    assert abs(whole.std() - 1) < 0.02
    assert len(np.unique(whole)) > 0.99 * whole.size
    assert not np.array_equal(initial_embedding(many, width=20, seed=4), whole)


def test_found_words_get_their_vectors():
    found = Vectors(np.float32([[5, 6]]), np.array([False, True, False]))
    zero = initial_embedding(["a", "b", "c"], width=2, seed=0, found=found, missing="zero")
    assert zero.tolist() == [[0, 0], [5, 6], [0, 0]]
    normal = initial_embedding(["a", "b", "c"], width=2, seed=0, found=found)
    assert normal[1].tolist() == [5, 6]
    assert np.array_equal(normal[[0, 2]], initial_embedding(["a", "c"], width=2, seed=0))
    with pytest.raises(BadInput, match="2 dimensions, but the embedding is to have 3"):
        initial_embedding(["a", "b", "c"], width=3, seed=0, found=found)


def test_coverage():
    coverage = Coverage.of(np.array([True, False, True, True]), [50, 10, 30, 10])
    assert coverage == Coverage(3, 4, 0.9)
    assert str(Coverage(12345, 13826, 0.9712)) == ("vectors: 12,345 of 13,826 words (89.3 %), 97.1 % of running tokens")
