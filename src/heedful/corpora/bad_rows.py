"""The rows of a table that cannot be used: reported all at once, or left out where the user says so."""

from collections import Counter
from collections.abc import Callable

from heedful.errors import BadInput, BadRows

SHOWN = 10  # rows that a message lists

Refuse = Callable[[BadInput], object]  # takes the error of a row; unless it raises, reading goes on


class BadRow(BadInput):
    """What is wrong with a row, where, and what to do."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(f"{where}: {problem}; {remedy}")
        self.where, self.problem, self.remedy = where, problem, remedy


class EmptyText(BadRow):
    """A row without text."""


class NoLabel(BadRow):
    """A row without a label."""


class BlankRow(EmptyText, NoLabel):
    """A row with neither."""


OPTIONS: dict[type[BadRow], str] = {EmptyText: "--skip-empty", NoLabel: "--skip-unlabelled"}
_LEFT_OUT: dict[type[BadRow], str] = {EmptyText: "without text", NoLabel: "without a label"}


def raise_at_once(error: BadInput) -> None:
    """Refuse the first row that cannot be used."""
    raise error


class BadRowList:
    """Collects the errors of rows while a table is read; those that the user's options leave out are none."""

    def __init__(self, table: str, *, skip_empty: bool = False, skip_unlabelled: bool = False) -> None:
        self._table = table
        self._skip = {EmptyText: skip_empty, NoLabel: skip_unlabelled}
        self._first: list[BadInput] = []
        self._kinds: Counter[type[BadRow]] = Counter()
        self._count = 0

    def refuse(self, error: BadInput) -> str:
        """Note the error of a row, or say why the row is left out."""
        kinds = [kind for kind in self._skip if isinstance(error, kind)]
        for kind in kinds:
            if self._skip[kind]:
                return _LEFT_OUT[kind]
        self._count += 1
        self._kinds.update(kinds)
        if len(self._first) < SHOWN:
            self._first.append(error)
        return ""

    def check(self) -> None:
        """Raise if there are rows that cannot be used."""
        if not self._count:
            return
        if self._count == 1:
            options = "".join(f", or leave it out with {OPTIONS[kind]}" for kind in self._kinds)
            raise BadInput(f"{self._first[0]}{options}")
        listed = [f"{self._table}: {self._count:,} rows cannot be used"]
        listed += [f"  {self._line(error)}" for error in self._first]
        if self._count > SHOWN:
            listed.append(f"  and {self._count - SHOWN:,} more")
        remedies = dict.fromkeys(error.remedy for error in self._first if isinstance(error, BadRow))
        skipping = (f"{OPTIONS[kind]} leaves out {count:,} of them" for kind, count in self._kinds.items())
        raise BadRows("\n".join([*listed, "; ".join([*remedies, *skipping])]))

    def _line(self, error: BadInput) -> str:
        text = f"{error.where}: {error.problem}" if isinstance(error, BadRow) else str(error)
        return text.removeprefix(f"{self._table}, ")
