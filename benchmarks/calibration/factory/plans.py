"""Plans: what each model of a factory is made of, drawn from the number of the model and the factory's seed alone."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from benchmarks.calibration.factory.kinds import INTENDED, KINDS, WRONG, Architecture, Kind
from benchmarks.calibration.factory.tasks import Task
from heedful.randomness import Stream

LENGTHS = (10, 14, 18, 24)
FILLERS = (30, 60, 120)
CUES = (3, 6, 10)
NOISE = (0.0, 0.0, 0.05, 0.1)
POOLS = {"negation": ("max",), "majority": ("mean",)}  # a mean drowns a single negator, a maximum does not count
BLUR = (0.0, 0.0, 0.1, 0.2, 0.3)
WIDTHS = (16, 32, 48, 64)
WIDTHS_OF_BERT = (32, 48)  # narrower ones may not learn their rule, wider ones take their time


@dataclass(frozen=True)
class Plan:
    """A model to train."""

    kind: str = "guided"
    task: Task = field(default_factory=Task)
    architecture: Architecture = "bag"
    layers: int = 1
    heads: int = 1
    width: int = 32
    pool: Literal["", "mean", "max"] = ""
    blur: float = 0.0  # of attention is to be spread over all words, where the kind's goal is a distribution
    seed: int = 0

    @property
    def kind_of(self) -> Kind:
        """How models of its kind are made."""
        return KINDS[self.kind]

    @property
    def classes(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(f"class {index}" for index in range(self.task.classes))

    def settings(self) -> dict[str, Any]:
        """Itself, as JSON knows it."""
        return asdict(self)

    @classmethod
    def of(cls, settings: dict[str, Any]) -> "Plan":
        """The plan of such settings."""
        return cls(**{**settings, "task": Task(**settings["task"])})


def plans(count: int, *, seed: int, kinds: Sequence[str] = INTENDED) -> Iterator[tuple[str, Plan]]:
    """So many plans with their names, the kinds in turn and their variants in turn; a plan does not depend on how many
    there are."""
    for number in range(count):
        kind = kinds[number % len(kinds)]
        turn = number // len(kinds)
        yield f"{kind}-{turn:04d}", _plan(kind, turn, seed)


def _plan(kind: str, turn: int, seed: int) -> Plan:
    stream = Stream(seed, f"factory plans, {kind}")
    draw = stream.generator(turn)
    made = KINDS[kind]
    variant = made.variants[turn % len(made.variants)]
    rule = made.rules[int(draw.integers(len(made.rules)))]

    def one_of(choices: Sequence[Any]) -> Any:
        return choices[int(draw.integers(len(choices)))]

    task = Task(
        rule=rule,
        classes=2 if rule == "negation" else one_of((2, 2, 3, 4)),
        length=one_of(LENGTHS),
        fillers=one_of(FILLERS),
        cues=one_of(CUES),
        noise=one_of(NOISE),
        seed=stream.integer(turn, "texts"),
    )
    return Plan(
        kind=kind,
        task=task,
        architecture=variant.architecture,
        layers=one_of(variant.layers),
        heads=one_of(variant.heads),
        width=one_of(WIDTHS_OF_BERT if variant.architecture == "bert" else WIDTHS),
        pool=one_of(POOLS.get(rule, ("mean", "max"))) if variant.pool else "",
        blur=one_of(BLUR) if made.exact and made.label != WRONG else 0.0,
        seed=stream.integer(turn, "weights"),
    )
