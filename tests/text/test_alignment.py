"""Tokens in their texts, by character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.alignment import items_in, spans_of

WORDS = st.lists(st.text(alphabet="abcÀéß.,'9", min_size=1, max_size=5), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "tokens", "found"),
    [
        ("This is it", ["is"], ["is"]),  # a word of its own goes before a part of another one
        ("unbelievable!", ["un", "##believ", "##able", "!"], ["un", "believ", "able", "!"]),
        ('He said "no" (twice)', ["``", "no", "''", "-LRB-", "twice", "-RRB-"], ['"', "no", '"', "(", "twice", ")"]),
        ("Un CAFÉ noir", ["cafe", "noir"], ["CAFÉ", "noir"]),
        ("ein cafe\u0301 da", ["café", "da"], ["cafe", "da"]),
        ("Straße", ["straße"], ["Straße"]),
        ("ﬁne film", ["fine", "film"], ["ﬁne", "film"]),
        ("a\tb", ["a", " ", "b"], ["a", "", "b"]),
    ],
)
def test_tokens_are_found_in_the_text_as_it_is_written(text: str, tokens: list[str], found: list[str]) -> None:
    spans = spans_of(text, tokens)
    assert [text[slice(*span)] if span is not None else None for span in spans] == found


@given(WORDS)
def test_words_of_a_text_are_where_they_stand(words: list[str]) -> None:
    text, place = "  ".join(words), 0
    for word, span in zip(words, spans_of(text, words), strict=True):
        assert span == (place, place + len(word))
        place += len(word) + 2


@given(WORDS, st.data())
def test_items_are_marked_if_their_word_is(words: list[str], data: st.DataObject) -> None:
    flags = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    text = " ".join(words)
    starts = [len(" ".join(words[:place])) + bool(place) for place in range(len(words))]
    spans = [(start, start + len(word)) for start, word, flag in zip(starts, words, flags, strict=True) if flag]
    found = items_in(text, [word.lower() for word in words], spans)
    assert found is not None
    assert found.tolist() == flags


def test_what_is_not_found_lies_between_its_neighbours() -> None:
    text = "I paid 25 dollars for zyx"
    found = items_in(text, ["i", "paid", "qqq", "dollars", "for", "[UNK]"], [(7, 9), (22, 25)])
    assert found is not None
    assert found.tolist() == [False, False, True, False, False, True]
    assert items_in(text, ["[UNK]", "[UNK]", "qqq", "dollars"], [(0, 4)]) is None
    far = "a " + "b " * 200 + "cafe"  # what is only found far away is not what was meant
    flags = items_in(far, ["a", "cafe", "b", "b"], [(0, 1)])
    assert flags is not None
    assert flags.tolist() == [True, False, False, False]


def test_white_space_alone_is_never_marked() -> None:
    found = items_in("a b", ["a", "b"], [(1, 2)])
    assert found is not None
    assert not found.any()
