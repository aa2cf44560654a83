"""Texts in which one of spaCy's special cases may reach over white space, so that chunks are not independent.

spaCy matches special cases of several tokens, such as the emoticon `:))`, against tokens without regard to the spaces
between them. In `x:) )` that match, though not applied, hides the shorter `:)`; the chunks `x:)` and `)` alone give it.
"""

import re
from itertools import pairwise
from typing import Any

_LETTER = r"[^\W\d_]"


class CrossingCases:
    """The special cases of a spaCy tokeniser that consist of several tokens."""

    def __init__(self, tokeniser: Any) -> None:
        cases = _token_sequences(tokeniser)
        heads, tails = _split_off(tokeniser)
        by_gap: dict[str, list[str]] = {}
        for tokens in cases:
            spaced = _spaced(tokens, heads, tails)
            for left, right in pairwise(tokens):
                by_gap.setdefault(f"{left[-1]} {right[0]}", []).append(spaced)
        self._cases = {gap: re.compile("|".join(patterns)) for gap, patterns in by_gap.items()}
        self._gaps = re.compile(_gap_pattern(set(by_gap)))
        self._reach = max((len(" ".join(tokens)) for tokens in cases), default=0) + 1

    def may_occur(self, text: str) -> bool:
        """Whether a special case may reach over one of the single spaces of `text`: seldom, and never missed."""
        for gap in self._gaps.finditer(text):
            place = gap.start()
            cases = self._cases[text[place - 1 : place + 2]]
            if cases.search(text[max(0, place - self._reach) : place + self._reach]):
                return True
        return False


def _token_sequences(tokeniser: Any) -> list[list[str]]:
    """Each special case as its tokens would be without it: what spaCy looks for."""
    without_rules = type(tokeniser)(
        tokeniser.vocab,
        rules={},
        prefix_search=tokeniser.prefix_search,
        suffix_search=tokeniser.suffix_search,
        infix_finditer=tokeniser.infix_finditer,
        token_match=tokeniser.token_match,
        url_match=tokeniser.url_match,
    )
    sequences = ([token.text for token in without_rules(special)] for special in sorted(tokeniser.rules))
    return [tokens for tokens in sequences if len(tokens) > 1]


def _split_off(tokeniser: Any) -> tuple[set[str], set[str]]:
    """The tokens that special cases cut off inside a word: before another (`can` of `cannot`) and after one (`not`)."""
    from spacy.symbols import ORTH

    parts = [[piece[ORTH] for piece in pieces] for pieces in tokeniser.rules.values()]
    return {token for part in parts for token in part[:-1]}, {token for part in parts for token in part[1:]}


def _spaced(tokens: list[str], heads: set[str], tails: set[str]) -> str:
    """A pattern for the tokens with a space in at least one gap; at either end a word must be whole."""
    before = f"(?<!{_LETTER})" if tokens[0][0].isalpha() and tokens[0] not in tails else ""
    after = f"(?!{_LETTER})" if tokens[-1][-1].isalpha() and tokens[-1] not in heads else ""
    quoted = [re.escape(token) for token in tokens]
    forms = ("".join(quoted[:gap]) + " " + " ?".join(quoted[gap:]) for gap in range(1, len(quoted)))
    return f"{before}(?:{'|'.join(forms)}){after}"


def _gap_pattern(gaps: set[str]) -> str:
    """A quick pattern for the spaces that stand between such characters as in one of the gaps.

    Most spaces stand between letters, and no gap does: a look at either side is enough to pass them over.
    """
    after_letter = {gap for gap in gaps if gap[0].isalpha()}
    before = _characters(gap[0] for gap in gaps - after_letter)
    behind = _characters(gap[2] for gap in after_letter)
    return f" (?:(?<={before} ){_exactly(gaps - after_letter)}|(?={behind}){_exactly(after_letter)})"


def _exactly(gaps: set[str]) -> str:
    lasts = sorted({gap[0] for gap in gaps})
    looks = (f"(?<={_characters(last)} )(?={_characters(gap[2] for gap in gaps if gap[0] == last)})" for last in lasts)
    return f"(?:{'|'.join(looks)})"


def _characters(characters: Any) -> str:
    return f"[{re.escape(''.join(sorted(set(characters))))}]"
