import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import MissingExtra, install_hint
from heedful.text import tokenising
from heedful.text.tokenising import SpacyTokeniser, keras_tokens, tokeniser
from tests.strategies import examples

spacy = pytest.importorskip("spacy")
PLAIN = spacy.blank("en")

AWKWARD = [
    "",
    "   ",
    "Don't can't won't shouldn't've y'all 'cause it's John's",
    "e.g. i.e. a.m. p.m. 5a.m. at 10 p.m . U.S.A. Mr. Smith vs. Dr. Who, Inc .",
    "see https://example.org/a?b=c&d#e or www.x.co.uk/ (mail: a.b@c.de).",
    "unicode\u00a0spaces\u2003between\u3000words\x1fand\x85lines\u2028here",
    "emoji \U0001f600\U0001f44d\U0001f3fd family \U0001f468\u200d\U0001f469\u200d\U0001f467 flag \U0001f1f3\U0001f1f4",
    ":) :-( ;-D <3 </3 ^_^ (o: :')  ( ͡° ͜ʖ ͡°) (╯°□°\uff09╯︵┻━┻ ¯\\(ツ)/¯",
    "x:) ) y",
    "x:) ) ) z : ) : ( 8 ) ; - )",
    "well . . . so -- and / or w / o and/or n't ' s ' cause",
    "o. O hello. Only v. v 0. 0 He 's Let 's doin ' it",
    "$5.00 5km 3,000,000 50% 1/2 x² H₂O ½ ٣ 10-20 #1 @me",
    "semi-final so-called rock'n'roll (((nested))) \"quoted\" «guillemets» “curly”",
    "ALLCAPS İstanbul ΑΣ straße Ǆ",
    "C++ c# .NET a/b/c A.B.C. ... ?!?! -- —dash—",
    "<br /><br />tag</p> &amp; \\n \\t",
]


def plain(text: str) -> list[str]:
    tokens = [token.text for token in PLAIN(" ".join(text.split()))]
    return ["qqq" if any(letter.isdigit() for letter in token) else token.lower() for token in tokens]


@pytest.mark.parametrize("text", AWKWARD)
def test_chunks_give_what_spacy_gives(text):
    assert tokeniser()(text) == plain(text)


def test_a_text_in_which_chunks_are_not_independent_is_among_them():
    text = "x:) ) y"
    assert [token for chunk in text.split() for token in plain(chunk)] != plain(text)


PIECES = sorted({piece for rule in PLAIN.tokenizer.rules for piece in (rule, *rule) if not piece.isspace()})


@examples(400)
@given(st.lists(st.sampled_from([*PIECES, " ", " ", " ", "x", "Only", "7"]), max_size=14).map("".join))
def test_special_cases_torn_apart_by_spaces(text):
    assert tokeniser()(text) == plain(text)


@examples(200)
@given(st.text(max_size=60))
def test_any_text(text):
    assert tokeniser()(text) == plain(text)


def test_numbers_are_kept_where_asked():
    assert tokeniser(numbers=True)("In 1999 IT cost $5") == ["in", "1999", "it", "cost", "$", "5"]
    assert tokeniser()("In 1999 IT cost $5") == ["in", "qqq", "it", "cost", "$", "qqq"]


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(tokenising, "CACHED_CHUNKS", 10)
    small = SpacyTokeniser()
    text = " ".join(f"word{letter}." for letter in "abcdefghijklmnopqrstuvwxyz") + " " + "z" * 100
    assert small(text) == small(text) == plain(text)
    assert 0 < len(small._seen) <= 10
    assert "z" * 100 not in small._seen


def test_keras_tokens():
    text = "Don't miss it!<br /><br />A so-so (10/10) film_noir:\tTOP"
    assert keras_tokens(text) == "don't miss it br br a so so 10 10 film noir top".split()
    assert keras_tokens(" !? ") == []


def test_without_spacy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra) as error:
        SpacyTokeniser()
    assert str(error.value).endswith(f"needs spaCy, which is not installed: {install_hint('papers')}")
