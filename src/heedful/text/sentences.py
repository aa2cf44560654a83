"""Cut texts into sentences of tokens: by a rule for full stops, spaCy's, or by a spaCy model that parses them.

Serrano & Smith 2019 took the boundaries of a dependency parse (`en_core_web_sm`). The tokens are those of the whole
text in either case, so that a model of sentences and one of tokens read the same words.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any

from heedful.errors import BadConfig, BadInput
from heedful.text.tokenising import SPACY, import_spacy, tokeniser

SENTENCIZER = "sentencizer"  # the way that needs no model

Sentences = list[list[str]]

# the punctuation with the Unicode property Sentence_Terminal, of all scripts: ranges of code points
_TERMINALS = """
    21 2e 3f 589 61f 6d4 700-702 7f9 964-965 104a-104b 1362 1367-1368 166e 1735-1736 1803 1809 1944-1945 1aa8-1aab
    1b5a-1b5b 1b5e-1b5f 1c3b-1c3c 1c7e-1c7f 203c-203d 2047-2049 2e2e 2e3c 3002 a4ff a60e-a60f a6f3 a6f7 a876-a877
    a8ce-a8cf a92f a9c8-a9c9 aa5d-aa5f aaf0-aaf1 abeb fe52 fe56-fe57 ff01 ff0e ff1f ff61 10a56-10a57 11047-11048
    110be-110c1 11141-11143 111c5-111c6 111cd 111de-111df 11238-11239 1123b-1123c 112a9 1144b-1144c 115c2-115c3
    115c9-115d7 11641-11642 1173c-1173e 11a42-11a43 11a9b-11a9c 11c41-11c42 16a6e-16a6f 16af5 16b37-16b38 16b44 1bc9f
    1da88
"""
_ENDS = frozenset(
    chr(point)
    for first, _, last in (piece.partition("-") for piece in _TERMINALS.split())
    for point in range(int(first, 16), int(last or first, 16) + 1)
)

_BOUNDARIES = ("parser", "senter", "sentencizer")  # the parts of a spaCy model that find sentences
_UNUSED = ("tagger", "attribute_ruler", "morphologizer", "lemmatizer", "ner")  # parts that only take time here


def text_sentences(text: str, way: str = SENTENCIZER, *, rules: str = SPACY, numbers: bool = True) -> Sentences:
    """The sentences of a text; `way` is "sentencizer" or names a spaCy model, `rules` and `numbers` are as in
    `tokeniser`.

    >>> text_sentences("It cost $5. Really?! No.", rules="built-in")
    [['it', 'cost', '$', '5', '.'], ['really', '?', '!'], ['no', '.']]
    """
    tokenise = tokeniser(rules, numbers=numbers)
    if way == SENTENCIZER:
        return token_sentences(tokenise(text))
    model, line = _model(way), " ".join(text.split())
    if len(line) > model.max_length:
        raise BadInput(
            f"the text that begins '{line[:40]}' has {len(line):,} characters, and spaCy parses {model.max_length:,} "
            f"at most: shorten or remove it, or set sentences to '{SENTENCIZER}'"
        )
    parsed = model(line if rules == SPACY else _document(model, chain.from_iterable(map(tokenise.split, line.split()))))
    return _cut([tokenise.finish(token.text) for token in parsed], _parsed_starts(parsed))


def token_sentences(tokens: Sequence[str], way: str = SENTENCIZER) -> Sentences:
    """The sentences of a text that is tokenised already; the tokens stay as they are."""
    if way == SENTENCIZER:
        return _cut(tokens, _rule_starts(tokens))
    model = _model(way)
    return _cut(tokens, _parsed_starts(model(_document(model, tokens))))


def flatten(sentences: Sequence[Sequence[str]]) -> tuple[list[str], list[int]]:
    """The tokens of all sentences, and how many each sentence has.

    >>> flatten([["no", "."], ["yes"]])
    (['no', '.', 'yes'], [2, 1])
    """
    return list(chain.from_iterable(sentences)), [len(sentence) for sentence in sentences]


def missing_model(name: str) -> BadConfig:
    """The error for a model that is not installed."""
    return BadConfig(
        f"sentences '{name}' is neither '{SENTENCIZER}' nor a spaCy model that is installed, so texts cannot be cut "
        f"into sentences: install the model (python -m spacy download {name}), give its folder, or take '{SENTENCIZER}'"
    )


def _cut(tokens: Sequence[str], starts: Sequence[int]) -> Sentences:
    return [list(tokens[start:end]) for start, end in pairwise([*starts, len(tokens)])]


def _rule_starts(tokens: Sequence[str]) -> list[int]:
    """Where the rule starts sentences: at what follows a mark that ends one and is no mark itself. Marks have no case
    and no digits, so the rule says the same of tokens as `tokeniser` leaves them."""
    starts = [0] if tokens else []
    ended = False
    for place, token in enumerate(tokens):
        if token in _ENDS:
            ended = True
        elif ended and not _is_mark(token):
            starts.append(place)
            ended = False
    return starts


def _is_mark(token: str) -> bool:
    """Whether a token is punctuation and nothing else."""
    return all(unicodedata.category(letter)[0] == "P" for letter in token)


def _document(model: Any, words: Iterable[str]) -> Any:
    from spacy.tokens import Doc

    return Doc(model.vocab, words=list(words))


def _parsed_starts(parsed: Iterable[Any]) -> list[int]:
    return [token.i for token in parsed if token.is_sent_start]


@cache
def _model(name: str) -> Any:
    """A spaCy model that finds sentences, with the tokens of `tokeniser`, whatever it was trained on."""
    spacy = import_spacy("cutting texts into sentences")
    try:
        model = spacy.load(name, exclude=list(_UNUSED))
    except OSError as error:
        raise missing_model(name) from error
    except Exception as error:  # a damaged model, one for another version, a package that is none: anything is raised
        raise BadConfig(
            f"sentences '{name}': spaCy cannot load it as a model ({str(error).splitlines()[0]}); install it again, "
            f"or take '{SENTENCIZER}'"
        ) from error
    if not set(_BOUNDARIES) & set(model.pipe_names):
        raise BadConfig(
            f"sentences '{name}': the model has no {', '.join(_BOUNDARIES[:-1])} or {_BOUNDARIES[-1]} and finds no "
            f"sentences (it has: {', '.join(model.pipe_names) or 'nothing'}); take a model with a parser, such as "
            f"en_core_web_sm, or '{SENTENCIZER}'"
        )
    model.tokenizer = spacy.blank("en", vocab=model.vocab).tokenizer
    return model
