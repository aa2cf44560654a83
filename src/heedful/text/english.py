"""Tokens of English text without any library: rules in the spirit of spaCy's `blank("en")`.

What stands between spaces is split in five steps:

1. Marks are taken off both ends, one after another: opening and closing punctuation, quotes, currency signs, a final
   full stop, 's, units after a number. This stops as soon as what is left is an exception.
2. Exceptions are contractions, abbreviations, times and emoticons (`english_exceptions`).
3. An address (`www.example.org/a`, `me@example.org`) stays whole.
4. Anything else is split at marks between letters: hyphens, slashes, commas, a full stop between sentences.
5. Marks that together are an exception, such as `:)` at the end of a word, are joined again.

Every step looks at each character a bounded number of times, so the time is linear in the length of a text.
"""

import re
import unicodedata
from functools import cache

from heedful.text.english_exceptions import EXCEPTIONS, Pieces

_LONGEST = max(map(len, EXCEPTIONS))

_QUOTES = frozenset("'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉⟦⟧")  # the comma stands for a low quote
_MARKS = _QUOTES | frozenset("…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪")  # taken off either end
_CURRENCIES = frozenset("$£€¥฿₽﷼₴") | frozenset(map(chr, range(0x20A0, 0x20C0)))
_DOLLARS = ("US$", "C$", "A$")
_OPENING = _MARKS | _CURRENCIES | frozenset("§%=—–")
_CLOSING = _MARKS | frozenset("—–")
_BEFORE_STOP = _MARKS | frozenset("%²-+|")
_BETWEEN = dict.fromkeys("–~:<>=/", 1) | {"-": 3, "—": 2}  # the longest run that separates words
_OWNERS = ("'s", "'S", "’s", "’S")
_UNITS = frozenset(
    """km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph hPa Pa
    mbar mb MB kb KB gb GB tb TB T G M K %""".split()
)
_LONGEST_UNIT = max(map(len, _UNITS))
_DIGITS = frozenset("0123456789")

_MARK = re.compile(r"\.+|(?<=[0-9])-(?=-)|-+|—+|[^\w\s]")  # 1--3: one hyphen separates, the other belongs to 3
_SCHEME = re.compile(r"[\w+.-]{2,}://")
_LABEL = re.compile(r"[^\W_](?:[\w-]{0,62}[^\W_])?")  # one part of a host's name
_AFTER_HOST = re.compile(r"(?::\d{2,5})?(?:[/?#].*)?", re.DOTALL)


def split_chunk(chunk: str) -> list[str]:
    """The tokens of what stands between two spaces; together they are the chunk.

    >>> split_chunk("(don't!)"), split_chunk("well-known...")
    (['(', 'do', "n't", '!', ')'], ['well', '-', 'known', '...'])
    """
    if chunk.isalpha() and chunk not in EXCEPTIONS:
        return [chunk]
    return _joined(_split(chunk, EXCEPTIONS))


def _split(chunk: str, exceptions: dict[str, Pieces]) -> list[str]:
    """Steps 1 to 4."""
    heads: list[str] = []
    tails: list[str] = []
    start, stop = 0, len(chunk)
    while start < stop and not _is_exception(chunk, start, stop, exceptions):
        head = _opening(chunk, start, stop)
        if head and _is_exception(chunk, start + head, stop, exceptions):
            tail = 0
        else:
            tail = _closing(chunk, start + head, stop)
            if tail and _is_exception(chunk, start, stop - tail, exceptions):
                head = 0
        if not head and not tail:
            break
        if head:
            heads.append(chunk[start : start + head])
            start += head
        if tail:
            tails.append(chunk[stop - tail : stop])
            stop -= tail
    core = chunk[start:stop]
    if not core:
        middle: Pieces | list[str] = ()
    elif core in exceptions:
        middle = exceptions[core]
    elif core.isalnum() or _is_address(core):
        middle = (core,)
    else:
        middle = _split_inside(core)
    return [*heads, *middle, *reversed(tails)]


def _is_exception(chunk: str, start: int, stop: int, exceptions: dict[str, Pieces]) -> bool:
    return 0 < stop - start <= _LONGEST and chunk[start:stop] in exceptions


def _opening(chunk: str, start: int, stop: int) -> int:
    """How many characters open the chunk that are a token of their own."""
    first = chunk[start]
    if first == ".":
        run = _run(chunk, start, stop)
        return run if run > 1 else 0
    if first in _OPENING:
        return 1
    if first == "+":
        return int(start + 1 == stop or chunk[start + 1] not in _DIGITS)
    if first in "UCA":
        return next((len(sign) for sign in _DOLLARS if chunk.startswith(sign, start, stop)), 0)
    return int(_is_icon(first))


