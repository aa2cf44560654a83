"""A subject: a model under audit, whatever library it was written with.

Audits run a model through `Subject.forward` alone: it reads texts, perhaps with other attention or scaled embeddings,
and returns the logits and the audited map. An adapter is that method and a tokenizer.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.adapters.changes import Change
from heedful.adapters.hardware import batch_memory, tolerance, widened
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.importance.measure import Batch, Outcome
from heedful.ragged import Indices, Ragged, length_batches

Floats = NDArray[np.float64]

ROUNDING = 1e-6  # of a probability: what single precision, and other batches, may make of it
ROWS = 256  # texts a batch at most: more do not make it faster


@dataclass(frozen=True, eq=False)
class Padded:
    """Some texts as tensors."""

    rows: Indices  # (B,): which of all texts
    tokens: Tensor  # (B, L) int64; anything where `real` is false
    real: Tensor  # (B, L)
    item: Tensor  # (B, L) int64, NO_ITEM for tokens of no item and for padding
    lengths: Tensor  # (B,): items of each text

    @property
    def items(self) -> int:
        """T: items of the text that has most of them, one at least."""
        return max(1, int(self.lengths.max()))

    @property
    def mask(self) -> Tensor:
        """Which cells of (B, T) are items."""
        return torch.arange(self.items) < self.lengths[:, None]

    def take(self, rows: Tensor) -> "Padded":
        """Some rows of the batch; its width stays."""
        chosen = (values.index_select(0, rows) for values in (self.tokens, self.real, self.item, self.lengths))
        return Padded(self.rows[rows.numpy()], *chosen)


class Reading(NamedTuple):
    """Logits and audited map of a batch of texts."""

    logits: Tensor  # (B, K); K = 1: one sigmoid output
    weights: Tensor  # (B, T): the audited map over items, summing to one; zeros where there is no item
    aside: Tensor  # (B,): share of the map's attention on tokens that are no items


class States(ABC):
    """What a subject keeps of a batch of texts, so that readings under changed attention start at the audited layer."""

    reading: Reading  # under the model's own attention

    @abstractmethod
    def take(self, rows: Tensor) -> "States":
        """Some rows of the batch."""

    @abstractmethod
    def bytes_of(self, *, gradient: bool) -> int:
        """Bytes to read one text from here, about."""


class Prefixes(ABC):
    """What a subject keeps of the beginnings of a batch of texts, so that texts which begin alike are read from there
    on."""

    @abstractmethod
    def take(self, rows: Tensor) -> "Prefixes":
        """Some rows of the batch, each as often as it is named."""

    @abstractmethod
    def bytes_of(self, tokens: int) -> int:
        """Bytes to go on from a beginning of so many tokens, about, beside those to read the rest."""


class Kept(NamedTuple):
    """A batch of texts and its states; None: the subject keeps none, and reads the whole model again."""

    batch: Padded
    states: States | None

    def take(self, rows: Tensor, names: Indices) -> "Kept":
        """Some rows of the batch under other names."""
        states = None if self.states is None else self.states.take(rows)
        return Kept(replace(self.batch.take(rows), rows=names), states)


class Seen(NamedTuple):
    """Logits and audited map of all texts."""

    logits: Floats  # (n, K)
    weights: Ragged  # (N,) float64
    aside: Floats  # (n,)
    kept: tuple[Kept, ...] = ()  # all texts, where they are to be read again under changed attention

    def take(self, rows: Indices) -> "Seen":
        """Some of the texts, each once."""
        place = np.full(len(self.logits), -1)
        place[rows] = np.arange(len(rows))
        kept = []
        for each in self.kept:
            some = np.flatnonzero(place[each.batch.rows] >= 0)
            if len(some):
                kept.append(each.take(torch.from_numpy(some), place[each.batch.rows[some]]))
        return Seen(self.logits[rows], self.weights.take(rows), self.aside[rows], tuple(kept))


Changes = Callable[[Padded], Change]  # the change for each batch of texts
Embed = Callable[[Tensor], Tensor]  # what to read instead of the embedded tokens (B, L, D)


class Subject(ABC):
    """A model under audit. It is left unchanged, also after an exception."""

    classes: tuple[str, ...]
    outputs: int  # K; 1: one sigmoid output, the probability of the second class
    blank: int | None  # the token that stands for nothing (mask, unknown); None: there is none
    unknown: int | None = None  # the token of words that it does not know, if that is not `blank`
    longest: int | None  # tokens that it can read, added ones included; None: any number
    about: dict[str, object]  # what it is, for the report: kind, name, map, versions
    precision: torch.dtype = torch.float32  # that it computes in
    device: torch.device = torch.device("cpu")  # that it computes on; texts and what is read are on the CPU
    replays: bool = True  # whether states may be used; the check turns it off where a replay is not exact
    resumes: bool = True  # whether prefixes may be used; likewise

    @property
    def rounding(self) -> float:
        """How far rounding alone may move a probability: a logit of size four is rounded to four times the precision's
        epsilon, and a probability moves by at most a quarter of that."""
        return tolerance(self.precision, ROUNDING, units=1)

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Texts:
        """Texts as the model reads them; none is cut, however long."""

    @abstractmethod
    def forward(
        self, batch: Padded, *, change: Change | None = None, embed: Embed | None = None, attention_fixed: bool = False
    ) -> Reading:
        """Read a batch: with the audited attention changed, with other embeddings. Gradients flow where torch records
        them, also to the map, through the audited attention unless it is fixed. A text may have no token at all."""

    def prepare(self, batch: Padded) -> States | None:
        """Read a batch and keep what `replay` starts from; None: under changed attention the whole model is read."""
        return None

    def replay(self, batch: Padded, states: States, change: Change) -> Reading:
        """Read a batch under changed attention from its states on; as `forward`, only faster."""
        raise NotImplementedError(f"{type(self).__name__} keeps no states")

    def begin(self, batch: Padded) -> Prefixes | None:
        """Read a batch of prefixes and keep what `resume` starts from; None: texts are always read as a whole."""
        return None

    def resume(self, batch: Padded, prefixes: Prefixes, start: int) -> Tensor:
        """Logits (B, K) of a batch whose first `start` tokens are those of the prefixes; as `forward`, only faster."""
        raise NotImplementedError(f"{type(self).__name__} keeps no prefixes")

    def original(self, batch: Padded) -> Tensor:
        """Logits (B, K) of the untouched model; `forward` is checked against them."""
        return self.forward(batch).logits

    @abstractmethod
    def bytes_of(self, tokens: int, *, gradient: bool) -> int:
        """Bytes to read one text of so many tokens, about."""

    def read(self, texts: Texts, changes: Changes | None = None) -> Seen:
        """Read all texts, batch by batch, under their own attention or a changed one."""

        def readings() -> Iterator[tuple[Padded, Reading]]:
            for batch in self.batches(texts):
                yield batch, self.forward(batch, change=None if changes is None else changes(batch))

        return self._seen(texts.names, readings())

    def read_and_keep(self, texts: Texts) -> Seen:
        """Read all texts, and keep their batches and states for `read_changed`."""
        kept = self.kept(texts)

        def readings() -> Iterator[tuple[Padded, Reading]]:
            for batch, states in kept:
                yield batch, self.forward(batch) if states is None else states.reading

        return self._seen(texts.names, readings())._replace(kept=kept)

    def read_changed(self, texts: Texts, rows: Indices, seen: Seen, changes: Changes) -> Seen:
        """Read the texts (M,) of these rows, each under changed attention; batches name the places among the M."""
        kept = seen.kept or self.kept(texts)

        def readings() -> Iterator[tuple[Padded, Reading]]:
            for batch, states in self.copies(kept, rows):
                yield batch, self.under(Kept(batch, states), changes(batch))

        names = texts.names.like(np.arange(len(texts.names.values))).take(rows)
        return self._seen(names, readings())

    def kept(self, texts: Texts) -> tuple[Kept, ...]:
        """All texts in batches, with their states."""
        return tuple(Kept(batch, self.prepare(batch)) for batch in self.batches(texts))

    def under(self, texts: Kept, change: Change) -> Reading:
        """Read a batch under changed attention, from its states where there are any."""
        if texts.states is None:
            return self.forward(texts.batch, change=change)
        return self.replay(texts.batch, texts.states, change)

    def copies(self, kept: Sequence[Kept], rows: Indices, *, gradient: bool = False) -> Iterator[Kept]:
        """The texts (M,) of these rows in batches as large as memory allows, with their states."""
        for each in kept:
            text = each.batch.rows
            order, copies = np.argsort(text), np.flatnonzero(np.isin(rows, text))
            local = order[np.searchsorted(text, rows[copies], sorter=order)]  # the row of the batch that each copies
            if each.states is None:
                bytes_each = self.bytes_of(each.batch.tokens.shape[1], gradient=gradient)
            else:
                bytes_each = each.states.bytes_of(gradient=gradient)
            size = self._rows_in_memory(bytes_each)
            for start in range(0, len(local), size):
                some = slice(start, start + size)
                yield each.take(torch.from_numpy(local[some]), copies[some])

    def _seen(self, names: Ragged, readings: Iterator[tuple[Padded, Reading]]) -> Seen:
        logits, aside = np.empty((len(names), self.outputs)), np.empty(len(names))
        weights = names.like(np.zeros(len(names.values)))
        with torch.no_grad():  # inference mode would leave its mark on whatever the model keeps for later
            for batch, reading in readings:
                logits[batch.rows] = reading.logits.double().numpy()
                weights.values[names.cells(batch.rows)] = reading.weights.double()[batch.mask].numpy()
                aside[batch.rows] = reading.aside.double().numpy()
        return Seen(logits, weights, aside)

    def batches(self, texts: Texts, *, gradient: bool = False) -> Iterator[Padded]:
        """All texts in batches of similar length, as large as memory allows."""
        lengths = texts.tokens.lengths
        for rows in length_batches(lengths, rows=ROWS):
            size = self._rows_in_memory(self.bytes_of(int(lengths[rows].max()), gradient=gradient))
            for start in range(0, len(rows), size):
                yield padded(texts, rows[start : start + size])

    def differentiable(self, texts: Texts, *, attention_fixed: bool) -> Iterator[Batch]:
        """All texts with items in batches, differentiable with respect to the embeddings of their items."""
        some = np.flatnonzero(texts.lengths)  # a text without items has no gradients
        chosen = texts.take(some)
        for batch in self.batches(chosen, gradient=True):
            cells = texts.names.cells(some[batch.rows])
            read = partial(_read, self, batch, attention_fixed)
            yield Batch(some[batch.rows], cells, batch.mask, read, batch.tokens.shape[1])

    def _rows_in_memory(self, bytes_each: int) -> int:
        """Texts that a batch may have, one at least."""
        return max(1, batch_memory(self.device) // max(1, bytes_each))


def _read(
    subject: Subject, whole: Padded, fixed: bool, rows: Tensor | None = None, shares: Tensor | None = None
) -> Outcome:
    """Read rows of a batch with their items' embeddings shrunk, perhaps with the attention fixed."""
    batch = whole if rows is None else whole.take(rows)
    inside = batch.item != NO_ITEM
    scales = torch.ones(inside.shape) if shares is None else torch.where(inside, shares[:, None].float(), 1.0)
    leaf: list[Tensor] = []

    def embed(vectors: Tensor) -> Tensor:
        leaf.append((vectors.detach() * scales[..., None].to(vectors)).requires_grad_())
        return leaf[0]

    with torch.enable_grad():
        logits = subject.forward(batch, embed=embed, attention_fixed=fixed).logits

    def product(gradient: Tensor) -> Tensor:
        slopes = torch.autograd.grad(logits, leaf[0], gradient, retain_graph=True)[0]
        values = (widened(slopes) * widened(leaf[0].detach())).sum(dim=-1).cpu()  # (B, L)
        spots = batch.item.where(inside, whole.items)
        return values.new_zeros(len(values), whole.items + 1).scatter_add(1, spots, values)[:, : whole.items]

    return Outcome(logits.detach(), product)


def padded(texts: Texts, rows: Indices) -> Padded:
    """Some texts as tensors, one token wide at least: texts without any are padding throughout."""
    some = texts.take(rows)
    tokens, real = some.tokens.pad()
    item, _ = some.item.pad(fill=NO_ITEM)
    if not tokens.shape[1]:
        tokens, real = (np.zeros((len(rows), 1), dtype=values.dtype) for values in (tokens, real))
        item = np.full_like(tokens, NO_ITEM)
    arrays = (tokens, real, item, np.ascontiguousarray(some.lengths))
    return Padded(rows, *(torch.from_numpy(array) for array in arrays))
