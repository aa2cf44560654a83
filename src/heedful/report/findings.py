"""What the experiments of a run found, in the terminal: Table 2 of Jain & Wallace 2019, and the rest in words."""

import math
from collections.abc import Callable

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.experiments import EXPERIMENTS, substitution_scores, summary
from heedful.printable import printable
from heedful.published import table2
from heedful.runs.directory import Run

MEASURES = ("gradient", "leave_one_out")  # the columns of the paper's table


def findings(run: Run) -> RenderableType:
    """Everything that was performed; nothing for what was not."""
    done = {name: run.results(name) for name in EXPERIMENTS if run.done(name)}
    parts: list[RenderableType] = [_correlation(run, done["correlation"])] if "correlation" in done else []
    lines = [Text(_WORDS[name](run, frame)) for name, frame in done.items() if name in _WORDS]
    return Group(*parts, *lines)


def mean_of(frame: pl.DataFrame, quantity: str, statistic: str = "mean", decision: int | None = None) -> float | None:
    """A figure of an experiment's summary; None where nothing is defined."""
    table = summary(frame)
    group = pl.col("decision").is_null() if decision is None else pl.col("decision") == decision
    found = table.filter((pl.col("quantity") == quantity) & group)[statistic].to_list()
    return found[0] if found else None


def percent(share: float | None) -> str:
    """A share as people read it."""
    return "undefined" if share is None else f"{100 * share:.0f}%"


def figure(value: float | None, digits: int = 2) -> str:
    """A number, or the word for none."""
    return "undefined" if value is None else f"{value:.{digits}f}"


def _correlation(run: Run, frame: pl.DataFrame) -> Table:
    table = Table(title="Kendall's tau of attention and importance", title_justify="left", box=None)
    measures = [name for name in MEASURES if f"tau_attention_{name}" in frame.columns]
    decided = sorted(frame["decision"].unique().to_list())
    published = {
        (measure, decision): table2(run.config.corpus, run.config.encoder, measure, decision)
        for measure in measures
        for decision in decided
    }
    for column in ("importance", "decided"):
        table.add_column(column, no_wrap=True)
    known = any(published.values())
    for column in ("instances", "mean±std", "p≤0.05", *(("in the paper", "p≤0.05") if known else ())):
        table.add_column(column, justify="right", no_wrap=True)
    for measure in measures:
        for decision in [*decided, None]:
            named = "all" if decision is None else printable(run.classes[decision])
            count = len(frame) if decision is None else int((frame["decision"] == decision).sum())
            cells = [measure.replace("_", "-"), named, f"{count:,}", *_tau(frame, measure, decision)]
            paper = None if decision is None else published[measure, decision]
            if paper is not None:
                cells += [f"{paper.mean:.2f}±{paper.std:.2f}", percent(paper.significant)]
            table.add_row(*map(Text, cells))
    return table


def _tau(frame: pl.DataFrame, measure: str, decision: int | None) -> tuple[str, str]:
    mean, std = (mean_of(frame, f"tau_attention_{measure}", name, decision) for name in ("mean", "std"))
    significant = mean_of(frame, f"significant_attention_{measure}", decision=decision)
    return ("undefined" if mean is None else f"{mean:.2f}±{figure(std)}"), percent(significant)


def _permutation(run: Run, frame: pl.DataFrame) -> str:
    moved, change = figure(mean_of(frame, "median")), percent(mean_of(frame, "can_change"))
    return (
        f"permutation: the same weights in random order move the output by a TVD of {moved} (mean of the medians); "
        f"some order changes the decision of {change} of the instances"
    )


def _adversary(run: Run, frame: pl.DataFrame) -> str:
    certified = mean_of(frame, "certified")
    proof = "the exact optimum" if certified == 1 else f"proved to be the optimum for {percent(certified)}"
    return f"adversary: {_away(run, frame)}; {proof}"


def _search(run: Run, frame: pl.DataFrame) -> str:
    return f"adversary search: {_away(run, frame)}, as far as the paper's search finds"


def _away(run: Run, frame: pl.DataFrame) -> str:
    epsilon = run.config.experiment_options.epsilon
    distance = f"{figure(mean_of(frame, 'jsd'))} (JSD, at most {math.log(2):.2f})"
    return f"attention can be {distance} away while the output moves by {epsilon:g} at most"


def _reach(run: Run, frame: pl.DataFrame) -> str:
    free = mean_of(frame, "can_change")
    irrelevant = percent(None if free is None else 1 - free)
    return f"reach: no attention whatever changes the decision of {irrelevant} of the instances"


def _substitution(run: Run, frame: pl.DataFrame) -> str:
    rows = substitution_scores(frame, classes=len(run.classes)).iter_rows(named=True)
    accuracies = ", ".join(f"{row['weights']} {figure(row['accuracy'], 3)}" for row in rows)
    return f"substitution: accuracy with weights that are {accuracies}"


def _violation(run: Run, frame: pl.DataFrame) -> str:
    share = percent(mean_of(frame, "violates"))
    return f"violation: the most attended item argues against the decision in {share} of the instances"


def _truth(run: Run, frame: pl.DataFrame) -> str:
    mass, share = percent(mean_of(frame, "mass")), percent(mean_of(frame, "share"))
    return f"truth: {mass} of the attention lies on the items that decide, which are {share} of all"


_WORDS: dict[str, Callable[[Run, pl.DataFrame], str]] = {
    "permutation": _permutation,
    "adversary": _adversary,
    "adversary_search": _search,
    "reach": _reach,
    "substitution": _substitution,
    "violation": _violation,
    "truth": _truth,
}
