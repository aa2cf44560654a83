import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import BadConfig, BadInput, MissingExtra, install_hint
from heedful.text import sentences
from heedful.text.sentences import flatten, text_sentences, token_sentences
from heedful.text.tokenising import tokeniser
from tests.strategies import examples

spacy = pytest.importorskip("spacy")
PLAIN = spacy.blank("en")
PLAIN.add_pipe("sentencizer")
MARKS = sorted(PLAIN.get_pipe("sentencizer").punct_chars)

PIECES = [
    *MARKS,
    *"\"')]}([«»…-*#@,;:",
    "...",
    "?!",
    "etc.",
    "U.S.",
    "Mr.",
    "3.5",
    "No.",
    "can't",
    ":)",
    "²",
    "İ",
    "\\n",
]


def plain(text: str) -> list[list[str]]:
    return [[token.text.lower() for token in sentence] for sentence in PLAIN(" ".join(text.split())).sents]


def check(text: str) -> None:
    assert text_sentences(text) == plain(text)
    for numbers in (True, False):
        cut = text_sentences(text, numbers=numbers)
        assert flatten(cut)[0] == tokeniser(numbers=numbers)(text)
        assert [len(sentence) for sentence in cut] == [len(sentence) for sentence in plain(text)]
        assert all(cut)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\u00a0 ",
        "no end",
        "One. Two! Three? ... Four.",
        '"Is it?" she asked. "It is." (So!) *** Well.',
        "He paid $3.50 at 9 p.m. Mr. Smith didn't. x:) ) y. z",
        "?!",
        ". . . a . ' b",
        "一。二｡ three",
    ],
)
def test_the_rule_gives_what_spacy_gives(text):
    check(text)


@examples(300)
@given(st.lists(st.sampled_from([*PIECES, *"   abAB7", "Word"]), max_size=30).map("".join))
def test_marks_in_any_order(text):
    check(text)


@examples(200)
@given(st.text(max_size=60))
def test_any_text(text):
    check(text)


def test_case_and_digits_are_nothing_to_the_rule():
    ends, is_mark = sentences._ENDS, sentences._is_mark
    for letter in map(chr, range(sys.maxunicode + 1)):
        lowered = letter.lower()
        assert (letter in ends, is_mark(letter)) == (lowered in ends, is_mark(lowered))
        assert not (letter.isdigit() and (letter in ends or is_mark(letter)))


def test_tokens_stay_as_they_are():
    tokens = ["Two Words", ".", "X", "."]
    assert token_sentences(tokens) == [["Two Words", "."], ["X", "."]]
    assert token_sentences([]) == []
    assert flatten([]) == ([], [])


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    """A parser that has learnt to begin a sentence at `so`, and a tokeniser that only knows spaces."""
    from spacy.tokenizer import Tokenizer
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    model = spacy.blank("en")
    model.add_pipe("parser").add_label("dep")
    words = "we can wait so you stay so they go".split()
    truth = {"heads": [2, 2, 2, 5, 5, 5, 8, 8, 8], "deps": ["dep", "dep", "ROOT"] * 3}
    example = Example.from_dict(spacy.tokens.Doc(model.vocab, words=words), truth)
    model.initialize(lambda: [example])
    for _ in range(30):
        model.update([example])
    model.tokenizer = Tokenizer(model.vocab)
    path = tmp_path_factory.mktemp("models") / "tiny"
    model.to_disk(path)
    return str(path)


def test_a_parser_cuts_and_the_tokens_are_ours(parser):
    text = "We can\n wait so YOU stay so they go"
    expected = [["we", "can", "wait"], ["so", "you", "stay"], ["so", "they", "go"]]
    assert text_sentences(text, parser) == expected
    assert text_sentences("", parser) == []
    assert token_sentences(text.split(), parser) == [["We", "can", "wait"], ["so", "YOU", "stay"], ["so", "they", "go"]]
    assert token_sentences([], parser) == []
    odd = "We can't wait (so you 5pm stay). x:) ) y"
    for numbers in (True, False):
        cut = text_sentences(odd, parser, numbers=numbers)
        assert flatten(cut)[0] == tokeniser(numbers=numbers)(odd)
        assert all(cut)
        ours = text_sentences(odd, parser, rules="built-in", numbers=numbers)
        assert flatten(ours)[0] == tokeniser("built-in", numbers=numbers)(odd)
        assert all(ours)


def test_a_text_that_is_too_long_to_parse(parser, monkeypatch):
    monkeypatch.setattr(sentences._model(parser), "max_length", 10)
    with pytest.raises(
        BadInput, match=r"begins 'so you stay so' has 14 characters, and spaCy parses 10 at most: .*remove"
    ):
        text_sentences("so you  stay so", parser)


def test_a_model_that_is_not_there():
    with pytest.raises(
        BadConfig, match=r"'en_no_such' is neither 'sentencizer' nor .*python -m spacy download en_no_such"
    ):
        text_sentences("a text", "en_no_such")


def test_a_model_that_finds_no_sentences_or_is_none(tmp_path):
    blank = spacy.blank("en")
    blank.add_pipe("entity_ruler")
    blank.to_disk(tmp_path / "model")
    with pytest.raises(BadConfig, match=r"has no parser, senter or sentencizer .*\(it has: entity_ruler\); take"):
        token_sentences(["a"], str(tmp_path / "model"))
    with pytest.raises(BadConfig, match=r"'numpy': spaCy cannot load it as a model \(.*\); install it again"):
        text_sentences("a text", "numpy")
    (tmp_path / "model" / "config.cfg").write_text("[nlp]\nlang = 5\n")
    with pytest.raises(BadConfig, match=r"spaCy cannot load it"):
        sentences._model.__wrapped__(str(tmp_path / "model"))


def test_the_marks_that_end_sentences_are_those_of_spacy():
    assert sorted(sentences._ENDS) == MARKS


def test_a_model_without_spacy_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra) as error:
        sentences._model.__wrapped__("en_core_web_sm")
    assert str(error.value).endswith(f"needs spaCy, which is not installed: {install_hint('papers')}")
