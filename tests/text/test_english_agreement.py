"""The built-in tokeniser against spaCy's rules, on test texts of real corpora."""

from itertools import islice

import pytest

from heedful.text.english import split_chunk
from tests.corpora.real_texts import TEXTS

STEPS = {"imdb": 100, "agnews": 10, "yelp": 20, "newsgroups": 4}  # every which text is read


def spans(split):
    ends = 0
    for token in split:
        yield ends, ends + len(token)
        ends += len(token)


def agreement(texts):
    """The share of spaCy's token spans that are also ours, and the reverse; and tokens."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    plain, theirs, ours, both = spacy.blank("en").tokenizer, 0, 0, 0
    for text in texts:
        line = " ".join(text.split())
        places = {(token.idx, token.idx + len(token)) for token in plain(line)}
        own, start = set(), 0
        for chunk in line.split():
            own |= {(start + first, start + last) for first, last in spans(split_chunk(chunk))}
            start += len(chunk) + 1
        theirs, ours, both = theirs + len(places), ours + len(own), both + len(places & own)
    return both / theirs, both / ours


@pytest.mark.parametrize(
    ("name", "least"), [("imdb", 0.999), ("agnews", 0.999), ("yelp", 0.999), ("newsgroups", 0.995)]
)
def test_tokens_agree_with_those_of_spacy(real_data, name, least):
    share, reverse = agreement(islice(TEXTS[name](real_data, "test"), 0, None, STEPS[name]))
    assert share >= least
    assert reverse >= least
