import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadInput
from heedful.text.vocabulary import SPECIAL, Vocabulary

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "<s>"]))


def built(tokens, query=None, **options):
    columns = {"tokens": tokens} if query is None else {"tokens": tokens, "query": query}
    frame = pl.LazyFrame(columns, schema=dict.fromkeys(columns, pl.List(pl.String)))
    return Vocabulary.build(frame, **options).words[len(SPECIAL) :]


@given(rows=st.lists(st.tuples(WORDS, WORDS), max_size=6), least=st.integers(1, 3))
def test_a_word_counts_once_for_a_document_in_text_or_query(rows, least):
    text, query = [list(column) for column in zip(*rows, strict=True)] or [[], []]
    expected = {
        word for word in "abcd" if sum(word in [*one, *other] for one, other in zip(text, query, strict=True)) >= least
    }
    assert built(text, query, min_documents=least, always=["z"]) == tuple(sorted({*expected, "z"}))
    joined = [[*one, *other] for one, other in zip(text, query, strict=True)]
    assert built(joined, min_documents=least, always=["z"]) == built(text, query, min_documents=least, always=["z"])


def test_words_that_are_always_in_stand_in_order_and_no_special_one_is_doubled():
    assert built([["b", "b"], ["b", "d"]], min_documents=2, always=["c", "b", "<s>"]) == ("b", "c")


def test_no_word_is_left():
    with pytest.raises(BadInput, match="no word occurs in 2 training documents; lower min_documents"):
        built([["a"], ["b"]], min_documents=2)


@given(rows=st.lists(st.tuples(WORDS, WORDS), max_size=6), documents=st.integers(1, 3), occurrences=st.integers(1, 6))
def test_a_word_may_have_to_occur_often(rows, documents, occurrences):
    text, query = [list(column) for column in zip(*rows, strict=True)] or [[], []]
    both = [[*one, *other] for one, other in zip(text, query, strict=True)]
    expected = {
        word
        for word in "abcd"
        if sum(word in one for one in both) >= documents and sum(one.count(word) for one in both) >= occurrences
    }
    options = {"min_documents": documents, "min_count": occurrences, "always": ["z"]}
    assert built(text, query, **options) == built(both, **options) == tuple(sorted({*expected, "z"}))


def test_no_word_is_left_of_those_that_occur_often():
    with pytest.raises(BadInput, match=r"in 1 training documents and 5 times in all; lower min_documents or min_count"):
        built([["a"] * 4, ["b"]], min_count=5)
    assert built([["a"] * 5, ["b"]], min_count=5) == ("a",)
