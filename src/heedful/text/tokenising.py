"""Tokenise as the papers do: spaCy's English rules, lower case, `qqq` for whatever contains a digit.

Jain & Wallace 2019, appendix.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from heedful.errors import MissingExtra
from heedful.text.crossing import CrossingCases

NUMBER = "qqq"  # stands for any token with a digit in it
CACHED_CHUNKS = 200_000  # different whitespace-separated chunks remembered: about 50 MB
CACHED_LENGTH = 64  # longer chunks (addresses, rules of dashes) seldom come again

# what Keras' text preprocessing takes out before it splits on spaces; the apostrophe stays
_KERAS_FILTER = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n', " "))


class Tokeniser:
    """spaCy's tokens of a text, lower-cased; tokens with a digit become `qqq` unless `numbers` keeps them.

    spaCy works chunk by chunk between white space, and most chunks come again: each is tokenised once and remembered.

    >>> tokeniser()("Don't pay  $5 at 9pm :)")
    ['do', "n't", 'pay', '$', 'qqq', 'at', 'qqq', 'pm', ':)']
    """

    def __init__(self, *, numbers: bool = False) -> None:
        self._spacy = _spacy_tokeniser()
        self._crossing = CrossingCases(self._spacy)
        self.finish: Callable[[str], str] = str.lower if numbers else _lower_without_numbers
        self._seen: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> list[str]:
        """The tokens of `text`."""
        chunks = text.split()
        joined = " ".join(chunks)
        if self._crossing.may_occur(joined):
            return [self.finish(token.text) for token in self._spacy(joined)]
        tokens: list[str] = []
        seen = self._seen
        for chunk in chunks:
            known = seen.get(chunk)
            tokens += self._chunk(chunk) if known is None else known
        return tokens

    def _chunk(self, chunk: str) -> tuple[str, ...]:
        tokens = tuple(self.finish(token.text) for token in self._spacy(chunk))
        if len(chunk) <= CACHED_LENGTH:
            if len(self._seen) >= CACHED_CHUNKS:
                self._seen.clear()  # the frequent ones are back after a few texts
            self._seen[chunk] = tokens
        return tokens


@cache
def tokeniser(*, numbers: bool = False) -> Tokeniser:
    """The tokeniser with spaCy's rules, made once: what it remembers serves every corpus."""
    return Tokeniser(numbers=numbers)


def keras_tokens(text: str) -> list[str]:
    """Tokens as in Keras' copy of IMDB: lower case, punctuation out but for apostrophes, split on spaces.

    >>> keras_tokens("It's a <br />so-so film.")
    ["it's", 'a', 'br', 'so', 'so', 'film']
    """
    return [token for token in text.lower().translate(_KERAS_FILTER).split(" ") if token]


def _lower_without_numbers(token: str) -> str:
    return NUMBER if any(map(str.isdigit, token)) else token.lower()


def _spacy_tokeniser() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise MissingExtra("spaCy", "papers", "tokenising text as in the papers") from error
    return spacy.blank("en").tokenizer
