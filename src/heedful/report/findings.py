"""What the experiments of a run found, in the terminal: Table 2 of Jain & Wallace 2019, rankings, the rest in words."""

import math
from collections.abc import Callable

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.experiments import substitution_scores, summary
from heedful.printable import FEW_CLASSES, printable
from heedful.report.beside import measures_taken, published_tau
from heedful.report.erasing import erasure_table
from heedful.report.numbers import figure, percent, spread
from heedful.report.removing import (
    claims_words,
    curves_words,
    has_learned,
    removal_table,
    removal_words,
    single_weight_words,
)
from heedful.runs.directory import Run
from heedful.runs.naming import EXPERIMENT_NAMES


class Figures:
    """An experiment's frame and its summary."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        table = summary(frame)
        keys = zip(table["quantity"], table["decision"], strict=True)
        self._rows = dict(zip(keys, table.iter_rows(named=True), strict=True))

    def get(self, quantity: str, statistic: str = "mean", decision: int | None = None) -> float | None:
        """A statistic over the instances with a decision, or over all; None where nothing is defined."""
        value: float | None = self._rows.get((quantity, decision), {}).get(statistic)
        return value

    @property
    def decisions(self) -> list[int]:
        """The classes that were decided for."""
        return sorted({decision for _, decision in self._rows if decision is not None})


def findings(run: Run) -> RenderableType:
    """Everything that was performed; nothing for what was not."""
    done = _performed(run)
    parts: list[RenderableType] = [_correlation(run, done["correlation"])] if "correlation" in done else []
    parts += [removal_table(done["removal"].frame)] if "removal" in done else []
    parts += [erasure_table(done["erasure"].frame)] if "erasure" in done else []
    return Group(*parts, *map(Text, _lines(run, done)))


def findings_words(run: Run) -> list[str]:
    """What was found, line by line, without the tables."""
    return _lines(run, _performed(run))


def _performed(run: Run) -> dict[str, Figures]:
    return {name: Figures(run.results(name)) for name in EXPERIMENT_NAMES if run.done(name)}


def _lines(run: Run, done: dict[str, Figures]) -> list[str]:
    lines = [_WORDS[name](run, figures) for name, figures in done.items() if name in _WORDS]
    frames = {name: figures.frame for name, figures in done.items()}
    found = claims_words(run, frames.get("single_weight"), frames.get("removal"))
    doubt = (
        "" if not found or has_learned(run) else " (but this model is right no more often than its most frequent class)"
    )
    return [*lines, f"what Serrano & Smith found{doubt}:", *found] if found else lines


def _correlation(run: Run, figures: Figures) -> Table:
    table = Table(title="Kendall's tau of attention and importance", title_justify="left", box=None)
    measures = measures_taken(figures.frame.columns)
    groups = [*(figures.decisions if len(run.classes) <= FEW_CLASSES else []), None]
    published = {
        (measure, decision): published_tau(run, measure, decision) for measure in measures for decision in groups
    }
    table.add_column("importance", no_wrap=True)
    table.add_column("decided", overflow="ellipsis", no_wrap=True, max_width=20)
    paper_column = "in the paper,\non all data" if run.manifest["corpus"]["subset"] else "in the paper"
    known = any(published.values())
    for column in ("instances", "mean±std", "p≤0.05", *((paper_column, "p≤0.05") if known else ())):
        table.add_column(column, justify="right", no_wrap=True)
    for measure in measures:
        quantity = f"attention_{measure}"
        for decision in groups:
            name = "all" if decision is None else printable(run.classes[decision])
            count, mean, std = (figures.get(f"tau_{quantity}", which, decision) for which in ("n", "mean", "std"))
            significant = percent(figures.get(f"significant_{quantity}", decision=decision))
            cells = [measure.replace("_", "-"), name, f"{count:,}", spread(mean, std), significant]
            paper = published[measure, decision]
            if paper is not None:
                cells += [spread(paper.mean, paper.std), percent(paper.significant)]
            table.add_row(*map(Text, cells))
        undefined = figures.get(f"tau_{quantity}", "undefined")
        if undefined:
            table.add_row(Text(measure.replace("_", "-")), Text("undefined"), Text(f"{undefined:,}"))
    return table


def _permutation(run: Run, figures: Figures) -> str:
    words = (
        f"permutation: the same weights in random order move the output by {figure(figures.get('median'))} (TVD, 0 to "
        "1; mean of the medians)"
    )
    exact = figures.get("can_change")
    if exact is None:
        return f"{words}; {percent(figures.get('changed'))} of these orders change the decision"
    return f"{words}; some order changes the decision of {percent(exact)} of the instances"


def _adversary(run: Run, figures: Figures) -> str:
    if figures.get("certified") == 1:
        return f"adversary: {_away(run, figures)}; the exact optimum"
    return f"adversary: {_away(run, figures)}; what no attention exceeds is {figure(figures.get('upper'))}"


def _search(run: Run, figures: Figures) -> str:
    return f"adversary search: {_away(run, figures)}, as far as the paper's search finds"


def _away(run: Run, figures: Figures) -> str:
    epsilon = run.config.experiment_options.epsilon
    distance = f"{figure(figures.get('jsd'))} (JSD; {math.log(2):.2f}: nothing in common)"
    return f"other attention can be {distance} away while the output moves by {epsilon:g} at most"


def _reach(run: Run, figures: Figures) -> str:
    free = figures.get("can_change")
    irrelevant = percent(None if free is None else 1 - free)
    return f"reach: in {irrelevant} of the instances no attention could change the decision"


def _substitution(run: Run, figures: Figures) -> str:
    rows = substitution_scores(figures.frame, draws=0).iter_rows(named=True)
    accuracies = ", ".join(f"{row['weights']} {figure(row['accuracy'], 3)}" for row in rows)
    return f"substitution: accuracy with weights that are {accuracies}"


def _violation(run: Run, figures: Figures) -> str:
    share = percent(figures.get("violates"))
    return f"violation: the most attended item argues against the decision in {share} of the instances"


def _truth(run: Run, figures: Figures) -> str:
    mass, share = percent(figures.get("mass")), percent(figures.get("share"))
    return f"truth: {mass} of the attention lies on the items that decide, which are {share} of all"


_WORDS: dict[str, Callable[[Run, Figures], str]] = {
    "permutation": _permutation,
    "adversary": _adversary,
    "adversary_search": _search,
    "reach": _reach,
    "substitution": _substitution,
    "violation": _violation,
    "single_weight": lambda run, figures: single_weight_words(figures.frame),
    "removal": lambda run, figures: removal_words(run, figures.frame),
    "curves": lambda run, figures: curves_words(figures.frame),
    "truth": _truth,
}
