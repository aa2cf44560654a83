"""What the corpora of Serrano & Smith 2019 have in common: texts in sentences, numbers kept, classes as trained on."""

from typing import Any

from pydantic import Field

from heedful.corpora.corpus import Document
from heedful.corpora.reader import Options, Reader
from heedful.text.sentences import SENTENCIZER, in_a_row, text_sentences
from heedful.text.tokenising import tokeniser


class SentencedOptions(Options):
    """How texts are cut into sentences."""

    sentences: str = Field(SENTENCIZER, min_length=1)  # or the name or folder of a spaCy model with a parser


class Sentenced(Reader):
    """A corpus of texts in sentences."""

    options = SentencedOptions

    def clean(self, text: str) -> str:
        """A native text without its markup."""
        return text

    def classes(self, options: SentencedOptions) -> None:
        """Those that occur in training: a part of a corpus need not have all."""
        return

    def tokenise(self, text: str, options: SentencedOptions) -> list[str]:
        """Lower case; numbers stay, as in the released code."""
        return tokeniser(numbers=True)(self.clean(text))

    def has_sentences(self, options: SentencedOptions) -> bool:
        """Always."""
        return True

    def sentences(self, text: str, options: SentencedOptions) -> list[list[str]]:
        """The same tokens."""
        return text_sentences(self.clean(text), options.sentences)

    def document(self, text: str, options: SentencedOptions, **fields: Any) -> Document:
        """A native text as a document."""
        tokens, lengths = in_a_row(self.sentences(text, options))
        return Document(tokens=tokens, sentences=lengths, **fields)
