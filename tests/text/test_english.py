import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.text.english import split_chunk
from heedful.text.english_exceptions import EXCEPTIONS
from heedful.text.tokenising import BUILT_IN, tokeniser
from tests.strategies import examples


def tokens(text):
    return [token for chunk in text.split() for token in split_chunk(chunk)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't! can't, wouldn't've (I'd've)", "Do n't ! ca n't , would n't 've ( I 'd 've )"),
        ("It’s John's; the boys' dogs'", "It ’s John 's ; the boys ' dogs '"),
        ("cannot gonna dont youre y'all c'mon", "can not gon na do nt you re y' all c'm on"),
        ("Mr. Smith vs. Dr. Who, Inc., i.e. U.S.A. e.g.", "Mr. Smith vs. Dr. Who , Inc. , i.e. U.S.A. e.g."),
        ("at 5a.m. or 10pm in NASA. I. It.", "at 5 a.m. or 10 pm in NASA . I. It ."),
        ("$5.00, US$3 50% 12km 3,000.5 +7 (+x) 1/2", "$ 5.00 , US$ 3 50 % 12 km 3,000.5 +7 ( + x ) 1/2"),
        (
            "well-known end.Start a,b 1-2 3--4 so--well x=y",
            "well - known end . Start a , b 1 - 2 3 - -4 so -- well x = y",
        ),
        ("Wait... what?!?! ...no…", "Wait ... what ? ! ? ! ... no …"),
        ('"quoted" «guillemets» “curly” (((nested)))', '" quoted " « guillemets » “ curly ” ( ( ( nested ) ) )'),
        (
            "(see http://example.org/a?b=c#d, me@example.co.uk!)",
            "( see http://example.org/a?b=c#d , me@example.co.uk ! )",
        ),
        ("www.example.org/x_(y); example.org:80/x 1.2.3", "www.example.org/x_(y ) ; example.org:80/x 1.2.3"),
        ("good:) great:)) <3 x :(", "good :) great :)) <3 x :("),
        ("a/b and/or <br/>ok @me #tag C++", "a / b and/or < br/>ok @me # tag C++"),
        ("☃snow☃man 東京。", "☃ snow ☃ man 東京 。"),
        ("", ""),
    ],
)
def test_the_rules_by_example(text, expected):
    assert " ".join(tokens(text)) == expected


def test_an_exception_is_split_as_listed_also_between_marks():
    for text, pieces in EXCEPTIONS.items():
        assert tuple(split_chunk(text)) == pieces
        assert tuple(split_chunk(f'"{text}"')) == ('"', *pieces, '"')


@examples(400)
@given(st.lists(st.sampled_from([*sorted(EXCEPTIONS), *"aZ9.,:;-—'’()@/<>=+☃é東$%", "www.", "s"]), max_size=12))
def test_nothing_is_lost_and_no_token_is_empty(pieces):
    chunk = "".join(pieces)
    split = split_chunk(chunk) if chunk else []
    assert "".join(split) == chunk
    assert all(split)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "A",
        "9",
        ".",
        "-",
        "—",
        ":",
        "(",
        ")",
        "'",
        "=",
        "a.",
        "a-",
        "9-",
        "a,",
        "://",
        "a@",
        "@a.b",
        "a.b/",
        "'s",
        "9km",
        ":)",
        "☃",
        "n't",
        "…",
        "US$",
        "a_",
    ],
)
def test_the_time_is_linear_in_hostile_chunks(piece):
    def seconds(size):
        chunk = piece * (size // len(piece))
        started = time.process_time()
        assert "".join(split_chunk(chunk)) == chunk
        return time.process_time() - started

    small, large = (min(seconds(size) for _ in range(3)) for size in (4_000, 64_000))
    assert large < 16 * 5 * small + 0.01  # quadratic time would take 256 times as long


def test_numbers_and_case_are_as_with_the_other_rules():
    assert tokeniser(BUILT_IN)("In 1999 IT cost $5") == ["in", "qqq", "it", "cost", "$", "qqq"]
    assert tokeniser(BUILT_IN, numbers=True)("In 1999 IT cost $5") == ["in", "1999", "it", "cost", "$", "5"]
