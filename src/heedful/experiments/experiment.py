"""What an experiment is: a function of evidence, and everything other rooms need to know about it.

Each experiment's file declares an `Experiment`, and `experiments/__init__.py` lists them. A run's stages, its options,
the lines it prints, the help of the command line and the index of docs/experiments follow from that.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from numbers import Integral
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from heedful.errors import BadConfig, BadInput
from heedful.evidence import Evidence
from heedful.tanh_decoder import row_slices

ITEMS = 1 << 19  # at a time, one instance at least
NUMBERS = 1 << 22  # scores, or features, at a time: 32 MB an array

Need = Literal["decoder", "affine decoder", "truth", "importance", "model"]

_EVIDENCE_NEEDS: dict[Need, tuple[set[str], str]] = {  # columns of which one must be there, and why
    "decoder": (
        {"scores", "features"},
        "needs evidence with 'scores' or 'features': without them the output under other weights is unknown",
    ),
    "affine decoder": ({"scores"}, "needs an affine decoder; question-answering models have a non-linear one"),
    "truth": ({"truth"}, "needs evidence with the column 'truth' (the items that really decide); this corpus has none"),
}

Options = ParamSpec("Options")
Function = Callable[Concatenate[Evidence, Options], pl.DataFrame]


class RunSettings(NamedTuple):
    """What an experiment's options are made from in a run."""

    options: Any  # `experiment_options` of the run's configuration
    preset: str
    mean_items: Callable[[], float]  # items of a test text, on average


class Headline(NamedTuple):
    """The figure that sums up an experiment: a mean over instances, and the sentence it stands in."""

    figure: pl.Expr  # one value an instance
    sentence: str  # with a place for the figure; `{item}` is what the model attends to, word or sentence

    def of(self, frame: pl.LazyFrame, *, item: str = "word") -> str | None:
        """The sentence about an experiment's frame; None where the figure is not defined."""
        if not set(self.figure.meta.root_names()) <= set(frame.collect_schema()):
            return None
        mean = frame.select(self.figure.mean()).collect().item()
        return None if mean is None else self.sentence.format(mean, item=item)


@dataclass(frozen=True, eq=False)
class Experiment:
    """An experiment. Calling it calls its function: evidence in, a frame with one row an instance out."""

    name: str  # of its stage, its results and in --experiments
    function: Callable[..., pl.DataFrame] | None  # None: it needs the model, and its stage performs it
    question: str
    headline: Headline
    needs: tuple[Need, ...] = ("decoder",)
    options: Callable[[RunSettings], dict[str, Any]] = lambda settings: {}  # keyword arguments in a run
    random: bool = False  # whether it takes a `seed`
    default: bool = True  # whether a run performs it unasked
    exact: str = "yes"  # whether its answer is exact where the decoder is affine
    page: str = ""  # in docs/experiments; empty: <name>.md

    def __call__(self, evidence: Evidence, /, *args: Any, **options: Any) -> pl.DataFrame:
        """Perform it."""
        if self.function is None:
            raise BadInput(f"experiment '{self.name}' needs a model, not evidence: `heedful run` performs it")
        return self.function(evidence, *args, **options)

    @property
    def title(self) -> str:
        """Its name to print."""
        return self.name.replace("_", " ")

    @property
    def index_row(self) -> str:
        """Its row in docs/experiments/README.md."""
        return f"| [{self.title}]({self.page or f'{self.name}.md'}) | {self.question} | {self.exact} |"

    def run_options(self, settings: RunSettings, seed: int) -> dict[str, Any]:
        """The keyword arguments it gets in a run."""
        return ({"seed": seed} if self.random else {}) | self.options(settings)

    def unsupported(self, columns: Collection[str]) -> str | None:
        """Why evidence with these columns is not enough for it; None if it is."""
        for need in self.needs:
            any_of, reason = _EVIDENCE_NEEDS.get(need, (None, ""))
            if any_of is not None and any_of.isdisjoint(columns):
                return reason
        return None


def bounded(experiment: Function[Options]) -> Function[Options]:
    """Bound an experiment's memory: run it over slices of its evidence. Rows do not depend on one another, so the frame
    is the same."""

    @wraps(experiment)
    def whole(evidence: Evidence, /, *args: Options.args, **options: Options.kwargs) -> pl.DataFrame:
        parts = (part.validate() for part in _slices(evidence))  # evidence may come from anywhere
        return pl.concat([experiment(part, *args, **options) for part in parts], rechunk=False)

    return whole


def instance_frame(ids: Sequence[str], decided: ArrayLike, **columns: Any) -> pl.DataFrame:
    """A frame with one row an instance: `id`, `decision` and other columns."""
    return pl.DataFrame(
        {"id": pl.Series(list(ids), dtype=pl.String), "decision": np.asarray(decided, dtype=np.int32), **columns}
    )


def share_removed(column: str) -> pl.Expr:
    """The share of items removed until the decision changes: all of them where it never does, as in the tables. Texts
    of one item say nothing about an order and are left out."""
    return pl.col(column).fill_null(1.0).filter(pl.col("items") > 1)


def check_count(name: str, value: object, *, least: int) -> None:
    """Raise unless an option is a whole number, and large enough."""
    if not isinstance(value, Integral) or int(value) < least:
        raise BadConfig(f"{name} = {value!r}: give a whole number of {least} or more")


def check_frame(frame: object, experiment: str, columns: Iterable[str]) -> None:
    """Raise unless it is the frame of an experiment: has the columns that tell it from others."""
    if not isinstance(frame, pl.DataFrame):
        raise BadInput(f"the frame of `{experiment}` is needed, as a polars DataFrame, and not {type(frame).__name__}")
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise BadInput(f"the frame of `{experiment}` is needed, and this one has no column '{missing[0]}'")


def _slices(evidence: Evidence) -> Iterator[Evidence]:
    """Consecutive slices of at most ITEMS items, without copying; evidence without instances is one slice."""
    width = evidence.outputs if evidence.decoder is None else max(evidence.decoder.weight.shape)
    items = max(1, min(ITEMS, NUMBERS // width))
    for start, stop in row_slices(evidence.weights, items) or [(0, 0)]:
        yield evidence.slice(start, stop)
