"""Labels that are the same but for the way they are written: `World`, `world ` and `WORLD`; `1` and `1.0`."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_GAPS = re.compile(r"[\s_-]+")


def same_key(label: str) -> str:
    """What labels have in common that differ only in case, spaces, hyphens or the decimals of a whole number.

    >>> same_key("Sci-Tech ") == same_key("sci tech"), same_key("1.0") == same_key("1"), same_key("-1") == same_key("1")
    (True, True, False)
    """
    text = unicodedata.normalize("NFKC", label).strip()
    if _NUMBER.fullmatch(text) and len(text) < 300:  # longer ones are no numbers to a float
        return repr(float(text))
    return _GAPS.sub(" ", text.casefold()).strip() or text


def variants(labels: Iterable[str]) -> list[Counter[str]]:
    """The groups of labels that are the same but for their writing, each with how often every form occurs."""
    groups: dict[str, Counter[str]] = {}
    for label, count in Counter(labels).items():
        groups.setdefault(same_key(label), Counter())[label] = count
    return [group for group in groups.values() if len(group) > 1]


def merged(groups: Iterable[Mapping[str, int]]) -> dict[str, str]:
    """The form that stands for each other one: the most frequent, of equals the first in the alphabet."""
    chosen: dict[str, str] = {}
    for group in groups:
        first, *others = sorted(group, key=lambda form: (-group[form], form))
        chosen |= dict.fromkeys(others, first)
    return chosen


def listed(groups: Iterable[Mapping[str, int]]) -> str:
    """The groups in words: 'World' (12) and 'world' (3).

    >>> listed([{"World": 12, "world": 3}])
    "'World' (12) and 'world' (3)"
    """
    forms = (sorted(group.items(), key=lambda pair: (-pair[1], pair[0])) for group in groups)
    return "; ".join(" and ".join(f"'{form}' ({count:,})" for form, count in group) for group in forms)
