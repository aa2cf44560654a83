"""Which stages an audit has: what can be tested depends on what is at hand, a model, scores, importance."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple

from pydantic import Field

from heedful.experiments import EXPERIMENTS
from heedful.files import fingerprint
from heedful.models.options import Options

Route = Literal["huggingface", "module", "subject", "evidence"]


class ModelFacts(Options):
    """Which model, and which of its maps."""

    name: str
    fingerprint: str = ""  # of its parameters; empty: not known
    classes: tuple[str, ...] = ()
    about: dict[str, Any] = Field(default_factory=dict)  # what its adapter says of it


class DataFacts(Options):
    """Which texts."""

    name: str
    fingerprint: str
    text: str = "text"  # columns
    label: str | None = None
    id: str | None = None
    truncate: bool = False  # texts longer than the model reads are cut at the end
    skip_empty: bool = False  # texts with nothing in them are left out


class GivenFacts(Options):
    """Which importance was measured elsewhere."""

    name: str
    fingerprint: str
    methods: tuple[str, ...]


class AuditOptions(Options):
    """All of it."""

    route: Route
    model: ModelFacts
    data: DataFacts
    importance: GivenFacts | None = None
    sample: int = Field(200, ge=0)  # texts of the tests that read each of them many times; 0: all
    seed: int = Field(0, ge=0)
    exact: bool = True  # where logits are affine in attention, tests go by scores and not by readings

    @property
    def name(self) -> str:
        """The audit directory's name: the same options are the same directory."""
        by_content = {"data": {"name"}, "importance": {"name"}}  # files are known by what is in them
        values = self.model_dump(mode="json", exclude=by_content)
        model, data = (slug(name) for name in (self.model.name, self.data.name))
        return f"{model}-{data}-{fingerprint(values)[:8]}" if model != data else f"{model}-{fingerprint(values)[:8]}"


def slug(name: str) -> str:
    """The last part of a path or name as a file may be called."""
    last = re.split(r"[\\/]", name.removeprefix("hf:").rstrip("/\\"))[-1]
    return re.sub(r"[^A-Za-z0-9]+", "-", last.split(".")[0]).strip("-").lower()[:40] or "unnamed"


class Stage(NamedTuple):
    """A step of an audit."""

    name: str
    file: str  # that it leaves
    needs: tuple[str, ...]  # stages whose files it reads


def plan(columns: Collection[str], *, battery: Collection[str], given: bool) -> list[Stage]:
    """The stages for evidence with these columns; `battery` names the tests that a model can be put to (none: there is
    no model), `given` says whether there is importance from elsewhere."""
    stages = list(_stages(columns, battery, given=given))
    signals = Stage("signals", "signals.parquet", tuple(stage.name for stage in stages))
    return [*stages, signals, Stage("verdict", "verdict.json", ("signals",))]


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
        yield Stage("texts", "texts.parquet", ())
    yield Stage("evidence", "evidence.parquet", ("texts",))
    if given:
        yield Stage("given", "given.parquet", ("evidence",))
    exact = exact_tests(columns)
    if battery:
        yield Stage("attributions", "attributions.parquet", ("evidence",))
    if "importance" in battery or given:
        yield Stage("importance", "importance.parquet", ("evidence", "given"))
        yield _test("correlation", "importance")
    for name in exact:
        yield _test(name, "given")
    for name in battery:
        if name not in (*exact, "importance"):
            yield _test(name, "given", "attributions")


def _test(name: str, *needs: str) -> Stage:
    return Stage(name, result_file(name), ("evidence", *needs))


def result_file(name: str) -> str:
    """Where the frame of a test lies."""
    return f"results/{name}.parquet"
