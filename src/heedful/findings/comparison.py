"""`heedful compare`: the published figures beside ours, and the papers' claims as a checklist."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.experiments.substitution import score_draws
from heedful.experiments.summary import SIGNIFICANT, Pooled, over_runs, pooled, spread
from heedful.findings.cache import kept
from heedful.findings.claims import Checked, checklist
from heedful.findings.configurations import Configuration, check_same_instances, configurations, stacked
from heedful.findings.key_figures import key_values
from heedful.findings.published import (
    MEASURES,
    caveats,
    published_corpus,
    published_performance,
    published_tau,
    published_wins,
    random_vectors,
)
from heedful.findings.run_facts import RunFrames
from heedful.measures import Interval
from heedful.printable import FEW_CLASSES
from heedful.published import (
    released_metric,
    released_tau,
)
from heedful.runs.between_seeds import between
from heedful.runs.directory import Run

RELEASED = (
    "The figures of Jain & Wallace's released code are of a later run with that code's settings (`--preset released`), "
    "not the paper's; of Serrano & Smith only figures left in the code are known."
)
NEAR, FAR = 0.5, 1.0  # of the published standard deviation
CLOSE = 0.05  # where none was published
DRAWS = 1000
SEED = 0
_METRICS = {"macro_f1": "macro F1", "accuracy": "accuracy", "roc_auc": "ROC-AUC", "average_precision": "avg. precision"}
_PAPER_METRICS = {"f1": "macro_f1", "micro-f1": "accuracy", "accuracy": "accuracy"}

Sign = Literal["=", "~", "≠", ""]

LEGEND = (
    "sd: difference in units of the published standard deviation over instances; = within half of one, ~ within one, ≠ "
    "further away. Where none was published: = inside our interval, ~ within 0.05, ≠ further away."
)
WORDS = (
    "sd: difference in units of the published standard deviation over instances; near: within half of one, not far: "
    "within one. Where none was published, near: inside our interval, not far: within 0.05."
)


class Published(NamedTuple):
    """A figure of others, with its standard deviation over instances where they give one."""

    value: float
    std: float | None = None


class Gap(NamedTuple):
    """A difference, ours minus theirs."""

    difference: float
    in_std: float | None  # in units of the published standard deviation
    sign: Sign

    @property
    def words(self) -> str | None:
        """The sign in words, which no spreadsheet takes for a formula."""
        return {"=": "near", "~": "not far", "≠": "far", "": None}[self.sign]


class Compared(NamedTuple):
    """A figure of ours, and the same in a paper, in the code released with it, or in both."""

    figure: str
    decided: str | None  # the class that it is of; None: all
    ours: Pooled
    paper: Published | None
    released: Published | None

    def difference(self, source: Literal["paper", "released"]) -> Gap | None:
        """Ours minus that of a source; None where one of them is not known."""
        theirs = self.paper if source == "paper" else self.released
        return None if theirs is None else gap(self.ours, *theirs)


class Side(NamedTuple):
    """One configuration beside what was published of it."""

    configuration: Configuration
    rows: list[Compared]
    random: bool  # began with random word vectors, the papers' with pretrained ones
    seeds: str  # how far its runs differ from each other; empty for one run


class Comparison(NamedTuple):
    """All configurations of some runs, and the claims."""

    sides: list[Side]  # only those of which figures were published
    others: list[Configuration]  # of which none were
    claims: list[Checked]

    @property
    def caveats(self) -> str:
        """What must be said of the runs that stand beside published figures."""
        return caveats([run for side in self.sides for run in side.configuration.runs])


def compare(runs: Sequence[Run]) -> Comparison:
    """Runs beside the published figures; seeds of one configuration are taken together."""
    found = [(each, _compared(each)) for each in configurations(runs)]
    sides = [Side(each, rows, random_vectors(each.runs[0]), _seeds(each)) for each, rows in found if rows]
    others = [each for each, rows in found if not rows]
    return Comparison(sides, others, _checklist([each for each, _ in found]))


def _compared(configuration: Configuration) -> list[Compared]:
    rows = kept("compared", configuration.runs, lambda: compared(configuration))
    return [
        Compared(figure, decided, Pooled(*ours), paper and Published(*paper), released and Published(*released))
        for figure, decided, ours, paper, released in rows
    ]


def _checklist(all_: Sequence[Configuration]) -> list[Checked]:
    if not all_:
        return checklist(all_)
    labels = [each.label for each in all_]
    runs = [run for each in all_ for run in each.runs]
    claims = kept("claims", runs, lambda: [each.to_json() for each in checklist(all_)], labels=labels)
    return [Checked.from_json(each) for each in claims]


def _seeds(each: Configuration) -> str:
    """How far the runs of a configuration differ from each other."""
    return str(kept("between-seeds", each.runs, lambda: _between_seeds(each))) if len(each.runs) > 1 else ""


def _between_seeds(each: Configuration) -> str:
    try:
        instances = between(each.runs, draws=0).instances
    except BadInput as error:
        return f"The attention of its runs cannot be compared: {error}"
    away, same = float(instances["jsd"].mean()), float(instances["same"].mean())  # type: ignore[arg-type]
    return f"Between its {len(each.runs)} seeds attention is {away:.2f} apart (JSD); {same:.0%} of the decisions agree."


def compared(configuration: Configuration) -> list[Compared]:
    """Of one configuration, all figures that were published of the same model on the same corpus."""
    rows = (*_performance(configuration), *_correlation(configuration), *_wins(configuration))
    return [row for row in rows if row.paper is not None or row.released is not None]


def _performance(configuration: Configuration) -> Iterator[Compared]:
    """Table 1 of Jain & Wallace, and what their code wrote."""
    run, config = configuration.runs[0], configuration.config
    about, score = published_corpus(run), published_performance(run)
    in_paper = {_PAPER_METRICS[about.metric]: Published(score)} if about is not None and score is not None else {}
    released = {}
    if _same_kind(configuration):
        given = {name: released_metric(config.corpus, config.encoder, config.attention, name) for name in _METRICS}
        released = {name: Published(value) for name, value in given.items() if value is not None}
    if not in_paper and not released:
        return
    intervals, tested = _score_intervals(configuration), [run.metrics["test"] for run in configuration.runs]
    for name, title in _METRICS.items():
        known = [value for value in (metrics[name] for metrics in tested) if value is not None]
        low, high = intervals.get(name) or (None, None)
        n = sum(metrics["n"] for metrics in tested if metrics[name] is not None)
        mean = float(np.mean(known)) if known else None
        yield Compared(title, None, Pooled(mean, low, high, n, spread(known)), in_paper.get(name), released.get(name))


def _score_intervals(configuration: Configuration) -> dict[str, Interval | None]:
    """Over seeds and instances, of the scores that are made of decisions."""
    known = [RunFrames(run).decisions() for run in configuration.runs]
    labels, decisions = known[0][0], [decided for _, decided in known]
    if not len(labels) or any(not np.array_equal(labels, other) for other, _ in known):
        return {}
    drawn = score_draws(labels, np.stack(decisions, axis=1), seed=SEED, draws=DRAWS)  # (draws, R) each
    return {name: over_runs(scores, seed=SEED) for name, scores in zip(("accuracy", "macro_f1"), drawn, strict=True)}


def _correlation(configuration: Configuration) -> Iterator[Compared]:
    """Table 2 of Jain & Wallace, and what their code wrote: by decided class where classes are few, and over all."""
    config, classes = configuration.config, configuration.runs[0].classes
    groups = [*(range(len(classes)) if len(classes) <= FEW_CLASSES else ()), None]
    for measure in MEASURES:
        for group in groups:
            paper = published_tau(configuration.runs[0], measure, group)
            about = (config.corpus, config.encoder, config.attention, measure)
            released = released_tau(*about, decision=group, classes=classes) if _same_kind(configuration) else None
            if paper is None and released is None:
                continue
            tau, p = f"tau_attention_{measure}", f"p_attention_{measure}"
            means = (each and Published(each.mean, each.std) for each in (paper, released))
            shares = (each and Published(each.significant) for each in (paper, released))
            for title, column, taken, theirs in (
                ("tau", tau, pl.col(tau), means),
                ("p≤0.05", p, pl.col(p) <= SIGNIFICANT, shares),
            ):
                figure = taken if group is None else pl.when(pl.col("decision") == group).then(taken)
                values = configuration.values("correlation", figure, column, "decision")
                if values is not None:
                    ours = pooled(values.table, seed=SEED, draws=DRAWS)
                    decided = None if group is None else classes[group]
                    yield Compared(f"{title} {measure.replace('_', '-')}", decided, ours, *theirs)


def _same_kind(configuration: Configuration) -> bool:
    """Whether the released code of Jain & Wallace trains such a model on such data; of bAbI there is a smaller one."""
    config = configuration.config
    return config.model == "classifier" and config.corpus_options.get("training") != "1k"


def _wins(configuration: Configuration) -> Iterator[Compared]:
    """How often the gradient beats attention in Serrano & Smith's code."""
    known = published_wins(configuration.runs[0])
    runs = [run for run in configuration.runs if run.done("removal")]
    if known is None or not runs:
        return
    frames = [key_values(run) for run in runs]
    check_same_instances(runs, frames)
    name = "gradient_wins"
    if any(name not in frame.columns for frame in frames):
        return
    values = stacked(runs, [frame.select("id", value=pl.col(name).fill_null(np.nan)) for frame in frames])
    ours = pooled(values.table, seed=SEED, draws=DRAWS)
    yield Compared("gradient beats attention", None, ours, None, Published(known))


def gap(ours: Pooled, value: float, std: float | None) -> Gap | None:
    """Of a figure of ours from a published one; None where ours is undefined."""
    if ours.mean is None:
        return None
    difference = ours.mean - value
    if std:
        units = difference / std
        return Gap(difference, units, "=" if abs(units) <= NEAR else "~" if abs(units) <= FAR else "≠")
    if ours.low is None or ours.high is None:
        return Gap(difference, None, "")
    # published with two digits: what rounds to our interval is inside
    inside = ours.low - 0.005 <= value <= ours.high + 0.005
    return Gap(difference, None, "=" if inside else "~" if abs(difference) <= CLOSE else "≠")
