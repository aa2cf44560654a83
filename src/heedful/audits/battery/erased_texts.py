"""Texts of a subject whose items can be taken away: at the input, or at the attention alone."""

import numpy as np

from heedful.adapters.changes import without
from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Flags, Texts
from heedful.audits.battery.readings import Floats, by, outputs_of, slices
from heedful.errors import BadConfig, unknown_name
from heedful.ragged import Indices, Ragged

WAYS = ("delete", "blank")
NO_BLANK = "this model has no token that stands for nothing (mask, unknown), so items cannot be blanked; delete them"


class ErasableSubject:
    """What a subject says of texts, and of what is left of them: items are deleted, or blanked token by token."""

    def __init__(self, subject: Subject, texts: Texts, seen: Seen) -> None:
        self.subject, self.texts = subject, texts
        self.output = outputs_of(seen.logits)

    @property
    def items(self) -> Ragged:
        """One value for each item."""
        return self.texts.names

    @property
    def words(self) -> Indices:
        """Tokens of each text, (n,)."""
        return self.texts.tokens.lengths

    def erased(self, rows: Indices, gone: Flags, way: str) -> Floats:
        """Outputs of texts (M,) without the flagged items."""
        texts = self.texts.take(rows)
        if way == "delete":
            return outputs_of(self.subject.read(texts.keep(~gone)).logits)
        if self.subject.blank is None:
            raise BadConfig(NO_BLANK)
        return outputs_of(self.subject.read(texts.replaced(gone, self.subject.blank)).logits)


class AttendedTexts(ErasableSubject):
    """The same at the attention: items lose their weight in every head, and the text is read as it is."""

    def erased(self, rows: Indices, gone: Flags, way: str) -> Floats:
        """Outputs of texts (M,) whose flagged items are not attended to."""
        texts = self.texts.take(rows)
        return outputs_of(self.subject.read(texts, by(texts.names.like(gone), without)).logits)


def ways_of(subject: Subject) -> tuple[str, ...]:
    """The ways in which a subject's items can be erased at the input."""
    return WAYS if subject.blank is not None else WAYS[:1]


def check_way(subject: Subject, way: str) -> None:
    """Raise unless items of the subject can be erased in this way."""
    if way not in WAYS:
        raise unknown_name("way of erasing", way, WAYS)
    if way == "blank" and subject.blank is None:
        raise BadConfig(NO_BLANK)


def without_each(instances: ErasableSubject, way: str) -> Floats:
    """Outputs (N, K) of texts without each single item."""
    items = instances.items
    row = items.row_of_value
    output = np.empty((len(row), instances.output.shape[1]))
    for some in slices(instances.words[row]):
        copies = items.like(np.arange(len(row))).take(row[some])  # which item of all each item of the copies is
        gone = copies.values == some[copies.row_of_value]
        output[some] = instances.erased(row[some], gone, way)
    return output
