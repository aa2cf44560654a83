"""A classifier that heedful trained, under audit.

A text is written so that it is read again as it was: words separated by spaces, sentences (where they are the items) by
line breaks; the words of a question and the classes that may be answered follow, each after a form feed. What is not of
the text itself is tokens beyond the vocabulary that belong to no item, so no test erases or shows it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn

from heedful.adapters.changes import Change, normalised
from heedful.adapters.subject import Embed, Padded, Reading, States, Subject
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.models.attentions import Query
from heedful.models.batches import Inputs
from heedful.models.classifier import Classifier
from heedful.ragged import Ragged
from heedful.text.vocabulary import END, PAD, START, UNKNOWN, Vocabulary

WORD, SENTENCE, SECTION = " ", "\n", "\f"
IMPOSSIBLE = 60.0  # by so much the logit of a class that may not be answered is below all others

_ESCAPES = {"\\": "\\\\", WORD: "\\s", SENTENCE: "\\n", SECTION: "\\f"}
_LETTERS = {"\\": "\\", "s": WORD, "n": SENTENCE, "f": SECTION}


def written(sentences: Sequence[Sequence[str]], query: Sequence[str] | None, candidates: Sequence[int] | None) -> str:
    """An instance as a text that `Trained.encode` reads: its sentences, or all of its words as a single one.

    >>> written([["where", "is", "it", "?"]], None, None)
    'where is it ?'
    """
    parts = [SENTENCE.join(WORD.join(map(_escaped, sentence)) for sentence in sentences)]
    if query is not None:
        parts.append(WORD.join(map(_escaped, query)))
    if candidates is not None:
        parts.append(WORD.join(map(str, candidates)))
    return SECTION.join(parts)


@dataclass(frozen=True, eq=False)
class KeptStates(States):
    """States of a batch of texts, and the attention to them."""

    reading: Reading
    states: Tensor  # (B, T, H)
    shares: Tensor  # (B, T)
    query: Query

    def take(self, rows: Tensor) -> "KeptStates":
        """Some rows of the batch; the reading stays with the batch as it was read."""
        states, shares = (values.index_select(0, rows) for values in (self.states, self.shares))
        return KeptStates(self.reading, states, shares, self.query.take(rows))

    def bytes_of(self, *, gradient: bool) -> int:
        """What is kept of a text, and as much again for the rest."""
        return (4 if gradient else 2) * self.states[:1].nbytes


class Trained(Subject):
    """A classifier and its vocabulary as the subject of an audit."""

    blank = UNKNOWN
    longest = None

    def __init__(self, model: Classifier, vocabulary: Vocabulary, classes: Sequence[str], **about: Any) -> None:
        self.model, self.vocabulary, self.classes = model.eval(), vocabulary, tuple(classes)
        self.outputs = model.decoder.outputs
        self.about = {"kind": "run", "map": "attention", "torch": torch.__version__, **about}

    @property
    def sentences(self) -> bool:
        """Whether the items are sentences."""
        return hasattr(self.model, "word_encoder")

    def encode(self, texts: Sequence[str]) -> Texts:
        """Texts as `written`."""
        tokens, items, names = [], [], []
        for text in texts:
            body, *rest = text.split(SECTION)
            sentences = [_words(line) for line in body.split(SENTENCE)]
            words = [word for sentence in sentences for word in sentence]
            query = _words(rest[0]) if self.model.question is not None else []
            candidates = rest[1].split(WORD) if len(rest) > 1 else []
            size = len(self.vocabulary)
            ids = self._indices([*words, *query])
            ids[len(words) :] += size
            tokens.append(np.concatenate([ids, np.array(candidates, dtype=np.int64) + 2 * size]))
            lengths = [len(sentence) for sentence in sentences]
            item = np.repeat(np.arange(len(sentences)), lengths) if self.sentences else np.arange(len(words))
            items.append(np.concatenate([item, np.full(len(tokens[-1]) - len(words), NO_ITEM)]))
            names.append([WORD.join(sentence) for sentence in sentences] if self.sentences else words)
        return Texts(
            Ragged.from_rows(tokens, dtype=np.int64),
            Ragged.from_rows(items, dtype=np.int64),
            Ragged.from_rows([np.array(each, dtype=object) for each in names], dtype=object),
        )

    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Read a batch."""
        states, shares, query = self._attended(batch, embed)
        return self._decided(batch, states, shares.detach() if attention_fixed else shares, query, change)

    def prepare(self, batch: Padded) -> States:
        """Read a batch and keep its states."""
        with torch.no_grad():
            states, shares, query = self._attended(batch, None)
            return KeptStates(self._decided(batch, states, shares, query, None), states, shares, query)

    def replay(self, batch: Padded, states: States, change: Change) -> Reading:
        """Read a batch from its attention on."""
        if not isinstance(states, KeptStates):
            raise TypeError("states of another model")
        width = batch.items  # of some rows of a batch, perhaps less than of all
        return self._decided(batch, states.states[:, :width], states.shares[:, :width], states.query, change)

    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """Four bytes for each number of a word's vector and of its states, and for what is made in between."""
        width = self.model.embedding.shape[1] + 8 * self.model.encoder.size
        return 4 * (3 if gradient else 2) * max(1, tokens) * width

    def _attended(self, batch: Padded, embed: Embed | None) -> tuple[Tensor, Tensor, Query]:
        """States (B, T, H), attention to them (B, T), and queries of a batch; a text without items has neither."""
        inside = batch.item != NO_ITEM
        vectors = nn.functional.embedding(batch.tokens.where(inside, PAD), self.model.embedding)  # (B, L, E)
        vectors = vectors if embed is None else embed(vectors)
        query, mask = self.model.query(self._inputs(batch)), batch.mask
        states = vectors.new_zeros(*mask.shape, self.model.encoder.size)
        shares = vectors.new_zeros(mask.shape)
        some = batch.lengths.nonzero().squeeze(1)
        if len(some):
            read, weights = self._read(batch.take(some), vectors[some], query.take(some))
            states, shares = states.index_copy(0, some, read), shares.index_copy(0, some, weights)
        return states, shares, query

    def _read(self, batch: Padded, vectors: Tensor, query: Query) -> tuple[Tensor, Tensor]:
        """States and attention of texts that have items, from the vectors of their tokens."""
        inputs, mask = self._inputs(batch), batch.mask
        if self.sentences:
            words = vectors[batch.item != NO_ITEM][torch.from_numpy(inputs.groups.words)]
        else:
            words = self._framed(vectors, batch.lengths)
        states = self.model.inner(self.model.encoder(self.model.items(words, inputs)))
        shares = self.model.attention(states, query).values
        return states.values.where(mask[..., None], 0.0), shares.where(mask, 0.0)

    def _framed(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Vectors of words (B, L, E) as the encoder reads them: with sentinels, if the model has them."""
        width = int(lengths.max())
        words = vectors[:, :width]
        if not self.model.sentinels:
            return words
        start, end, pad = self.model.embedding[[START, END, PAD]]
        framed = torch.cat([start.expand(len(words), 1, -1), words, pad.expand(len(words), 1, -1)], dim=1)
        last = torch.arange(width + 2) == lengths[:, None] + 1
        return torch.where(last[..., None], end, framed)

    def _decided(self, batch: Padded, states: Tensor, shares: Tensor, query: Query, change: Change | None) -> Reading:
        """What follows from states and attention."""
        if change is not None:
            total = shares.sum(dim=-1, keepdim=True)
            shares = (change(normalised(shares)[:, None])[:, 0].to(shares) * total).where(batch.mask, 0.0)
        attended = (shares[:, None] @ states).squeeze(1)
        logits = self.model.decoder(attended, query)
        answered = logits.isfinite()
        lowest = logits.detach().where(answered, torch.inf).amin(dim=-1, keepdim=True)
        logits = torch.where(answered, logits, lowest - IMPOSSIBLE)
        return Reading(logits, shares, torch.zeros(len(logits)))

    def _inputs(self, batch: Padded) -> Inputs:
        """The batch as the model reads it."""
        tokens, item, size = batch.tokens.numpy(), batch.item.numpy(), len(self.vocabulary)
        real = batch.real.numpy()
        words = item != NO_ITEM
        asked = real & ~words & (tokens < 2 * size)
        answers = real & ~words & (tokens >= 2 * size)
        lengths = None
        if self.sentences:
            cells = np.flatnonzero(batch.mask.numpy())
            place = (np.arange(len(item))[:, None] * batch.items + item)[words]
            counts = np.bincount(place, minlength=len(item) * batch.items)
            lengths = Ragged.from_lengths(counts[cells], batch.lengths.numpy())
        return Inputs(
            _rows(tokens, words),
            None if self.model.question is None else _rows(tokens - size, asked),
            _rows(tokens - 2 * size, answers) if answers.any() else None,
            lengths,
        )

    def _indices(self, words: Sequence[str]) -> np.ndarray:
        """The indices of words."""
        listed = pl.Series([list(words)], dtype=pl.List(pl.String))
        return self.vocabulary.encode(listed).values.astype(np.int64)


def _rows(tokens: np.ndarray, chosen: np.ndarray) -> Ragged:
    return Ragged.from_lengths(tokens[chosen], chosen.sum(axis=1))


def _words(line: str) -> list[str]:
    return [_unescaped(word) for word in line.split(WORD)] if line else []


def _escaped(word: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in word)


def _unescaped(word: str) -> str:
    return re.sub(r"\\(.)", lambda found: _LETTERS.get(found[1], found[1]), word)
