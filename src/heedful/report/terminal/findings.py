"""What the experiments of a run found, for the terminal and the site: Table 2 of Jain & Wallace 2019, tables of removal
and erasure, and a sentence for each of the others."""

from collections.abc import Callable

import polars as pl
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.experiments import EXPERIMENTS, erasure_scores
from heedful.experiments.adversary import LARGEST_JSD
from heedful.findings import run_summary as means
from heedful.findings.published import measures_taken, published_tau, published_wins
from heedful.findings.run_facts import has_learned
from heedful.findings.run_summary import Statistics, statistics
from heedful.findings.table_rows import ERASED, VERDICTS
from heedful.printable import FEW_CLASSES, figure, percent, spread
from heedful.report.terminal.verdict import shortened
from heedful.runs.directory import Run

NAME = 20  # letters of a class name
_COLUMNS = ("never", "items", "or all", "attention", "or all")
_BEYOND = ("extra", "best")


def findings(run: Run) -> RenderableType:
    """Tables and sentences for every experiment that was performed."""
    done = statistics(run)
    tables = (_TABLES[name](run, figures) for name, figures in done.items() if name in _TABLES)
    return Group(*tables, *map(Text, _lines(run, done)))


def findings_words(run: Run) -> list[str]:
    """The sentences alone."""
    return _lines(run, statistics(run))


def removal_table(frame: pl.DataFrame) -> Table:
    """One row a ranking: shares of the items and of the attention zeroed until the decision flips, where decisions that
    never flip are left out, or count as everything zeroed."""
    scores = means.ranking_scores(frame)
    known = any(row["excess"] is not None for row in scores)
    title = "Share of items and of attention zeroed until the decision flips"
    table = Table(title=title, title_justify="left", box=None)
    table.caption = "or all: a decision that never flips counts as everything zeroed" + (
        "; extra: items beyond the smallest set that flips it; best: how often there are none" if known else ""
    )
    table.caption_justify = "left"
    table.add_column("ranking", no_wrap=True)
    for column in (*_COLUMNS, *(_BEYOND if known else ())):
        table.add_column(column, justify="right", overflow="fold")
    for row in scores:
        cells = [
            row["ranking"].replace("gradient_attention", "grad. x attention"),
            percent(row["never"]),
            *(figure(row[name]) for name in ("fraction", "fraction_all", "mass", "mass_all")),
        ]
        if known:
            cells += [figure(row["excess"], 1), percent(row["optimal"])]
        table.add_row(*map(Text, cells))
    return table


def erasure_table(frame: pl.DataFrame) -> Table:
    """One row a ranking: the share of items erased until the decision flips, comprehensiveness and sufficiency; texts
    of a single item have only one order and are left out."""
    scores = erasure_scores(frame, draws=0)
    title = f"Share of items erased from {scores['n'][0]:,} texts until the decision flips (never: all)"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("ranking", no_wrap=True)
    ways = scores["way"].unique(maintain_order=True)
    for way in ways:
        for index, column in enumerate(("items", "compr.", "suff.")):
            table.add_column(f"{'' if index else ERASED[way]}\n{column}", justify="right", overflow="fold")
    for ranking in scores["ranking"].unique(maintain_order=True):
        cells = []
        for way in ways:
            row = scores.row(by_predicate=(pl.col("ranking") == ranking) & (pl.col("way") == way), named=True)
            cells += [percent(row["fraction_all"]), figure(row["comprehensiveness"]), figure(row["sufficiency"])]
        table.add_row(ranking.replace("_", " "), *map(Text, cells))
    return table


def removal_words(run: Run, frame: pl.DataFrame) -> str:
    """How often gradient and attention win against each other, and the paper's figure where there is one."""
    wins = means.gradient_against_attention(run, frame)
    if wins is None:
        return "attention and gradient order were not compared"
    known, texts = published_wins(run), "documents of several sentences" if wins.documents else "texts"
    whole = ", on all data," if run.manifest["corpus"]["subset"] else ""
    paper = "" if known is None else f" (in the paper{whole} {percent(known)})"
    return (
        f"Zeroing attention in gradient order flips the decision with fewer items than in attention order in "
        f"{percent(wins.gradient)}{paper} of {wins.n:,} {texts}; the reverse in {percent(wins.attention)}"
    )


def claims_words(run: Run, single: pl.DataFrame | None, removed: pl.DataFrame | None) -> list[str]:
    """The paper's claims, and whether each holds here."""
    return [
        f"- {VERDICTS[row['holds']]}: {row['claim']} ({percent(row['share'])} of texts; the reverse in "
        f"{percent(row['against'])})"
        for row in means.tested_claims(run, single, removed)
    ]


def single_weight_words(frame: pl.DataFrame, item: str = "word") -> str:
    """The table of flips in short, exact over all rivals."""
    row = means.attention_flips(frame)
    both, top, rival, negative = (row[name] for name in ("both", "top_only", "rival_only", "negative"))
    first, other = (None if share is None else both + share for share in (top, rival))
    return (
        f"Zeroing the top {item}'s attention alone flips {percent(first)} of decisions; zeroing a random other "
        f"{item}'s flips {percent(other)}, and moves the output more in {percent(negative)}"
    )


