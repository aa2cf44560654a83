import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from heedful.errors import BadInput
from heedful.text.word2vec import TokenLists, train_word2vec

pytest.importorskip("gensim")

PROGRAM = """
import hashlib
from heedful.text.word2vec import train_word2vec
texts = [[f"w{(i * j) % 23}" for j in range(30)] for i in range(60)]
keyed = train_word2vec(texts, width=8, window=3, min_count=1, epochs=3, seed=5)
print(hashlib.sha256(keyed.vectors.tobytes()).hexdigest(), *keyed.index_to_key)
"""


def test_the_same_vectors_in_another_process():
    answers = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert "w7" in answers.pop()


def test_options_reach_gensim():
    texts = [["a", "b", "a", "c"], ["a", "b", "rare"]] * 2 + [["once"]]
    plain = train_word2vec(texts, width=6, window=2, min_count=2, epochs=2, seed=0)
    assert sorted(plain.index_to_key) == ["a", "b", "c", "rare"]
    assert plain.vectors.shape == (4, 6)
    unit = train_word2vec(texts, width=6, window=2, min_count=2, epochs=2, seed=0, normalise=True)
    np.testing.assert_allclose(np.linalg.norm(unit.vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(
        unit.vectors * np.linalg.norm(plain.vectors, axis=1, keepdims=True), plain.vectors, rtol=1e-4
    )
    other = train_word2vec(texts, width=6, window=2, min_count=2, epochs=2, seed=1)
    assert not np.array_equal(other.vectors, plain.vectors)


def test_texts_longer_than_gensims_limit_are_read_to_the_end():
    long = ["a"] * 10_000 + ["late"] * 20_000
    keyed = train_word2vec([long], width=2, window=1, min_count=1, epochs=1, seed=0)
    assert keyed.get_vecattr("late", "count") == 20_000
    untrained = train_word2vec([long[:10_001]], width=2, window=1, min_count=1, epochs=1, seed=0)
    assert not np.allclose(keyed["late"], untrained["late"])


def test_bad_texts():
    with pytest.raises(BadInput, match="no word occurs 5 times"):
        train_word2vec([["a", "b"]], width=2, window=1, min_count=5, epochs=1, seed=0)
    with pytest.raises(TypeError, match="not a generator"):
        train_word2vec((text for text in [["a"]]), width=2, window=1, min_count=1, epochs=1, seed=0)


def test_token_lists_come_again_and_in_order(tmp_path):
    rows = [[f"w{number}", "x"] for number in range(5000)]
    pl.DataFrame({"tokens": rows, "other": range(5000)}).write_parquet(tmp_path / "c.parquet", row_group_size=700)
    texts = TokenLists(pl.scan_parquet(tmp_path / "c.parquet"))
    assert list(texts) == rows
    assert list(texts) == rows


def test_token_lists_by_sentence_with_unknown_words(tmp_path):
    rows = [[f"w{number}", "x", "y"] for number in range(5000)]
    frame = pl.DataFrame({"sentences": [[2, 1], [3]] * 2500, "tokens": rows, "query": [["q"]] * 5000})
    frame.write_parquet(tmp_path / "c.parquet", row_group_size=700)
    lazy = pl.scan_parquet(tmp_path / "c.parquet")
    by_sentence = [cut for n, row in enumerate(rows) for cut in ([row] if n % 2 else [row[:2], row[2:]])]
    assert list(TokenLists(lazy)) == by_sentence
    known = {"x", "w3"}
    texts = TokenLists(lazy, known=known)
    expected = [[word if word in known else "<unk>" for word in sentence] for sentence in by_sentence]
    assert list(texts) == expected
    assert list(texts) == expected
    assert list(TokenLists(lazy, "query")) == [["q"]] * 5000
    assert next(iter(TokenLists(lazy.drop("sentences"), known=()))) == ["<unk>"] * 3


class Failing:
    """Texts that can be read a few times only."""

    def __init__(self, passes: int) -> None:
        self.left = passes

    def __iter__(self):
        for number in range(60):
            if number == 30 and self.left == 0:
                raise FileNotFoundError("gone")
            yield [f"w{(number * j) % 23}" for j in range(30)]
        self.left -= 1


@pytest.mark.parametrize("passes", [0, 1, 2])
def test_texts_that_cannot_be_read_any_more_are_an_error_and_no_endless_wait(passes):
    with pytest.raises(FileNotFoundError, match="gone"):
        train_word2vec(Failing(passes), width=8, window=3, min_count=1, epochs=3, seed=5)
