"""Text from outside: is it text at all, and how to print it safely."""

from collections.abc import Sequence

from heedful.errors import BadInput

LISTED_CLASSES = 10  # at most: by name
FEW_CLASSES = 3  # at most: listed one by one, as in the released code of Jain & Wallace


def printable(text: str) -> str:
    r"""Control characters, escape sequences and marks that turn the writing direction as visible escapes.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def is_plain(text: str) -> bool:
    """Whether a text can be written as UTF-8: it has no half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def plain_text(text: str, where: str) -> str:
    """The text itself if it can be written as UTF-8; JSON and shells can bring halves of surrogate pairs along."""
    if not is_plain(text):
        raise BadInput(f"{where}: holds bytes or half a surrogate pair that are no UTF-8 text; mend or remove them")
    return text


def tally(counts: Sequence[int], size: int) -> str:
    """Numbers of instances by class, or in total where there are too many classes to list."""
    return "/".join(map(str, counts)) if len(counts) <= FEW_CLASSES else str(size)


def class_list(names: Sequence[str]) -> str:
    """Class names, or the first of very many.

    >>> class_list(["bad", "good"])
    'bad, good'
    """
    shown = [printable(name) for name in names[:LISTED_CLASSES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def percent(share: float | None) -> str:
    """A share."""
    return "undefined" if share is None else f"{100 * share:.0f}%"


def figure(value: float | None, digits: int = 2) -> str:
    """A number, or the word for none."""
    return "undefined" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # never -0.00


def spread(mean: float | None, std: float | None) -> str:
    """Mean and standard deviation."""
    return "undefined" if mean is None else f"{mean:.2f}±{figure(std)}"
