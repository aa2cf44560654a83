"""The order of class names that come from the data."""

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def class_names(labels: Iterable[str]) -> tuple[str, ...]:
    """Different class names in order: by number where all are numbers, else alphabetically.

    >>> class_names(["10", "9", "-1.5"]), class_names(["10", "9", "nan"])
    (('-1.5', '9', '10'), ('10', '9', 'nan'))
    """
    names = sorted(set(labels))  # first, so that equal numbers ("1", "1.0") have an order too
    return tuple(sorted(names, key=float) if all(map(_NUMBER.fullmatch, names)) else names)
