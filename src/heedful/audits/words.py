"""Items put together to words, to be shown: tokenizers cut words to pieces that nobody reads."""

from collections.abc import Sequence
from typing import NamedTuple


class Word(NamedTuple):
    """A word, and the weight of all its items."""

    text: str
    weight: float


def as_words(text: str | None, items: Sequence[str], weights: Sequence[float]) -> list[Word]:
    """Items that follow one another in the text without a space between them, as long as both are letters or digits,
    are one word. Where the text is not known, or an item is not in it, every item is a word.

    >>> [word.text for word in as_words("unbelievable!", ["un", "believ", "able", "!"], [0.1, 0.2, 0.3, 0.4])]
    ['unbelievable', '!']
    """
    spans = None if text is None else _spans(text, items)
    words: list[Word] = []
    end = -1
    for place, (item, weight) in enumerate(zip(items, weights, strict=True)):
        goes_on = bool(words) and spans is not None and spans[place][0] == end and _inside(words[-1].text, item)
        if goes_on:
            words[-1] = Word(words[-1].text + item, words[-1].weight + weight)
        else:
            words.append(Word(item, weight))
        end = -1 if spans is None else spans[place][1]
    return words


def _inside(before: str, item: str) -> bool:
    return before[-1:].isalnum() and item[:1].isalnum()


def _spans(text: str, items: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where each item stands; None if one is not found. Tokenizers may change case, but not the length of a text."""
    plain = text.lower() if len(text.lower()) == len(text) else text
    spans, start = [], 0
    for item in items:
        found = plain.find(item.lower(), start)
        if found < 0:
            return None
        start = found + len(item)
        spans.append((found, start))
    return spans
