"""Stories with questions in the format of the bAbI tasks (Weston et al. 2015).

A line is `number sentence.` or `number question? <TAB>answer<TAB>numbers of the supporting facts`; number 1 begins a
new story.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from heedful.errors import BadInput

_NUMBERED = re.compile(r"(\d{1,9}) (.+)")
_WORD = re.compile(r"\w[\w-]*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the story so far without the questions in it."""

    story: int  # the first is 1
    number: int  # the question's own within the story
    facts: Sequence[str]  # sentences with their full stops
    text: str
    answer: str
    supporting: frozenset[int]  # indices into `facts`


def questions(lines: Iterable[tuple[str, str]]) -> Iterator[Question]:
    """The questions in lines that come with the place to name when something is wrong."""
    story, expected = 0, 1
    facts: list[str] = []
    places: dict[int, int] = {}  # number of a line -> index of its fact
    for where, line in lines:
        if not line.strip():
            continue
        number, content = _numbered(line, where)
        if number == 1:
            story, expected, facts, places = story + 1, 1, [], {}
        if number != expected:
            raise BadInput(
                f"{where}: number {number} where {expected} should be; lines of a story are numbered from 1 on, "
                "without gaps"
            )
        expected += 1
        if not _WORD.search(content.partition("\t")[0]):
            raise BadInput(f"{where}: there is no word in '{content[:60]}'; remove the line or fill it in")
        if "\t" in content or content.endswith("?"):
            yield Question(story, number, tuple(facts), *_question(content, places, where))
        elif content.endswith("."):
            places[number] = len(facts)
            facts.append(content)
        else:
            raise BadInput(f"{where}: a sentence should end in a full stop, and a question in '?' and its answer")


def _numbered(line: str, where: str) -> tuple[int, str]:
    match = _NUMBERED.fullmatch(line.strip(" \r\n"))  # a tab at the end stands before an empty field
    if match is None:
        raise BadInput(f"{where}: should begin with a number and go on with a sentence; found '{line.strip()[:60]}'")
    return int(match[1]), match[2].strip(" ")


def _question(content: str, places: dict[int, int], where: str) -> tuple[str, str, frozenset[int]]:
    fields = [field.strip() for field in content.split("\t")]
    if len(fields) != 3 or not fields[0].endswith("?"):
        raise BadInput(
            f"{where}: a question should be the question with its '?', the answer and the numbers of supporting facts, "
            f"with tabs between; found '{content[:60]}'"
        )
    text, answer, numbers = fields
    if not places:
        raise BadInput(f"{where}: a question without any fact before it; is the story's beginning missing?")
    if not _WORD.fullmatch(answer):
        raise BadInput(f"{where}: the answer '{answer}' is not one word; such tasks are not supported")
    if not numbers:
        raise BadInput(
            f"{where}: no supporting fact is named after the answer; give the numbers of the lines that tell"
        )
    strange = [number for number in numbers.split() if number not in map(str, places)]
    if strange:
        raise BadInput(
            f"{where}: supporting fact '{' '.join(strange)}' is no fact of the story before the question; it has: "
            f"{', '.join(map(str, places))}"
        )
    return text, answer, frozenset(places[int(number)] for number in numbers.split())
