"""Reading variants of texts (some of their items deleted or blanked) from the first changed token on.

In a model that reads from left to right, what comes before the first change is the same in the text and in all of its
variants. A subject that can keep that beginning (`Subject.begin`) reads it once and goes on from there
(`Subject.resume`); any other reads every variant as a whole.
"""

from collections.abc import Iterator

import numpy as np
import torch

from heedful.adapters.hardware import batch_memory
from heedful.adapters.subject import Floats, Prefixes, Subject, padded
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.ragged import Indices, Ragged

NO_TOKEN = -1
WORTHWHILE = 0.4  # least share of the tokens of a text's variants that a kept beginning must spare
FEW = 32  # tokens that a call may read in vain, so that there be fewer calls: one costs about as much


def read_variants(subject: Subject, texts: Texts, rows: Indices, variants: Texts) -> Floats:
    """Logits (M, K) of variants (M,) of the texts of these rows."""
    start = shared_prefixes(texts, rows, variants)
    spared = np.bincount(rows, start, minlength=len(texts)) - _longest(start, rows, len(texts))
    worthwhile = spared >= WORTHWHILE * np.bincount(rows, variants.tokens.lengths, minlength=len(texts))
    return read_from(subject, texts, rows, variants, np.where(worthwhile[rows], start, 0))


def read_from(subject: Subject, texts: Texts, rows: Indices, variants: Texts, start: Indices) -> Floats:
    """The same, each variant read from token `start` (M,) on, or from an earlier one; from 0 on, it is read as a whole.
    Kept at any time are the beginnings of one batch of texts."""
    logits = np.empty((len(rows), subject.outputs))
    whole = start == 0
    longest = _longest(start, rows, len(texts))
    some = np.flatnonzero(longest)  # the texts with something to keep
    with torch.no_grad():
        for batch in subject.batches(_beginnings(texts.take(some), longest[some])):
            place = np.full(len(texts), -1)
            place[some[batch.rows]] = np.arange(len(batch.rows))
            copies = np.flatnonzero((place[rows] >= 0) & ~whole)
            prefixes = subject.begin(batch)
            if prefixes is None:
                whole[copies] = True
                continue
            for group in _groups(subject, prefixes, start[copies], variants.tokens.lengths[copies]):
                chosen = copies[group]
                begun = prefixes.take(torch.from_numpy(place[rows[chosen]]))
                read = subject.resume(padded(variants, chosen), begun, int(start[chosen].min()))
                logits[chosen] = read.double().numpy()
    left = np.flatnonzero(whole)
    logits[left] = subject.read(variants.take(left)).logits
    return logits


def shared_prefixes(texts: Texts, rows: Indices, variants: Texts) -> Indices:
    """How many tokens at its beginning each variant shares with its text, (M,), all but its last token at most."""
    tokens = variants.tokens
    row, place = tokens.row_of_value, tokens.place_in_row
    inside = place < texts.tokens.lengths[rows][row]
    cells = np.where(inside, texts.tokens.offsets[rows][row] + place, -1)  # the last one: no token
    other = np.flatnonzero(np.append(texts.tokens.values, NO_TOKEN)[cells] != tokens.values)
    first = np.append(other, len(row))[np.searchsorted(other, tokens.offsets[:-1])]
    return np.asarray(np.clip(first - tokens.offsets[:-1], 0, np.maximum(tokens.lengths - 1, 0)))


def _longest(start: Indices, rows: Indices, count: int) -> Indices:
    """The longest of the beginnings (M,) of each text, (n,)."""
    longest = np.zeros(count, dtype=np.int64)
    np.maximum.at(longest, rows, start)
    return longest


def _beginnings(texts: Texts, lengths: Indices) -> Texts:
    """The first tokens of each text, without items."""
    kept = texts.tokens.place_in_row < lengths[texts.tokens.row_of_value]
    tokens = Ragged.from_lengths(texts.tokens.values[kept], lengths)
    names = Ragged.from_lengths(np.empty(0, dtype=object), np.zeros_like(lengths))
    return Texts(tokens, tokens.like(np.full(len(tokens.values), NO_ITEM)), names)


def _groups(subject: Subject, prefixes: Prefixes, start: Indices, lengths: Indices) -> Iterator[Indices]:
    """Variants to be read together, each from the shortest of their beginnings on: similar ones, as many as memory
    allows and as do not make too many tokens be read in vain (padding, tokens of longer beginnings)."""
    memory = batch_memory(subject.device)
    group: list[int] = []
    begin = needed = 0
    for each in np.lexsort((-start, lengths)).tolist():
        own, width, rows = int(start[each]), int(lengths[each]), len(group) + 1
        joint = min(begin, own) if group else own
        read = rows * (width - joint)
        bytes_each = subject.bytes_of(width, gradient=False) * (width - joint) // width + prefixes.bytes_of(joint)
        if group and (rows * bytes_each > memory or read - needed - (width - own) > FEW):
            yield np.array(group)
            group, joint, needed = [], own, 0
        group.append(each)
        begin, needed = joint, needed + width - own
    if group:
        yield np.array(group)
