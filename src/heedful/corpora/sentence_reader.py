"""What the corpora of Serrano & Smith 2019 have in common: texts split into sentences, numbers kept."""

from typing import Any

from pydantic import Field

from heedful.corpora.corpus import Document
from heedful.corpora.reader import Options, Reader
from heedful.text.sentences import SENTENCIZER, flatten, text_sentences
from heedful.text.tokenising import tokeniser


class SentenceOptions(Options):
    """How texts are split into sentences."""

    sentences: str = Field(SENTENCIZER, min_length=1)  # or the name or folder of a spaCy model with a parser


class SentenceReader(Reader):
    """A corpus whose texts are split into sentences; its classes are those that occur in training."""

    options = SentenceOptions

    def clean(self, text: str) -> str:
        """A native text without its markup."""
        return text

    def tokenise(self, text: str, options: SentenceOptions) -> list[str]:
        """Lower case; numbers stay, as in the released code."""
        return tokeniser(numbers=True)(self.clean(text))

    def has_sentences(self, options: SentenceOptions) -> bool:
        """Always."""
        return True

    def sentences(self, text: str, options: SentenceOptions) -> list[list[str]]:
        """The same tokens."""
        return text_sentences(self.clean(text), options.sentences)

    def document(self, text: str, options: SentenceOptions, **fields: Any) -> Document:
        """A native text as a document."""
        tokens, lengths = flatten(self.sentences(text, options))
        return Document(tokens=tokens, sentences=lengths, **fields)
