"""The figures that the terminal prints when a run is done: means of its experiments, without intervals."""

from typing import Any, NamedTuple

import polars as pl

from heedful import experiments
from heedful.findings.run_facts import several_sentences
from heedful.runs.directory import Run

Shares = dict[str, float | None]


class Statistics:
    """An experiment's frame and its summary."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        table = experiments.summary(frame)
        keys = zip(table["quantity"], table["decision"], strict=True)
        self._rows = dict(zip(keys, table.iter_rows(named=True), strict=True))

    def get(self, quantity: str, statistic: str = "mean", decision: int | None = None) -> float | None:
        """A statistic over the instances with a predicted class, or over all; None where nothing is defined."""
        value: float | None = self._rows.get((quantity, decision), {}).get(statistic)
        return value

    @property
    def decisions(self) -> list[int]:
        """The predicted classes."""
        return sorted({decision for _, decision in self._rows if decision is not None})


class Wins(NamedTuple):
    """How often zeroing in one order changes the decision with fewer items than in the other."""

    gradient: float
    attention: float
    n: int  # instances, those that neither changes included
    documents: bool  # whether only documents of several sentences are counted


def summaries(run: Run) -> dict[str, list[dict[str, Any]]]:
    """The summary of each experiment with results, by predicted class and over all, as plain values."""
    return {
        name: experiments.summary(run.results(name)).to_dicts()
        for name in experiments.EXPERIMENT_NAMES
        if run.done(name)
    }


def statistics(run: Run) -> dict[str, Statistics]:
    """The statistics of each experiment with results."""
    return {name: Statistics(run.results(name)) for name in experiments.EXPERIMENT_NAMES if run.done(name)}


def gradient_against_attention(run: Run, frame: pl.DataFrame) -> Wins | None:
    """From the frame of `removal`, as in Serrano & Smith 2019: over all instances of several items; where items are
    words, over documents of several sentences. None if one of the two rankings is missing."""
    only = several_sentences(run)
    wins = experiments.removal_wins(frame, only=only, draws=0)
    wins = wins.filter((pl.col("first") == "attention") & (pl.col("second") == "gradient"))
    if not len(wins):
        return None
    row = wins.row(0, named=True)
    return Wins(row["second_all"], row["first_all"], row["n"] + row["neither"], only is not None)


def tested_claims(run: Run, single: pl.DataFrame | None, removed: pl.DataFrame | None) -> list[dict[str, Any]]:
    """The claims of Serrano & Smith 2019 that could be tested: `claim`, `share`, `against`, `holds`, `n`."""
    found = experiments.claims(single, removed, only=several_sentences(run))
    return found.filter(pl.col("share").is_not_null()).to_dicts()


def attention_flips(frame: pl.DataFrame) -> dict[str, Any]:
    """From the frame of `single_weight`: the most attended item against all others, exact."""
    expected = (pl.col("ranking") == "attention") & (pl.col("rival") == "expected")
    return experiments.flip_table(frame, draws=0).filter(expected).row(0, named=True)


def ranking_scores(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """From the frame of `removal`, one row a ranking; `never` is a share."""
    rows = experiments.removal_scores(frame, draws=0).to_dicts()
    return [{**row, "never": row["never"] / row["n"] if row["n"] else None} for row in rows]


def curve_means(frame: pl.DataFrame) -> dict[str, tuple[float | None, float | None]]:
    """From the frame of `curves`: mean comprehensiveness and sufficiency of attention and gradient."""
    found = {}
    for name in ("attention", "gradient"):
        if f"{name}_comprehensiveness" in frame.columns:
            means = (pl.col(f"{name}_{kind}").mean() for kind in ("comprehensiveness", "sufficiency"))
            found[name] = frame.select(means).row(0)
    return found


def accuracies(frame: pl.DataFrame) -> dict[str, float | None]:
    """From the frame of `substitution`: accuracy by the weights used."""
    scores = experiments.substitution_scores(frame, draws=0)
    return dict(zip(scores["weights"], scores["accuracy"], strict=True))


def removed_shares(frame: pl.DataFrame) -> Shares:
    """From the frame of `removal`: mean share of items zeroed until the decision changes (never: all), by ranking."""
    return {row["ranking"]: row["fraction_all"] for row in ranking_scores(frame)}


def deleted_shares(frame: pl.DataFrame) -> Shares:
    """From the frame of `erasure`: the same for items deleted from the text."""
    scores = experiments.erasure_scores(frame, draws=0).filter(pl.col("way") == "delete")
    return dict(zip(scores["ranking"], scores["fraction_all"], strict=True))
