"""Reading variants of texts (some of their items deleted or blanked) from the first changed token on.

In a model that reads from left to right, what comes before the first change is the same in the text and in all of its
variants. A subject that can keep that beginning (`Subject.begin`) reads it once and goes on from there
(`Subject.resume`); any other reads every variant as a whole.
"""

from collections.abc import Iterator

import numpy as np
import torch

from heedful.adapters.subject import Floats, Prefixes, Subject, padded, rows_in_memory
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.ragged import Indices, Ragged

NO_TOKEN = -1
WORTHWHILE = 2  # how often a beginning must be used to be kept: keeping it takes a reading, too
FEW = 64  # tokens: a call with fewer takes hardly less time, so that it may as well begin a little earlier


def read_variants(subject: Subject, texts: Texts, rows: Indices, variants: Texts) -> Floats:
    """Logits (M, K) of variants (M,) of the texts of these rows."""
    start = shared_prefixes(texts, rows, variants)
    used = np.bincount(rows, start, minlength=len(texts))
    worthwhile = used >= WORTHWHILE * _longest(start, rows, len(texts))
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
    """Variants to be read together, from the shortest of their beginnings on, as many as memory allows."""
    if not len(start):
        return
    width = int(lengths.max())
    each = subject.bytes_of(width, gradient=False) / width  # a token that is read
    sizes = {
        begin: rows_in_memory(int((width - begin) * each) + prefixes.bytes_of(begin))
        for begin in np.unique(start).tolist()
    }
    order = np.lexsort((lengths, -start))
    first = again = 0  # tokens that are read though they are in a beginning
    for place in range(1, len(order)):
        begin = int(start[order[place]])
        again += (place - first) * (int(start[order[place - 1]]) - begin)
        if again > FEW or place - first >= sizes[begin]:
            yield order[first:place]
            first, again = place, 0
    yield order[first:]
