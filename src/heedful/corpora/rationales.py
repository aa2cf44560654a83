"""Human rationales: the words that people marked as the reason, in a file of their own or in a column of the data.

A rationale is a list of spans [start, stop) of characters, or a list of 0 and 1, one a token. The tokens are those of
the column `tokens` or, without one, what white space separates in the text.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from heedful.corpora.locating import source_fingerprint
from heedful.corpora.tabular import Located, columns_of, values
from heedful.errors import BadInput, NotFound
from heedful.printable import printable
from heedful.text.alignment import Span, spans_of

ID, TOKENS = "id", "tokens"
COLUMNS = ("spans", "rationale")  # of a file: one of them


class Rationale(NamedTuple):
    """What people marked in one text, as it was given."""

    where: str  # file and line, for messages
    id: str
    marked: Any  # spans or flags; None: nobody was asked
    tokens: Any = None


@dataclass(frozen=True)
class Rationales:
    """A table of rationales; every call of `rows` reads it anew."""

    name: str
    fingerprint: str
    rows: Callable[[], Iterator[Rationale]]


def file_rationales(path: Path) -> Rationales:
    """A table with the columns `id`, `spans` or `rationale`, and perhaps `tokens`."""
    if not path.is_file():
        raise NotFound(f"{path}: no such file of rationales")
    if not (there := columns_of(path)):
        raise BadInput(f"{path}: no table of rationales; valid: .parquet, .jsonl, .csv, .tsv (the last three also .gz)")
    marked = [name for name in COLUMNS if name in there]
    if ID not in there or len(marked) != 1:
        raise BadInput(
            f"{path}: rationales need the column 'id' and either 'spans' or 'rationale'; it has: {', '.join(there)}"
        )
    columns = [ID, *marked, *([TOKENS] if TOKENS in there else [])]
    return Rationales(str(path), source_fingerprint(path), lambda: _rows(values(path, columns)))


def column_rationales(
    name: str,
    column: str,
    cells: Callable[[list[str]], Iterator[Located]],
    *,
    columns: Sequence[str],
    id: str | None,
    fingerprint: str = "",
) -> Rationales:
    """A column of the data; `cells` reads columns of it, and rows are numbered where it has no ids. `fingerprint`: of
    the whole table (empty: the rationales are hashed)."""
    wanted = [*([id] if id is not None else []), column, *([TOKENS] if TOKENS in columns else [])]

    def rows() -> Iterator[Rationale]:
        for number, (where, row) in enumerate(cells(wanted), start=1):
            yield from _rows([(where, row if id is not None else [f"row-{number}", *row])])

    mark = hashlib.blake2b(f"{fingerprint} {column}".encode(), digest_size=8).hexdigest() if fingerprint else ""
    return Rationales(f"{name}, column '{column}'", mark or content_hash(rows()), rows)


def list_rationales(marked: Sequence[Any], ids: Sequence[str]) -> Rationales:
    """One a text, in memory."""
    if isinstance(marked, str) or len(marked) != len(ids):
        raise BadInput(f"rationales has {len(marked)} entries for {len(ids)} texts; give one per text, None for no one")

    def rows() -> Iterator[Rationale]:
        for number, (id, each) in enumerate(zip(ids, marked, strict=True), start=1):
            yield Rationale(f"rationales, text {number}", id, each)

    return Rationales("rationales", content_hash(rows()), rows)


def marked_spans(rationale: Rationale, text: str) -> list[Span] | None:
    """The marked characters of a text; None where nobody was asked. Raises if rationale and text do not fit."""
    where, marked = rationale.where, _parsed(rationale.marked, rationale.where)
    if marked is None:
        return None
    if all(isinstance(each, Sequence) and not isinstance(each, str) for each in marked):
        return [_span(each, text, where) for each in marked]
    if not all(isinstance(each, int | float) and each in (0, 1) for each in marked):
        raise _unreadable(where, rationale.marked)
    tokens = text.split() if rationale.tokens is None else _token_list(rationale.tokens, where)
    if len(marked) != len(tokens):
        own = "" if rationale.tokens is not None else " that white space separates; give your own in a column 'tokens'"
        raise BadInput(
            f"{where}: the rationale has {len(marked)} values for {len(tokens)} tokens{own}; give one a token"
        )
    spans = []
    for place, (flag, span) in enumerate(zip(marked, spans_of(text, tokens), strict=True)):
        if span is None:
            raise BadInput(
                f"{where}: token {place + 1}, '{printable(tokens[place])}', does not occur in text '{rationale.id}' "
                f"after the tokens before it; give the tokens of this text, or spans of characters"
            )
        if flag and span[0] < span[1]:
            spans.append(span)
    return spans


def unknown_id(rationale: Rationale) -> BadInput:
    """The error for a rationale of a text that is not there."""
    return BadInput(
        f"{rationale.where}: there is no text with the id '{printable(rationale.id)}'; remove the row, or name the "
        "column of ids (id) of the data"
    )


def content_hash(rows: Iterable[Rationale]) -> str:
    """A short hash of what was given."""
    total = hashlib.blake2b(digest_size=8)
    for row in rows:
        total.update(json.dumps([row.id, row.marked, row.tokens], default=_plain).encode())
    return total.hexdigest()


def _rows(rows: Iterable[Located]) -> Iterator[Rationale]:
    for where, (id, *rest) in rows:
        if id is None or not str(id).strip():
            raise BadInput(f"{where}: column 'id' is empty; fill it in or remove the row")
        yield Rationale(where, str(id), *rest)


def _parsed(value: Any, where: str) -> list[Any] | None:
    """A list from what a cell holds: a list, JSON, or numbers separated by spaces."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value if value.lstrip().startswith("[") else f"[{','.join(value.split())}]")
        except (ValueError, RecursionError) as error:
            raise _unreadable(where, value) from error
    value = _plain(value)
    if not isinstance(value, list | tuple):
        raise _unreadable(where, value)
    return [_plain(each) for each in value]


def _span(value: Sequence[Any], text: str, where: str) -> Span:
    ends = [_plain(each) for each in value]
    if len(ends) != 2 or not all(isinstance(each, int) and not isinstance(each, bool) for each in ends):
        raise _unreadable(where, value)
    start, stop = ends
    if not 0 <= start <= stop <= len(text):
        raise BadInput(
            f"{where}: the span [{start}, {stop}) is not inside the text, which has {len(text)} characters; count "
            "characters from 0, the stop not included"
        )
    return start, stop


def _token_list(value: Any, where: str) -> list[str]:
    if isinstance(value, str):
        value = _parsed(value, where) if value.lstrip().startswith("[") else value.split()
    value = _plain(value)
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise BadInput(f"{where}: column 'tokens' is not a list of text; give the tokens that the rationale is of")
    return list(value)


def _plain(value: Any) -> Any:
    """Lists and numbers from those of NumPy, torch or polars."""
    for name in ("to_list", "tolist"):
        if hasattr(value, name):
            return getattr(value, name)()
    return value


def _unreadable(where: str, value: Any) -> BadInput:
    return BadInput(
        f"{where}: {printable(str(value)[:40])} is not a rationale; give spans of characters ([[start, stop], ...]) or "
        "one 0 or 1 a token"
    )
