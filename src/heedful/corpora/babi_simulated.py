"""`babi-1-simulated`, `babi-2-simulated`, `babi-3-simulated`: stories like those of the bAbI tasks, built in.

They come from a simulator of our own, in the native format, and are read as the real ones are. Each story is drawn from
its own stream: a larger corpus begins with the smaller one. Unlike in the real corpora, no story is both in train and
in dev.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from heedful.corpora.babi import Stories
from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.finding import Found
from heedful.corpora.reader import Options
from heedful.corpora.simulation import QUESTIONS, story
from heedful.corpora.stories import questions
from heedful.randomness import Stream


class SimulationOptions(Options):
    """How many questions, and the seed."""

    train: int = Field(1000, ge=2)
    dev: int = Field(150, ge=1)
    test: int = Field(1000, ge=1)
    seed: int = 0


class Simulated(Stories):
    """A simulated task; needs no data."""

    sizes = "any; 1,000 / 150 / 1,000 questions unless set"
    how_to_get = "it is built in"
    options = SimulationOptions

    def find(self, roots: Sequence[Path], options: Any, *, subset: bool) -> Found:
        """Always there."""
        return Found()

    def documents(self, found: Found, options: SimulationOptions) -> Iterator[Document]:
        """As many questions as wanted, story by story."""
        for split in SPLITS:
            wanted = getattr(options, split)
            lines = ((self.name, line) for line in self.lines(split, -(-wanted // QUESTIONS), options.seed))
            for question in islice(questions(lines), wanted):
                yield self.document(question, split, options)

    def lines(self, split: str, stories: int, seed: int) -> Iterator[str]:
        """Stories in the native format."""
        stream = Stream(seed, f"babi-{self.number}")
        for number in range(stories):
            yield from story(self.number, stream.generator(split, number))


class Simulated1(Simulated):
    """Where is a person?"""

    name = "babi-1-simulated"
    task = "as babi-1, from a simulator"
    number = 1


class Simulated2(Simulated):
    """Where is a thing?"""

    name = "babi-2-simulated"
    task = "as babi-2, from a simulator"
    number = 2


class Simulated3(Simulated):
    """Where was a thing before?"""

    name = "babi-3-simulated"
    task = "as babi-3, from a simulator"
    number = 3
