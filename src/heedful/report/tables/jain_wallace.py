"""Corpora, and how well the models do on them: Table 1 of Jain & Wallace 2019."""

from collections.abc import Iterable, Sequence

import polars as pl

from heedful.evidence_checks import NO_LABEL
from heedful.experiments import Estimate, adversary_scores, estimates
from heedful.experiments.substitution import score_draws
from heedful.experiments.summary import SIGNIFICANT
from heedful.findings.published import caveats, measures_taken, published_corpus, published_performance, published_tau
from heedful.findings.source import Source
from heedful.measures import percentiles
from heedful.printable import FEW_CLASSES, tally
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout, estimate, number, published, share, told
from heedful.report.tables.table import Column

_NOTHING = Estimate(None, None, None, None, 0, 0)


def _adversary_rows(source: Source) -> Iterable[Cells]:
    found, epsilon = source.results("adversary"), source.run.config.experiment_options.epsilon
    search = source.results("adversary_search") if source.run.done("adversary_search") else None
    scores = adversary_scores(found, search, epsilon=epsilon, seed=SEED, draws=DRAWS)
    yield {
        "epsilon": epsilon,
        "n": len(found),
        **told("jsd", scores["jsd"]),
        "upper": scores["upper"].mean,
        "certified": scores["certified"].mean,
        **{
            key: value
            for name in ("search_jsd", "within", "beaten", "missed")
            for key, value in told(name, scores.get(name, _NOTHING)).items()
        },
    }


ADVERSARY = Layout(
    name="adversary",
    title="Adversarial attention: how different with the same output",
    caption=(
        "Jain & Wallace 2019, section 4.2.2: the greatest Jensen-Shannon divergence (at most 0.69) of other attention "
        "from the model's while the output moves by epsilon at most (TVD). Ours is the proven optimum where it is "
        "certified, and otherwise the best found, below a bound that none exceeds. The paper's search is compared "
        "where it keeps to epsilon; the released code's selection (`--preset released`) does not always."
    ),
    columns=(
        Column("epsilon", "epsilon", "figure", 2, "How far the output may move."),
        number("n", "n", "Test instances."),
        *estimate("jsd", "JSD", "Mean divergence of the attention found from the model's.", digits=3),
        Column("upper", "bound", "figure", 3, "Mean of what no attention exceeds."),
        Column("certified", "certified", "percent", 0, "Share of instances in which what was found is proven optimal."),
        *estimate("search_jsd", "search", "Mean divergence that the paper's search finds.", digits=3),
        *share("within", "within", "Share of instances in which the search keeps to epsilon."),
        *share("beaten", "beaten", "Share of these in which ours is further away."),
        *estimate("missed", "missed", "Mean divergence that the search misses in these.", digits=3),
    ),
    rows=_adversary_rows,
    needs=("adversary",),
    better=("adversary_search",),
)


_METRICS = {"f1": ("macro_f1", "macro F1"), "micro-f1": ("accuracy", "micro F1"), "accuracy": ("accuracy", "accuracy")}


def _corpus_rows(source: Source) -> Iterable[Cells]:
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
    rows=_corpus_rows,
    needs=("evidence",),
    every=caveats,
)


ALL = "all"


def _correlation_rows(source: Source) -> Iterable[Cells]:
    frame, run = source.results("correlation"), source.run
    measures = measures_taken(frame.columns)
    few = len(run.classes) <= FEW_CLASSES
    groups = [*(sorted(frame["decision"].unique().to_list()) if few else []), None]
    quantities = [
        column
        for name in measures
        for column in (
            pl.col(f"tau_attention_{name}").alias(f"tau {name}"),
            (pl.col(f"p_attention_{name}") <= SIGNIFICANT).alias(f"significant {name}"),
        )
    ]
    found = {}
    for group in groups:
        some = frame if group is None else frame.filter(pl.col("decision") == group)
        found[group] = estimates(some.select(quantities), seed=SEED, draws=DRAWS)
    for measure in measures:
        for group in groups:
            tau, paper = found[group][f"tau {measure}"], published_tau(run, measure, group)
            yield {
                "importance": measure.replace("_", "-"),
                "decided": ALL if group is None else run.classes[group],
                "n": tau.n,
                "undefined": tau.undefined,
                **told("tau", tau, std=True),
                **told("significant", found[group][f"significant {measure}"]),
                "paper_tau": paper and paper.mean,
                "paper_tau_std": paper and paper.std,
                "paper_significant": paper and paper.significant,
            }


TABLE_2 = Layout(
    name="jain-wallace-table-2",
    title="Kendall's tau of attention and importance",
    caption=(
        "As Table 2 of Jain & Wallace 2019, whose figures stand beside ours: does attention rank the items of a text "
        "as the gradient does, or as leaving out each one in turn does? By decided class, where classes are few, and "
        "over all. Mean±standard deviation over instances. The paper has figures for the BiLSTM and, with gradients, "
        "for Average, with additive attention, and gives no interval."
    ),
    columns=(
        Column("importance", "importance", meaning="What attention is compared with."),
        Column("decided", "decided", meaning="The class that was decided for; all: whatever it was."),
        number("n", "n", "Instances in which tau is defined."),
        number("undefined", "undefined", "Instances in which it is not: one item only, or constant values."),
        *estimate("tau", "tau", "Kendall's tau-b of attention and importance over a text's items.", std=True),
        *share("significant", "p≤0.05", "Share of instances in which tau differs from 0 significantly."),
        published("tau", "Tau in the paper."),
        Column(
            *("paper_tau_std", "in the paper, standard deviation", "figure", 2, "Standard deviation in the paper."),
            published=True,
            part="std",
            of="paper_tau",
        ),
        published("significant", "Share of significant instances in the paper.", kind="percent", digits=0),
    ),
    rows=_correlation_rows,
    needs=("correlation",),
    every=caveats,
)


def _permutation_rows(source: Source) -> Iterable[Cells]:
    frame = source.results("permutation")
    found = estimates(frame.select("median", "changed", "can_change"), seed=SEED, draws=DRAWS)
    yield {
        "n": len(frame),
        "permutations": source.run.config.experiment_options.permutations,
        **told("median", found["median"], std=True),
        **told("changed", found["changed"]),
        **told("can_change", found["can_change"]),
    }


PERMUTATION = Layout(
    name="permutation",
    title="Permutation: the same weights in another order",
    caption=(
        "Jain & Wallace 2019, section 4.2.1: how far the output moves (TVD, 0 to 1) when the weights are shuffled; "
        "the median over the permutations of an instance, its mean over instances. Whether some order of all changes "
        "the decision is exact, and known where the decoder is affine."
    ),
    columns=(
        number("n", "n", "Test instances."),
        number("permutations", "orders", "Random permutations of an instance."),
        *estimate("median", "median TVD", "Mean over instances of the median TVD.", digits=3, std=True),
        *share("changed", "orders that change it", "Mean share of the random orders that change the decision."),
        *share("can_change", "some order does", "Share of instances whose decision some order of the weights changes."),
    ),
    rows=_permutation_rows,
    needs=("permutation",),
)
