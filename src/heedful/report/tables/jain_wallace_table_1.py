"""Corpora, and how well the models do on them: Table 1 of Jain & Wallace 2019."""

from collections.abc import Iterable, Sequence

from heedful.experiments.score_draws import score_draws
from heedful.measures import percentiles
from heedful.printable import tally
from heedful.report.beside import published_corpus, published_performance
from heedful.report.tables.caveats import caveats
from heedful.report.tables.columns import estimate, number, published
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column
from heedful.validation import NO_LABEL

_METRICS = {"f1": ("macro_f1", "macro F1"), "micro-f1": ("accuracy", "micro F1"), "accuracy": ("accuracy", "accuracy")}


def _rows(source: Source) -> Iterable[Cells]:
    run, corpus, paper = source.run, source.corpus, published_corpus(source.run)
    usual = "accuracy" if corpus.get("query") or run.config.model != "classifier" else "f1"
    metric, metric_name = _METRICS[usual if paper is None else paper.metric]
    low, high = _interval(source, metric)
    yield {
        "vocabulary": corpus["vocabulary"],
        "paper_vocabulary": paper and paper.vocabulary,
        "mean_length": corpus["mean_length"],
        "paper_mean_length": paper and paper.mean_length,
        "train": _tally(source, "train"),
        "paper_train": paper and _joined(paper.train),
        "test": _tally(source, "test"),
        "paper_test": paper and _joined(paper.test),
        "n": run.metrics["test"]["n"],
        "metric": metric_name,
        "performance": run.metrics["test"][metric],
        "performance_low": low,
        "performance_high": high,
        "paper_performance": published_performance(run),
    }


def _interval(source: Source, metric: str) -> tuple[float | None, float | None]:
    labels, decisions = source.decided()
    if (labels == NO_LABEL).all():
        return None, None
    accuracy, macro = score_draws(labels, decisions[:, None], seed=SEED, draws=DRAWS)
    return percentiles((macro if metric == "macro_f1" else accuracy)[:, 0]) or (None, None)


def _tally(source: Source, split: str) -> str:
    """Instances by class, or in all where classes are many; runs of earlier versions do not say how many in all."""
    counts = source.corpus["counts"][split]
    return tally(counts, source.corpus.get("sizes", {}).get(split) or sum(counts))


def _joined(counts: Sequence[int]) -> str:
    return "/".join(map(str, counts))


TABLE_1 = Layout(
    name="jain-wallace-table-1",
    title="Corpora and test performance",
    caption=(
        "As Table 1 of Jain & Wallace 2019, whose figures stand beside ours. The paper calls its score of classifiers "
        "F1 and does not say of what mean; ours is macro F1, for questions accuracy, and micro F1 is the same as "
        "accuracy. The paper's score is of the BiLSTM with additive attention. Instances are told by class where "
        "there are few."
    ),
    columns=(
        number("vocabulary", "words", "Words that the model knows."),
        published("vocabulary", "Vocabulary in the paper.", kind="count"),
        Column("mean_length", "length", "figure", 0, "Mean number of tokens of a training text."),
        published("mean_length", "Mean length in the paper.", kind="count"),
        Column("train", "train", meaning="Training instances by class, or in all."),
        published("train", "Training instances in the paper.", kind="text"),
        Column("test", "test", meaning="Test instances by class, or in all."),
        published("test", "Test instances in the paper.", kind="text"),
        number("n", "n", "Test instances that the score is of."),
        Column("metric", "score", meaning="Which score."),
        *estimate("performance", "ours", "The score on test.", digits=3),
        published("performance", "The score in the paper."),
    ),
    rows=_rows,
    needs=("evidence",),
    every=caveats,
)
