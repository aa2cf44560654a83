"""Texts of an audited model whose items can be erased: at the input, or at the attention alone."""

from collections.abc import Iterator

from heedful.adapters.changes import without
from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Flags, Texts
from heedful.adapters.variants import read_variants
from heedful.audits.battery.readings import Floats, by, outputs_of
from heedful.errors import BadConfig, unknown_name
from heedful.importance.gradient import FEW_OUTPUTS
from heedful.importance.highlights import Donors
from heedful.importance.leave_one_out import erased_one_by_one
from heedful.importance.measure import Batch, Deletions
from heedful.importance.table import NO_BLANK
from heedful.ragged import Indices, Ragged

WAYS = ("delete", "blank")


class SubjectTexts:
    """Texts of a subject. Erased items are deleted, or blanked token by token."""

    def __init__(self, subject: Subject, texts: Texts, seen: Seen) -> None:
        self.subject, self.texts, self.seen = subject, texts, seen
        self.outputs, self.ways = subject.outputs, ways_of(subject)
        self.decided_only = subject.outputs > FEW_OUTPUTS
        self.output = outputs_of(seen.logits, subject.rounding)
        self._without_each: dict[str, Deletions] = {}

    @property
    def items(self) -> Ragged:
        """One value for each item."""
        return self.texts.names

    @property
    def words(self) -> Indices:
        """Tokens per text, (n,)."""
        return self.texts.tokens.lengths

    def erased(self, rows: Indices, gone: Flags, way: str) -> Floats:
        """Outputs (M, K) of texts (M,) without the flagged items."""
        texts = self.texts.take(rows)
        if way == "delete":
            variants = texts.keep(~gone)
        elif self.subject.blank is None:
            raise BadConfig(NO_BLANK)
        else:
            variants = texts.replaced(gone, self.subject.blank)
        logits = read_variants(self.subject, self.texts, rows, variants)
        return outputs_of(logits, self.subject.rounding)

    def swapped(self, rows: Indices, places: Ragged, donors: Donors, given: Indices, taken: Ragged) -> Floats:
        """Outputs (M, K) of texts (M,) with some items replaced by those of other texts."""
        variants = self.texts.take(rows).swapped(places, donors.texts, given, taken)
        return outputs_of(self.subject.read(variants).logits, self.subject.rounding)

    def unattended(self, rows: Indices, gone: Flags) -> Floats:
        """Outputs (M, K) of texts (M,) with the flagged items' attention zeroed in every head."""
        flags = self.texts.names.take(rows).like(gone)
        read = self.subject.read_changed(self.texts, rows, self.seen, by(flags, without))
        return outputs_of(read.logits, self.subject.rounding)

    def differentiable(self, *, attention_fixed: bool) -> Iterator[Batch]:
        """All texts that have items, in batches."""
        return self.subject.differentiable(self.texts, attention_fixed=attention_fixed)

    def without_each(self, way: str) -> Deletions:
        """Outputs with each item erased in that way; read once, however many measures need them."""
        if way not in self._without_each:
            self._without_each[way] = erased_one_by_one(self, way)
        return self._without_each[way]


class AttendedTexts(SubjectTexts):
    """The same at the attention: items lose their weight in every head, and the text is read as it is."""

    def erased(self, rows: Indices, gone: Flags, way: str) -> Floats:
        """Outputs (M, K) of texts (M,) with the flagged items' attention zeroed."""
        return self.unattended(rows, gone)


def ways_of(subject: Subject) -> tuple[str, ...]:
    """The ways in which a subject's items can be erased at the input."""
    return WAYS if subject.blank is not None else WAYS[:1]


def check_way(subject: Subject, way: str) -> None:
    """Raise unless items of the subject can be erased in this way."""
    if way not in WAYS:
        raise unknown_name("way of erasing", way, WAYS)
    if way not in ways_of(subject):
        raise BadConfig(NO_BLANK)
