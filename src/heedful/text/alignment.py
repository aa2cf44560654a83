"""Where tokens stand in a text, by character, whatever a tokenizer did to case, accents and white space."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from heedful.ragged import Flags

Span = tuple[int, int]  # first character, and the one after the last

NEAR = 100  # characters that a lenient search may pass over, and so many more for each token that was not found
_ESCAPED = {"``": '"', "''": '"', "-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_MARKS = ("##", "▁", "Ġ", "@@", "</w>")  # of word pieces


class Characters:
    """A text without case and accents, and which of its characters each one was."""

    def __init__(self, text: str) -> None:
        parts = [_folded(character) for character in text]
        self.plain = "".join(parts)
        self.origin = np.repeat(np.arange(len(text)), [len(part) for part in parts])

    def span(self, start: int, stop: int) -> Span:
        """The characters of the text behind `plain[start:stop]`."""
        return int(self.origin[start]), int(self.origin[stop - 1]) + 1

    def find(self, token: str, start: int, stop: int | None = None) -> Span | None:
        """The first place of a token in `plain`, before `stop`: right at `start`, at the beginning of a word or, if
        there is none, inside one."""
        for form in _forms(token):
            found = self._find(form, start, len(self.plain) if stop is None else stop + len(form))
            if found is not None:
                return found, found + len(form)
        return None

    def _find(self, form: str, start: int, stop: int) -> int | None:
        first = found = self.plain.find(form, start, stop)
        while found >= 0:
            if found == start or not (form[0].isalnum() and self.plain[found - 1].isalnum()):
                return found
            found = self.plain.find(form, found + 1, stop)
        return first if first >= 0 else None


def spans_of(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Where each token stands, one after another; from the first that is not found on, None.

    >>> spans_of("Can't stop.", ["ca", "n't", "stop", "!"])
    [(0, 2), (2, 5), (6, 10), None]
    """
    characters, end = Characters(text), 0
    spans: list[Span | None] = [None] * len(tokens)
    for place, token in enumerate(tokens):
        if not token.strip():
            spans[place] = (0, 0)
            continue
        where = characters.find(token, end)
        if where is None:
            break
        spans[place], end = characters.span(*where), where[1]
    return spans


def items_in(text: str, items: Sequence[str], spans: Sequence[Span]) -> Flags | None:
    """Which items of a text overlap one of the spans. An item that is not found, such as one that stands for any number
    or an unknown word, is taken to be all that lies between its neighbours. None if fewer than half are found.

    >>> items_in("Paid 25 dollars", ["paid", "qqq", "dollars"], [(5, 7)]).tolist()
    [False, True, False]
    """
    marked = np.zeros(len(text) + 1, dtype=np.int64)
    for start, stop in spans:
        marked[start:stop] = 1
    marked[[place for place, character in enumerate(text) if character.isspace()]] = 0
    before = np.concatenate([[0], np.cumsum(marked)])
    places = _lenient(text, items)
    if sum(place is not None for place in places) * 2 < len(items):
        return None
    flags, end = np.zeros(len(items), dtype=np.bool_), 0
    following = len(text)
    stops = [0] * len(items)  # where the next item that is found begins
    for index in range(len(items) - 1, -1, -1):
        stops[index] = following
        place = places[index]
        following = following if place is None else place[0]
    for index, place in enumerate(places):
        start, stop = (end, stops[index]) if place is None else place
        flags[index] = before[stop] > before[start] if stop > start else False
        end = end if place is None else place[1]
    return flags


def _lenient(text: str, items: Sequence[str]) -> list[Span | None]:
    """Where items stand, as far as they are found near the one before."""
    characters, end, lost = Characters(text), 0, 0
    places: list[Span | None] = []
    for item in items:
        where = characters.find(item, end, end + NEAR * (1 + lost)) if item.strip() else None
        places.append(None if where is None else characters.span(*where))
        lost = lost + 1 if where is None else 0
        end = end if where is None else where[1]
    return places


@lru_cache(maxsize=1 << 14)
def _folded(text: str) -> str:
    """Without case and accents; an accent alone is nothing."""
    return "".join(each for each in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(each))


@lru_cache(maxsize=1 << 16)
def _forms(token: str) -> tuple[str, ...]:
    """How a token may be written in a text, without case and accents."""
    plain = _folded(token.strip())
    forms = [plain, _ESCAPED.get(plain, "")]
    for mark in map(_folded, _MARKS):
        forms.append(plain.removeprefix(mark) if plain.startswith(mark) else plain.removesuffix(mark))
    return tuple(dict.fromkeys(form for form in forms if form))
