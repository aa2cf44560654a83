"""Cut texts into sentences of tokens: by spaCy's rule for full stops, or by a spaCy model that parses them.

Serrano & Smith 2019 took the boundaries of a dependency parse (`en_core_web_sm`). The tokens are those of the whole
text in either case, so that a model of sentences and one of tokens read the same words.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any

from heedful.errors import BadConfig, BadInput
from heedful.text.tokenising import import_spacy, tokeniser

SENTENCIZER = "sentencizer"  # the way that needs no model

Sentences = list[list[str]]

_BOUNDARIES = ("parser", "senter", "sentencizer")  # the parts of a spaCy model that find sentences
_UNUSED = ("tagger", "attribute_ruler", "morphologizer", "lemmatizer", "ner")  # parts that only take time here


def text_sentences(text: str, way: str = SENTENCIZER, *, numbers: bool = True) -> Sentences:
    """The sentences of a text; `way` is "sentencizer" or names a spaCy model, `numbers` is as in `tokeniser`.

    >>> text_sentences("It cost $5. Really?! No.")
    [['it', 'cost', '$', '5', '.'], ['really', '?', '!'], ['no', '.']]
    """
    tokenise = tokeniser(numbers=numbers)
    if way == SENTENCIZER:
        return token_sentences(tokenise(text))
    model, line = _model(way), " ".join(text.split())
    if len(line) > model.max_length:
        raise BadInput(
            f"the text that begins '{line[:40]}' has {len(line):,} characters, and spaCy parses {model.max_length:,} "
            f"at most: shorten or remove it, or set sentences to '{SENTENCIZER}'"
        )
    parsed = model(line)
    return _cut([tokenise.finish(token.text) for token in parsed], _parsed_starts(parsed))


def token_sentences(tokens: Sequence[str], way: str = SENTENCIZER) -> Sentences:
    """The sentences of a text that is tokenised already; the tokens stay as they are."""
    if way == SENTENCIZER:
        return _cut(tokens, _rule_starts(tokens))
    from spacy.tokens import Doc

    model = _model(way)
    return _cut(tokens, _parsed_starts(model(Doc(model.vocab, words=list(tokens)))))


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
    """Where spaCy's sentencizer starts sentences: at what follows a mark that ends one and is no mark itself. Marks
    have no case and no digits, so the rule says the same of tokens as `tokeniser` leaves them."""
    ends, is_mark = _rule()
    starts = [0] if tokens else []
    ended = False
    for place, token in enumerate(tokens):
        if token in ends:
            ended = True
        elif ended and not is_mark(token):
            starts.append(place)
            ended = False
    return starts


def _parsed_starts(parsed: Iterable[Any]) -> list[int]:
    return [token.i for token in parsed if token.is_sent_start]


@cache
def _rule() -> tuple[frozenset[str], Callable[[str], bool]]:
    import_spacy("cutting texts into sentences")
    from spacy.lang.lex_attrs import is_punct
    from spacy.pipeline import Sentencizer

    return frozenset(Sentencizer().punct_chars), is_punct


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
