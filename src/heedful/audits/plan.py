"""The options of an audit, and its stages: they depend on whether there is a model, scores, or importance."""

import re
from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from heedful.experiments import EXPERIMENTS
from heedful.files import fingerprint
from heedful.models.options import Options
from heedful.workspace.folder import Stage

Route = Literal["huggingface", "module", "subject", "run", "evidence"]


TEXTS = Stage("texts", ("texts.parquet",))
RATIONALES, PLAUSIBILITY = "rationales", "plausibility"


class ModelFacts(Options):
    """The audited model and attention map."""

    name: str
    fingerprint: str = ""  # of its parameters; empty: unknown
    classes: tuple[str, ...] = ()
    about: dict[str, Any] = Field(default_factory=dict)  # the adapter's description


class DataFacts(Options):
    """Which texts are audited, and how they are read."""

    name: str
    fingerprint: str
    text: str = "text"  # columns
    label: str | None = None
    id: str | None = None
    truncate: bool = False  # cut texts that are longer than the model reads
    skip_empty: bool = False  # leave out empty texts
    skip_unlabelled: bool = False  # leave out texts without a label
    merge_labels: bool = False  # take labels that differ from a class's name only in case or spaces for it

    @model_serializer(mode="wrap")
    def _set(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without options that are off: audits keep the names that they had before there were these."""
        values: dict[str, Any] = dump(self)
        for name in ("skip_unlabelled", "merge_labels"):
            if not values.get(name):
                values.pop(name, None)
        return values


class GivenFacts(Options):
    """Importance measured elsewhere."""

    name: str
    fingerprint: str
    methods: tuple[str, ...]


class RationaleFacts(Options):
    """Words that people marked."""

    name: str
    fingerprint: str


class AuditOptions(Options):
    """All options of an audit."""

    route: Route
    model: ModelFacts
    data: DataFacts
    importance: GivenFacts | None = None
    rationales: RationaleFacts | None = None
    sample: Annotated[int, Field(ge=0)] | Literal["auto"] = "auto"  # texts that the tests of the battery read; 0: all
    budget: float | None = Field(None, gt=0)  # seconds after which no more texts are tested
    seed: int = Field(0, ge=0)
    full: bool = False  # the whole battery, not only what a verdict rests on
    exact: bool = True  # where logits are affine in attention, compute tests from scores instead of forward passes

    @property
    def name(self) -> str:
        """The audit directory's name: the same options are the same directory."""
        by_content = {"data": {"name"}, "importance": {"name"}}  # files are known by what is in them
        values = self.model_dump(mode="json", exclude={**by_content, "rationales": True})
        if self.rationales is not None:  # audits without any keep the names that they had before there were some
            values["rationales"] = self.rationales.fingerprint
        model, data = (slug(name) for name in (self.model.name, self.data.name))
        return f"{model}-{data}-{fingerprint(values)[:8]}" if model != data else f"{model}-{fingerprint(values)[:8]}"


def slug(name: str) -> str:
    """The last part of a path or name, safe as a file name."""
    last = re.split(r"[\\/]", name.removeprefix("hf:").rstrip("/\\"))[-1]
    return re.sub(r"[^A-Za-z0-9]+", "-", last.split(".")[0]).strip("-").lower()[:40] or "unnamed"


def plan(columns: Collection[str], *, battery: Collection[str], given: bool, rationales: bool = False) -> list[Stage]:
    """The stages for evidence with these columns; `battery`: tests on the model (none: there is no model); `given`:
    whether there is importance from elsewhere; `rationales`: whether people marked words, which no verdict reads."""
    stages = list(_stages(columns, battery, given=given))
    signals = Stage("signals", ("signals.parquet",), tuple(stage.name for stage in stages))
    verdict = Stage("verdict", ("verdict.json", "instances.parquet", "instances.csv"), ("signals",))
    if not rationales:
        return [*stages, signals, verdict]
    first = 1 if battery else next(place for place, stage in enumerate(stages, 1) if stage.name == "evidence")
    marked = Stage(RATIONALES, (f"{RATIONALES}.parquet",), (stages[first - 1].name,))  # as early as their texts allow
    plausible = _test(PLAUSIBILITY, RATIONALES, "given", "importance")
    return [*stages[:first], marked, *stages[first:], signals, verdict, plausible]


def plan_of(done: Collection[str]) -> list[Stage]:
    """A plan with all of these stages; each needs what it reads in any audit."""
    named = {"texts", "evidence", "given", "correlation", "signals", "verdict", RATIONALES, PLAUSIBILITY}
    battery = [name for name in done if name not in named] or ["importance"]
    return plan((), battery=battery, given="given" in done, rationales=RATIONALES in done)


def exact_tests(columns: Collection[str]) -> tuple[str, ...]:
    """The experiments that evidence with these columns supports by itself: quick enough for all instances."""
    return tuple(
        experiment.name
        for experiment in EXPERIMENTS.values()
        if experiment.default
        and {"importance", "model"}.isdisjoint(experiment.needs)
        and experiment.unsupported(columns) is None
    )


def _stages(columns: Collection[str], battery: Collection[str], *, given: bool) -> Iterator[Stage]:
    if battery:
        yield TEXTS
    yield Stage("evidence", ("evidence.parquet",), ("texts",), optional=("metrics.json",))
    if given:
        yield Stage("given", ("given.parquet",), ("evidence",))
    exact = exact_tests(columns)
    if "highlights" in battery:
        yield _test("highlights", "given")
    if "importance" in battery or given:
        yield Stage("importance", ("importance.parquet",), ("evidence", "given", "highlights"))
        yield _test("correlation", "importance")
    for name in exact:
        yield _test(name, "given")
    for name in battery:
        if name not in (*exact, "importance", "highlights"):
            yield _test(name, "given", "importance", "highlights")


def _test(name: str, *needs: str) -> Stage:
    return Stage(name, (result_file(name),), ("evidence", *needs))


def result_file(name: str) -> str:
    """The file with the results of a test."""
    return f"results/{name}.parquet"