def _closing(chunk: str, start: int, stop: int) -> int:
    """How many characters close it."""
    if start == stop:
        return 0
    last = chunk[stop - 1]
    before = chunk[stop - 2] if stop - 2 >= start else ""
    if last == ".":
        return _closing_stops(chunk, start, stop, before)
    if last in _CLOSING:
        return 2 if last == before == "…" else 1
    if chunk.endswith(_OWNERS, start, stop):
        return 2
    if before in _DIGITS and (last == "+" or last in _CURRENCIES):
        return 1
    return _unit(chunk, start, stop) or int(_is_icon(last))


def _closing_stops(chunk: str, start: int, stop: int, before: str) -> int:
    """A run of full stops; or one, after anything but an initial or an abbreviation in capitals and full stops."""
    if before == ".":
        run = 2
        while stop - run > start and chunk[stop - run - 1] == ".":
            run += 1
        return run
    if not before:
        return 0
    if before in _DIGITS or before in _BEFORE_STOP or _is_lower(before):
        return 1
    two = chunk[stop - 3] if stop - 3 >= start else ""
    return int(bool(two) and _is_upper(before) and (_is_upper(two) or (two == "°" and before in "FCK")))


def _unit(chunk: str, start: int, stop: int) -> int:
    """The length of a unit that follows a digit, the longest one."""
    for length in range(min(_LONGEST_UNIT, stop - start - 1), 0, -1):
        if chunk[stop - length - 1] in _DIGITS and chunk[stop - length : stop] in _UNITS:
            return length
    return 0


def _run(chunk: str, start: int, stop: int) -> int:
    end = start
    while end < stop and chunk[end] == ".":
        end += 1
    return end - start


def _split_inside(core: str) -> list[str]:
    """Step 4: the marks between letters, and what they separate."""
    tokens: list[str] = []
    done = 0
    for mark in _MARK.finditer(core):
        start, end = mark.span()
        if start and _separates(core, start, end):
            if start > done:
                tokens.append(core[done:start])
            tokens.append(core[start:end])
            done = end
    if done < len(core):
        tokens.append(core[done:])
    return tokens


def _separates(core: str, start: int, end: int) -> bool:
    """Whether the mark from `start` to `end` separates what stands before it from what follows."""
    mark, before = core[start], core[start - 1]
    after = core[end] if end < len(core) else ""
    if mark == ".":
        begins = after != "" and (_is_upper(after) or after in _QUOTES)
        return end - start > 1 or (begins and (_is_lower(before) or before in _QUOTES))
    if mark == "…" or _is_icon(mark):
        return True
    if mark in "+-*^" and before in _DIGITS and after and (after in _DIGITS or after == "-"):
        return True
    if mark == "," or not after.isalpha():
        return after.isalpha() and before.isalpha()
    return end - start <= _BETWEEN.get(mark, 0) and (before.isalpha() or before in _DIGITS)


def _is_address(core: str) -> bool:
    """Step 3: a host's name, perhaps with a scheme, a user, a port and a path."""
    if "." not in core:
        return False
    scheme = _SCHEME.match(core)
    start = scheme.end() if scheme else 0
    places = {start, core.find("@", start) + 1, core.rfind("@") + 1}
    return any(_is_host(core, place) for place in places if place >= start)


def _is_host(core: str, start: int) -> bool:
    """Whether a host's name begins at `start`, and nothing but a port and a path follows it."""
    labels, place = 0, start
    while label := _LABEL.match(core, place):
        labels += 1
        if not core.startswith(".", label.end()):
            last = label.group()
            named = labels > 1 and len(last) > 1 and last.isalpha() and last.islower()
            return named and _AFTER_HOST.fullmatch(core, label.end()) is not None
        place = label.end() + 1
    return False


def _joined(tokens: list[str]) -> list[str]:
    """Step 5: neighbours that together are an exception, the longest first."""
    lengths, sequences = _sequences()
    if not any(token in lengths for token in tokens):
        return tokens
    joined: list[str] = []
    place = 0
    while place < len(tokens):
        for length in lengths.get(tokens[place], ()):
            pieces = sequences.get(tuple(tokens[place : place + length]))
            if pieces is not None:
                joined += pieces
                place += length
                break
        else:
            joined.append(tokens[place])
            place += 1
    return joined


@cache
def _sequences() -> tuple[dict[str, list[int]], dict[Pieces, Pieces]]:
    """The exceptions that the other steps would take apart: the lengths of their sequences of tokens by first token,
    longest first, and what becomes of each sequence."""
    sequences = {tuple(_split(text, {})): pieces for text, pieces in EXCEPTIONS.items()}
    sequences = {sequence: pieces for sequence, pieces in sequences.items() if len(sequence) > 1}
    lengths: dict[str, set[int]] = {}
    for sequence in sequences:
        lengths.setdefault(sequence[0], set()).add(len(sequence))
    return {head: sorted(each, reverse=True) for head, each in lengths.items()}, sequences


def _is_lower(letter: str) -> bool:
    return letter.isalpha() and not letter.isupper()


def _is_upper(letter: str) -> bool:
    return letter.isalpha() and not letter.islower()


@cache
def _is_icon(letter: str) -> bool:
    return unicodedata.category(letter) == "So"
