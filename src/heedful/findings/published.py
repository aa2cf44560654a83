"""Every published figure beside ours, configuration by configuration: seeds are taken together."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from heedful.experiments.substitution import score_draws
from heedful.experiments.summary import SIGNIFICANT, Pooled, over_runs, pooled, spread
from heedful.findings.configurations import Configuration, check_same_instances, stacked
from heedful.findings.key_figures import key_values
from heedful.findings.run_facts import RunFrames
from heedful.measures import Interval
from heedful.printable import FEW_CLASSES
from heedful.published import (
    CorpusFigures,
    Tau,
    gradient_beats_attention,
    released_metric,
    released_tau,
    table1,
    table2,
)
from heedful.runs.directory import Run

NEAR, FAR = 0.5, 1.0  # of the published standard deviation
CLOSE = 0.05  # where none was published

Sign = Literal["=", "~", "≠", ""]

LEGEND = (
    "sd: difference in units of the published standard deviation over instances; = within half of one, ~ within one, ≠ "
    "further away. Where none was published: = inside our interval, ~ within 0.05, ≠ further away."
)
WORDS = (
    "sd: difference in units of the published standard deviation over instances; near: within half of one, not far: "
    "within one. Where none was published, near: inside our interval, not far: within 0.05."
)


class Apart(NamedTuple):
    """A difference, ours minus theirs."""

    difference: float
    in_std: float | None  # in units of the published standard deviation
    sign: Sign

    @property
    def words(self) -> str | None:
        """The sign in words, which no spreadsheet takes for a formula."""
        return {"=": "near", "~": "not far", "≠": "far", "": None}[self.sign]


def apart(ours: Pooled, value: float, std: float | None) -> Apart | None:
    """Of a figure of ours from a published one; None where ours is undefined."""
    if ours.mean is None:
        return None
    difference = ours.mean - value
    if std:
        units = difference / std
        return Apart(difference, units, "=" if abs(units) <= NEAR else "~" if abs(units) <= FAR else "≠")
    if ours.low is None or ours.high is None:
        return Apart(difference, None, "")
    # published with two digits: what rounds to our interval is inside
    inside = ours.low - 0.005 <= value <= ours.high + 0.005
    return Apart(difference, None, "=" if inside else "~" if abs(difference) <= CLOSE else "≠")


MEASURES = ("gradient", "leave_one_out")  # the columns of Jain & Wallace's Table 2

_OTHER_CLASSES = (("mimic-anemia", "released"), ("snli", "released"))  # in another order than in the paper


def measures_taken(columns: Iterable[str]) -> list[str]:
    """From the columns of `correlation`: the paper's measures that were taken; if none was, those that were."""
    prefix = "tau_attention_"
    taken = [name.removeprefix(prefix) for name in columns if name.startswith(prefix)]
    return [name for name in MEASURES if name in taken] or taken


def published_tau(run: Run, measure: str, decision: int | None) -> Tau | None:
    """Of Jain & Wallace's Table 2; the paper's classes are not always those of its code."""
    config = run.config
    if config.model != "classifier" or config.attention != "additive" or not _comparable(run):
        return None
    return table2(config.corpus, config.encoder, measure, decision)


def published_corpus(run: Run) -> CorpusFigures | None:
    """Of Jain & Wallace's Table 1, whatever the model; the test performance in it is that of a BiLSTM."""
    return table1(run.config.corpus) if _comparable(run) else None


def published_performance(run: Run) -> float | None:
    """Of the same table, for the model that it is of: the classifier with a BiLSTM and additive attention."""
    config, figures = run.config, published_corpus(run)
    same = (config.model, config.encoder, config.attention) == ("classifier", "bilstm", "additive")
    return figures.performance if figures is not None and same else None


def published_wins(run: Run) -> float | None:
    """How often Serrano & Smith's gradient ranking beats attention."""
    config, known = run.config, run.config.attention == "additive"
    return gradient_beats_attention(config.corpus, config.model, config.encoder) if known else None


def _comparable(run: Run) -> bool:
    """Whether classes and variant of the corpus are the paper's; of bAbI there is a smaller one."""
    config = run.config
    return config.corpus_options.get("training") != "1k" and (config.corpus, config.preset) not in _OTHER_CLASSES


DRAWS = 1000
SEED = 0

_METRICS = {"macro_f1": "macro F1", "accuracy": "accuracy", "roc_auc": "ROC-AUC", "average_precision": "avg. precision"}
_PAPER_METRICS = {"f1": "macro_f1", "micro-f1": "accuracy", "accuracy": "accuracy"}


class Published(NamedTuple):
    """A figure of others, with its standard deviation over instances where they give one."""

    value: float
    std: float | None = None


class Compared(NamedTuple):
    """A figure of ours, and the same in a paper, in the code released with it, or in both."""

    figure: str
    decided: str | None  # the class that it is of; None: all
    ours: Pooled
    paper: Published | None
    released: Published | None

    def difference(self, source: Literal["paper", "released"]) -> Apart | None:
        """Ours minus that of a source; None where one of them is not known."""
        theirs = self.paper if source == "paper" else self.released
        return None if theirs is None else apart(self.ours, *theirs)


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
    classes = configuration.runs[0].classes
    groups = [*(range(len(classes)) if len(classes) <= FEW_CLASSES else ()), None]
    for measure in MEASURES:
        for group in groups:
            paper = published_tau(configuration.runs[0], measure, group)
            released = _released_tau(configuration, measure, group)
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


def _released_tau(configuration: Configuration, measure: str, group: int | None) -> Tau | None:
    run, config = configuration.runs[0], configuration.config
    if not _same_kind(configuration):
        return None
    return released_tau(config.corpus, config.encoder, config.attention, measure, decision=group, classes=run.classes)


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


def caveats(runs: Sequence[Run]) -> str:
    """Of runs on a part of the data, and of those that began with other word vectors than the paper's."""
    sentences = []
    if any(run.manifest.get("corpus", {}).get("subset") for run in runs):
        sentences.append(
            "(subset): trained and tested on a part of the official data; the paper's figures are of all of it."
        )
    compared = [run for run in runs if published_corpus(run) is not None or published_wins(run) is not None]
    random = [run for run in compared if random_vectors(run)]
    if random:
        noun = "run" if len(compared) == 1 else "runs"
        sentences.append(
            f"Of {len(compared)} {noun} on corpora of the papers, {len(random)} began with random word vectors, the "
            "papers' with pretrained ones."
        )
    return " ".join(sentences)


def random_vectors(run: Run) -> bool:
    """Whether it began with random word vectors, unlike the paper's; for bAbI the paper's did, too."""
    return not run.config.embedding.vectors and not run.config.corpus.startswith("babi")
