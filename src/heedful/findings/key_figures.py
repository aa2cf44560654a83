"""The key figures by which runs are compared: means over test instances, with intervals."""

from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from heedful.experiments import estimates
from heedful.findings.cache import kept
from heedful.findings.instance_table import instance_rows
from heedful.findings.run_facts import several_sentences
from heedful.runs.directory import Run

DRAWS = 1000  # of the bootstrap: intervals to two digits
_SEVERAL = "several"  # whether a document has several sentences


class Key(NamedTuple):
    """A figure of a run: the mean of a value per instance."""

    name: str
    title: str
    meaning: str
    kind: Literal["percent", "figure"]
    of: pl.Expr  # its value in an instance, null where undefined

    @property
    def columns(self) -> set[str]:
        """The columns of `instance_rows` that it is made of."""
        return {*self.of.meta.root_names()} - {_SEVERAL}


class KeyFigure(NamedTuple):
    """Its value in one run, with its interval of 95 % over instances."""

    value: float
    std: float
    low: float
    high: float
    n: int  # instances in which it is defined

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return self._asdict()


def _several(value: pl.Expr) -> pl.Expr:
    """Orders of removal tell something only where there are several items."""
    return pl.when(pl.col("items") > 1).then(value)


def _removed(ranking: str) -> pl.Expr:
    """The share of items removed; a decision that never changes counts as all."""
    return _several(pl.col(f"{ranking}_fraction").fill_null(1.0))


def _mean(name: str, title: str, meaning: str, kind: Literal["percent", "figure"] = "figure") -> Key:
    return Key(name, title, meaning, kind, pl.col(name))


_SOONER = pl.col("gradient_fraction").fill_null(np.inf) < pl.col("attention_fraction").fill_null(np.inf)

KEYS: tuple[Key, ...] = (
    Key("accuracy", "correct", "Share of correct decisions.", "percent", ~pl.col("wrong")),
    _mean("tau_gradient", "τ gradient", "Kendall's tau of attention and gradient: 1 the same order, 0 no relation."),
    _mean("tau_leave_one_out", "τ leave-one-out", "Kendall's tau of attention and leave-one-out."),
    _mean("permuted_tvd", "shuffled", "How far shuffling the weights moves the output (TVD, 0 to 1)."),
    _mean("jsd", "adversary", "How different attention could be (JSD, at most 0.69) with nearly the same output."),
    Key(
        "irrelevant",
        "no effect",
        "Share of texts whose decision no attention could change.",
        "percent",
        ~pl.col("attention_matters"),
    ),
    _mean("violates", "against", "Share of texts whose most attended item argues against the decision.", "percent"),
    Key(
        "gradient_wins",
        "gradient first",
        "Share of texts where zeroing in gradient order flips the decision with fewer items than in attention order.",
        "percent",
        pl.when(pl.col(_SEVERAL)).then(_several(_SOONER)),
    ),
    Key(
        "attention_removed",
        "zeroed",
        "Share of items to zero, most attended first, until the decision changes (never: all).",
        "percent",
        _removed("attention"),
    ),
    Key(
        "least_removed",
        "least",
        "The same for the smallest set that changes the decision (exact).",
        "percent",
        # unknown in all instances: the decoder is not affine, or nothing ever changes a decision
        pl.when(pl.col("optimal_fraction").is_not_null().any()).then(_removed("optimal")),
    ),
    _mean("truth_mass", "on truth", "Share of attention on the items known to decide.", "percent"),
)


def key_values(run: Run) -> pl.DataFrame:
    """The key figures of every instance, as numbers, null where undefined, and its `id`; a column is missing where what
    it is made of was not performed."""
    rows = instance_rows(run, {column for key in KEYS for column in key.columns})
    several = several_sentences(run)
    rows = rows.with_columns((pl.lit(True) if several is None else several).alias(_SEVERAL))
    known = [key for key in KEYS if key.columns <= set(rows.columns)]
    return rows.select("id", *(key.of.cast(pl.Float64).alias(key.name) for key in known))


def key_figures(run: Run, *, draws: int = DRAWS) -> dict[str, KeyFigure | None]:
    """Every key figure of a run; None where what it is made of was not performed, or is nowhere defined."""
    found = kept("key-figures", run, lambda: _key_figures(run, draws), draws=draws)
    return {key.name: KeyFigure(*found[key.name]) if key.name in found else None for key in KEYS}


def _key_figures(run: Run, draws: int) -> dict[str, KeyFigure]:
    found = {}
    values = key_values(run).drop("id")
    for name, (mean, std, low, high, n, _) in estimates(values, seed=run.config.seed, draws=draws).items():
        if mean is not None and std is not None and low is not None and high is not None:
            found[name] = KeyFigure(mean, std, low, high, n)
    return found
