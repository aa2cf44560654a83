"""`babi-1-simulated` to `babi-3-simulated`: a simulator of bAbI tasks 1 to 3 (Weston et al. 2015).

People walk about, take things and drop them. Written from what the published stories show, and compared with them in
the tests. A person and an action are drawn until the two fit: a walk to another room, a thing to take here, one to
drop. After every second fact, facts are drawn from the last five until one gives a question that can be answered; where
none does, the story goes on.
"""

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from numpy.random import Generator
from pydantic import Field

from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.locating import Found
from heedful.corpora.reader import Options
from heedful.corpora.readers.babi import Stories, questions
from heedful.randomness import Stream

PEOPLE = ("Mary", "John", "Daniel", "Sandra")
ROOMS = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
THINGS = ("apple", "football", "milk")
QUESTIONS = 5  # in a story

_VERBS = {
    "move": ("went to", "journeyed to", "travelled to", "moved to", "went back to"),
    "take": ("got", "grabbed", "took", "picked up"),
    "drop": ("dropped", "left", "discarded", "put down"),
}
_RECENT = 5  # facts that a question may start from
_THERE = 0.2  # how often "there" ends a sentence; in task 2 it ends every taking


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
    built_in = True
    options = SimulationOptions

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name, self.task = f"babi-{number}-simulated", f"as babi-{number}, from a simulator"

    def documents(self, found: Found, options: SimulationOptions) -> Iterator[Document]:
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


class Fact(NamedTuple):
    """What someone did: `what` is a room or a thing."""

    who: str
    action: str
    what: str


class Answered(NamedTuple):
    """A question with its answer and the supporting facts, by index, in the order of the published files."""

    text: str
    answer: str
    supporting: tuple[int, ...]


def story(task: int, draw: Generator) -> Iterator[str]:
    """The lines of one story in the native format, without line ends."""
    world, history = _World(draw, things=task > 1), _History()
    numbers: list[int] = []  # of the facts' lines
    line = count = 0
    while count < QUESTIONS:
        for _ in range(2):
            line += 1
            fact = world.step()
            history.add(fact)
            numbers.append(line)
            yield f"{line} {_sentence(fact, task, draw)}"
        question = _question(task, history, draw)
        if question is not None:
            line += 1
            count += 1
            supporting = " ".join(str(numbers[index]) for index in question.supporting)
            yield f"{line} {question.text} \t{question.answer}\t{supporting}"


class _History:
    """The facts so far, and by index the moves of each person and when each thing was taken, dropped, taken..."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.moves: dict[str, list[int]] = {who: [] for who in PEOPLE}
        self.handlings: dict[str, list[int]] = {thing: [] for thing in THINGS}

    def add(self, fact: Fact) -> None:
        (self.moves[fact.who] if fact.action == "move" else self.handlings[fact.what]).append(len(self.facts))
        self.facts.append(fact)


class _World:
    """Who and what is where; everyone and everything starts in some room."""

    def __init__(self, draw: Generator, *, things: bool) -> None:
        self._draw = draw
        self._room = {name: self._one(ROOMS) for name in (*PEOPLE, *(THINGS if things else ()))}
        self._holder: dict[str, str] = {}
        self._actions = ("move", "take", "drop") if things else ("move",)

    def step(self) -> Fact:
        """The next thing that happens."""
        while True:
            who, action = self._one(PEOPLE), self._one(self._actions)
            objects = self._objects(who, action)
            if objects:
                fact = Fact(who, action, self._one(objects))
                if action != "move" or fact.what != self._room[who]:
                    self._do(fact)
                    return fact

    def _objects(self, who: str, action: str) -> tuple[str, ...]:
        if action == "move":
            return ROOMS
        if action == "drop":
            return tuple(thing for thing in THINGS if self._holder.get(thing) == who)
        return tuple(t for t in THINGS if t not in self._holder and self._room[t] == self._room[who])

    def _do(self, fact: Fact) -> None:
        if fact.action == "move":
            self._room[fact.who] = fact.what
        elif fact.action == "take":
            self._holder[fact.what] = fact.who
        else:
            del self._holder[fact.what]
            self._room[fact.what] = self._room[fact.who]

    def _one(self, among: tuple[str, ...]) -> str:
        return among[self._draw.integers(len(among))]


def _sentence(fact: Fact, task: int, draw: Generator) -> str:
    verbs = _VERBS[fact.action]
    there = fact.action != "move" and (draw.random() < _THERE or (fact.action == "take" and task == 2))
    return f"{fact.who} {verbs[draw.integers(len(verbs))]} the {fact.what}{' there' * there}."


def _question(task: int, history: _History, draw: Generator) -> Answered | None:
    recent = history.facts[-_RECENT:]
    for index in draw.permutation(len(recent)):
        question = _about(task, history, recent[index], draw)
        if question is not None:
            return question
    return None


def _about(task: int, history: _History, fact: Fact, draw: Generator) -> Answered | None:
    if task == 1:
        return _where_is_person(history, fact.who)
    if fact.action == "move":
        return None
    return _where_is_thing(history, fact.what) if task == 2 else _where_was_thing(history, fact.what, draw)


def _where_is_person(history: _History, who: str) -> Answered:
    """In the room of the last move."""
    move = history.moves[who][-1]
    return Answered(f"Where is {who}?", history.facts[move].what, (move,))


def _where_is_thing(history: _History, thing: str) -> Answered | None:
    """Who had it last, and where that was; of who has it now, a move since the taking must tell."""
    last = history.handlings[thing][-1]
    who, action, _ = history.facts[last]
    moves = [move for move in history.moves[who] if (move < last) == (action == "drop")]
    return Answered(f"Where is the {thing}?", history.facts[moves[-1]].what, (last, moves[-1])) if moves else None


def _where_was_thing(history: _History, thing: str, draw: Generator) -> Answered | None:
    """Where the last carrier was with it, move by move; a room is drawn as often as the thing was brought there."""
    facts, handlings = history.facts, history.handlings[thing]
    journeys = [
        [move for move in history.moves[facts[taken].who] if taken < move < dropped]
        for taken, dropped in zip(handlings[::2], [*handlings[1::2], len(facts)], strict=False)
    ]
    # of several visits to a room, the last one
    before = {facts[move].what: (move, previous) for previous, move in pairwise(journeys[-1])}
    if not before:
        return None
    visits = [facts[move].what for journey in journeys for move in journey]
    room = next(visits[index] for index in draw.permutation(len(visits)) if visits[index] in before)
    move, previous = before[room]
    return Answered(f"Where was the {thing} before the {room}?", facts[previous].what, (handlings[-1], move, previous))
