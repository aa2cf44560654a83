"""Functions that `heedful audit --module` calls."""

from heedful.adapters.subject import Subject
from tests.audits.made import planted


def faithful() -> Subject:
    return planted()


def distracted() -> Subject:
    return planted("distracted")


def broken() -> Subject:
    raise ValueError("no weights here")


number = 3


def nothing() -> None:
    pass
