"""Split texts into tokens: by heedful's own rules or spaCy's, in lower case; or as those of Keras' copy of IMDB.

Both work chunk by chunk between white space, and most chunks occur again, so each is tokenised once and remembered.
To heedful's rules (`english`) chunks are independent. To spaCy's they are not always: it matches special cases of
several tokens, such as the emoticon `:))`, whatever the spaces between them. In `x:) )` that match, though not applied,
hides the shorter `:)`, which the chunks `x:)` and `)` alone would give. `CrossingCases` finds such texts, which are
then tokenised whole.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any, Final

from heedful.errors import MissingExtra
from heedful.text.english import split_chunk

BUILT_IN: Final = "built-in"  # whose rules
SPACY: Final = "spacy"
NUMBER = "qqq"  # stands for any token with a digit in it
CACHED_CHUNKS = 200_000  # different whitespace-separated chunks remembered: about 50 MB
CACHED_LENGTH = 64  # longer chunks (addresses, rules of dashes) seldom occur again

# what Keras' text preprocessing removes before it splits on spaces; the apostrophe stays
_KERAS_FILTER = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n', " "))
_LETTER = r"[^\W\d_]"


class Tokeniser:
    """The tokens of a text by heedful's own rules, lower-cased; tokens with a digit become `qqq` unless `numbers` keeps
    them.

    >>> tokeniser(BUILT_IN)("Don't pay  $5 at 9pm :)")
    ['do', "n't", 'pay', '$', 'qqq', 'at', 'qqq', 'pm', ':)']
    """

    def __init__(self, *, numbers: bool = False) -> None:
        self.finish: Callable[[str], str] = str.lower if numbers else _lower_without_numbers
        self._seen: dict[str, tuple[str, ...]] = {}

    def split(self, chunk: str) -> Iterable[str]:
        """The tokens of a text without white space, as it writes them."""
        return split_chunk(chunk)

    def __call__(self, text: str) -> list[str]:
        """The tokens of `text`."""
        tokens: list[str] = []
        seen = self._seen
        for chunk in text.split():
            known = seen.get(chunk)
            tokens += self._chunk(chunk) if known is None else known
        return tokens

    def _chunk(self, chunk: str) -> tuple[str, ...]:
        tokens = tuple(map(self.finish, self.split(chunk)))
        if len(chunk) <= CACHED_LENGTH:
            if len(self._seen) >= CACHED_CHUNKS:
                self._seen.clear()  # the frequent ones are back after a few texts
            self._seen[chunk] = tokens
        return tokens


class SpacyTokeniser(Tokeniser):
    """The same by spaCy's rules."""

    def __init__(self, *, numbers: bool = False) -> None:
        super().__init__(numbers=numbers)
        self._spacy = import_spacy("tokenising text as in the papers").blank("en").tokenizer
        self._crossing = CrossingCases(self._spacy)

    def split(self, chunk: str) -> Iterable[str]:
        """The tokens of a text, as it writes them."""
        return [token.text for token in self._spacy(chunk)]

    def __call__(self, text: str) -> list[str]:
        """The tokens of `text`."""
        joined = " ".join(text.split())
        if self._crossing.may_occur(joined):
            return list(map(self.finish, self.split(joined)))
        return super().__call__(text)


@cache
def tokeniser(rules: str = SPACY, *, numbers: bool = False) -> Tokeniser:
    """The tokeniser with heedful's rules or spaCy's, made once, so that all corpora share its memory."""
    return Tokeniser(numbers=numbers) if rules == BUILT_IN else SpacyTokeniser(numbers=numbers)


def keras_tokens(text: str) -> list[str]:
    """Tokens as in Keras' copy of IMDB: lower case, punctuation out but for apostrophes, split on spaces.

    >>> keras_tokens("It's a <br />so-so film.")
    ["it's", 'a', 'br', 'so', 'so', 'film']
    """
    return [token for token in text.lower().translate(_KERAS_FILTER).split(" ") if token]


def _lower_without_numbers(token: str) -> str:
    return NUMBER if any(map(str.isdigit, token)) else token.lower()


def import_spacy(purpose: str) -> Any:
    """The library, or an error that says what it is needed for."""
    try:
        import spacy
    except ImportError as error:
        raise MissingExtra("spaCy", "papers", purpose) from error
    return spacy


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
        """Whether a special case may reach across a space of `text`: seldom true, and never false by mistake."""
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
    """A quick pattern for the spaces that stand between such characters as in one of the gaps. Most spaces stand
    between letters, and no gap does: a look at either side is enough to pass them over."""
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
