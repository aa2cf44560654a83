"""`babi-1`, `babi-2`, `babi-3`: questions on where people and things are, the bAbI tasks (Weston et al. 2015).

An instance is the story so far, without its other questions, and a question. Any word of the training stories and
questions may be the answer, as in the released code. `truth` marks the words of the supporting facts. 15 % of train
is for dev (seed 16377).

Cleaning "paper": lower case, each sentence with its full stop and the question with its mark. "released": as written,
sentences with full stops between them but none at the end, the question without its mark.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from heedful.corpora.corpus import Document
from heedful.corpora.locating import Found, below, find_layout, split_lines
from heedful.corpora.reader import Options, Published, Reader, Source
from heedful.corpora.splitting import hold_out
from heedful.errors import BadInput

SEED = 16377
ARCHIVE = "tasks_1-20_v1-2.tar.gz"

_TITLES = {1: "qa1_single-supporting-fact", 2: "qa2_two-supporting-facts", 3: "qa3_three-supporting-facts"}
_TASKS = {
    1: "where is a person? One fact of a story tells",
    2: "where is a thing? Two facts of a story tell",
    3: "where was a thing before it was somewhere? Three facts of a story tell",
}
_FOLDERS = {"10k": "en-10k", "1k": "en"}
_PARENTS = ("babi/tasks_1-20_v1-2/", "tasks_1-20_v1-2/", "babi/")
_PIECES = re.compile(r"\w+(?:-\w+)*|[^\w\s]")
_NUMBERED = re.compile(r"(\d{1,9}) (.+)")
_WORD = re.compile(r"\w[\w-]*")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the story so far without other questions."""

    story: int  # the first is 1
    number: int  # the question's own within the story
    facts: Sequence[str]  # sentences with their full stops
    text: str
    answer: str
    supporting: frozenset[int]  # indices into `facts`


class BabiOptions(Options):
    """Which of the official training files."""

    training: Literal["10k", "1k"] = "10k"  # questions; the papers have 10,000, of which the 1k files are the first


class Stories(Reader):
    """What real and simulated tasks have in common; the number of a task is that of its supporting facts."""

    query = True

    def __init__(self, number: int) -> None:
        self.number = number
        self.name, self.task = f"babi-{number}", _TASKS[number]

    def answers(self, training: pl.LazyFrame) -> list[str]:
        words: set[str] = set()
        for column in (pl.col("tokens").list.explode(), pl.col("query").list.explode(), pl.col("label")):
            words.update(training.select(word=column.unique()).collect()["word"])
        return sorted(words)

    def tokenise(self, text: str, options: Options) -> list[str]:
        if options.cleaning == "paper":
            return _PIECES.findall(text.lower())
        tokens = _PIECES.findall(text)
        return tokens[:-1] if tokens and tokens[-1] in (".", "?") else tokens

    def document(self, question: Question, split: str, options: Options) -> Document:
        """A question with the story so far."""
        tokens = self.tokenise(" ".join(question.facts), options)
        truth = [
            index in question.supporting and piece != "."
            for index, fact in enumerate(question.facts)
            for piece in _PIECES.findall(fact)
        ]
        return Document(
            id=f"{split}-{question.story:05d}-{question.number:03d}",
            tokens=tokens,
            label=question.answer.lower() if options.cleaning == "paper" else question.answer,
            split=split,
            truth=truth[: len(tokens)],
            query=self.tokenise(question.text, options),
        )


class Babi(Stories):
    """A task in its native files, or in the official archive."""

    sizes = "10,000 / 1,000 questions; 8,500 / 1,500 / 1,000 used"
    how_to_get = "`heedful corpora get babi-1` (or 2, or 3) downloads all tasks"
    source = Source(  # one archive of all tasks
        "https://www.thespermwhale.com/jaseweston/babi",
        "babi",
        {"archive": ARCHIVE},
        {"train": 10000, "test": 1000},
        {  # huggingface/datasets, commit 040102f, datasets/babi_qa/dataset_infos.json
            "archive": Published(
                "0364ebde659f14d11bc21744516c5ec49d3d06cb692733f66680771244998898", 15719851, "Hugging Face"
            )
        },
    )
    options = BabiOptions

    def find(self, roots: Sequence[Path], options: BabiOptions, *, subset: bool) -> Found | None:
        folders = [f"{folder}{_FOLDERS[options.training]}" for folder in ("", *_PARENTS)]
        files = {split: f"{_TITLES[self.number]}_{split}.txt" for split in ("train", "test")}
        archives = below(["babi", ""], {"archive": ARCHIVE})
        return find_layout(roots, [*below(folders, files), *archives], subset=subset)

    def documents(self, found: Found, options: BabiOptions) -> Iterator[Document]:
        for split, question in self.questions(found, options):
            yield self.document(question, split, options)

    def native_splits(self, found: Found) -> Iterator[str]:
        return (split for split, _ in self.questions(found, BabiOptions()))

    def questions(self, found: Found, options: BabiOptions) -> Iterator[tuple[str, Question]]:
        """Every question with its native split."""
        for split in ("train", "test"):
            for question in questions(self._lines(found, split, options)):
                yield split, question

    def _lines(self, found: Found, split: str, options: BabiOptions) -> Iterator[tuple[str, str]]:
        return split_lines(found, split, f"{_FOLDERS[options.training]}/{_TITLES[self.number]}_{split}.txt")

    def split(self, table: pl.DataFrame, options: BabiOptions) -> pl.Series:
        return hold_out(table, among="train", into="dev", share=0.15, seed=SEED)["split"]


def questions(lines: Iterable[tuple[str, str]]) -> Iterator[Question]:
    """The questions in lines of the native format; each line comes with its place, for errors."""
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
        raise BadInput(f"{where}: no supporting fact is named after the answer; give the numbers of their lines")
    strange = [number for number in numbers.split() if number not in map(str, places)]
    if strange:
        raise BadInput(
            f"{where}: supporting fact '{' '.join(strange)}' is no fact of the story before the question; it has: "
            f"{', '.join(map(str, places))}"
        )
    return text, answer, frozenset(places[int(number)] for number in numbers.split())
