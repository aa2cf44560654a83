"""Which stages an audit has: what can be tested depends on what is at hand, a model, scores, importance."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

# experiments on evidence whose outputs under other attention are known: exact, and quick enough for all instances
EXACT = ("substitution", "permutation", "single_weight", "violation", "removal", "curves", "adversary")
AFFINE = ("reach",)  # and those that need scores


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
    """The experiments that evidence with these columns supports by itself."""
    truth = ("truth",) if "truth" in columns else ()
    if "scores" in columns:
        return (*EXACT, *AFFINE, *truth)
    return (*EXACT, *truth) if "features" in columns else truth


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