def curves_words(frame: pl.DataFrame, item: str = "word") -> str:
    """Mean comprehensiveness and sufficiency of attention and gradient."""
    sentences = []
    tops = {"attention": f"the top {item}s' attention", "gradient": f"that of the top {item}s by gradient"}
    for name, (without, alone) in means.curve_means(frame).items():
        sentences.append(
            f"Zeroing {tops[name]} lowers the predicted class's probability by {figure(without)} (comprehensiveness); "
            f"keeping only theirs lowers it by {figure(alone)} (sufficiency)"
        )
    return ". ".join(sentences) or "results/curves.parquet has the figures"


def _lines(run: Run, done: dict[str, Statistics]) -> list[str]:
    lines = [
        f"{EXPERIMENTS[name].title}: {_sentence(run, name, figures)}"
        for name, figures in done.items()
        if name in _SENTENCES or name not in _TABLES
    ]
    frames = {name: figures.frame for name, figures in done.items()}
    found = claims_words(run, frames.get("single_weight"), frames.get("removal"))
    doubt = "" if not found or has_learned(run) else " (ignore: this model does not beat the majority class)"
    return [*lines, f"Claims of Serrano & Smith 2019{doubt}:", *found] if found else lines


def _correlation(run: Run, figures: Statistics) -> Table:
    table = Table(title="Kendall's tau between attention and importance", title_justify="left", box=None)
    measures = measures_taken(figures.frame.columns)
    groups = [*(figures.decisions if len(run.classes) <= FEW_CLASSES else []), None]
    published = {(measure, group): published_tau(run, measure, group) for measure in measures for group in groups}
    table.add_column("importance", no_wrap=True)
    table.add_column("predicted")
    paper_column = "in the paper,\non all data" if run.manifest["corpus"]["subset"] else "in the paper"
    paper = (paper_column, "p≤0.05") if any(published.values()) else ()
    for column in ("instances", "mean±std", "p≤0.05", *paper):
        table.add_column(column, justify="right", no_wrap=True)
    for measure in measures:
        quantity = f"attention_{measure}"
        for decision in groups:
            name = "all" if decision is None else shortened(run.classes[decision], NAME)
            count, mean, std = (figures.get(f"tau_{quantity}", which, decision) for which in ("n", "mean", "std"))
            significant = percent(figures.get(f"significant_{quantity}", decision=decision))
            cells = [measure.replace("_", "-"), name, f"{count:,}", spread(mean, std), significant]
            if (tau := published[measure, decision]) is not None:
                cells += [spread(tau.mean, tau.std), percent(tau.significant)]
            table.add_row(*map(Text, cells))
        undefined = figures.get(f"tau_{quantity}", "undefined")
        if undefined:
            table.add_row(Text(measure.replace("_", "-")), Text("undefined"), Text(f"{undefined:,}"))
    return table


def _sentence(run: Run, name: str, figures: Statistics) -> str:
    """What an experiment found: its headline, or where several figures say more, these."""
    if name in _SENTENCES:
        return _SENTENCES[name](run, figures)
    return EXPERIMENTS[name].headline.of(figures.frame.lazy(), item=run.item) or "undefined for every text"


def _permutation(run: Run, figures: Statistics) -> str:
    exact = figures.get("can_change")
    changed = f"some order changes the decision in {percent(exact)} of texts"
    if exact is None:
        changed = f"{percent(figures.get('changed'))} of shuffles change the decision"
    return f"Shuffling the weights moves the output by {figure(figures.get('median'))} (TVD, 0 to 1; median); {changed}"


def _adversary(run: Run, figures: Statistics) -> str:
    exact = figures.get("certified") == 1
    limit = f"no map further than {figure(figures.get('upper'))} can"
    return f"{_other_map(run, figures)}; {'this is the most different map possible' if exact else limit}"


def _adversary_search(run: Run, figures: Statistics) -> str:
    return f"{_other_map(run, figures)}; this is what the paper's search finds"


def _other_map(run: Run, figures: Statistics) -> str:
    jsd, epsilon = figure(figures.get("jsd")), run.config.experiment_options.epsilon
    return f"A different map (JSD {jsd} of at most {LARGEST_JSD:.2f}) gives the same output to within {epsilon:g}"


def _substitution(run: Run, figures: Statistics) -> str:
    scores = (
        f"with {weights} weights {figure(score, 3)}" for weights, score in means.accuracies(figures.frame).items()
    )
    return "Accuracy " + ", ".join(scores).replace("with own weights", "with the model's own weights")


def _truth(run: Run, figures: Statistics) -> str:
    mass, share = percent(figures.get("mass")), percent(figures.get("share"))
    return f"{mass} of the attention is on the {run.item}s that really decide, which are {share} of all"


_TABLES: dict[str, Callable[[Run, Statistics], Table]] = {
    "correlation": _correlation,
    "removal": lambda run, figures: removal_table(figures.frame),
    "erasure": lambda run, figures: erasure_table(figures.frame),
}

# where one figure is not enough; of all others the headline is printed
_SENTENCES: dict[str, Callable[[Run, Statistics], str]] = {
    "permutation": _permutation,
    "adversary": _adversary,
    "adversary_search": _adversary_search,
    "substitution": _substitution,
    "single_weight": lambda run, figures: single_weight_words(figures.frame, run.item),
    "removal": lambda run, figures: removal_words(run, figures.frame),
    "curves": lambda run, figures: curves_words(figures.frame, run.item),
    "truth": _truth,
}
