"""A run in the terminal: the answer first, what it rests on, and with `verbose` everything that was found."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.experiments import EXPERIMENTS
from heedful.files import scan_parquet
from heedful.findings.run_facts import has_learned, unsupported_experiments
from heedful.printable import FEW_CLASSES, class_list, printable
from heedful.report.terminal.audit import plausibility_lines
from heedful.report.terminal.findings import findings
from heedful.report.terminal.verdict import (
    answer_lines,
    class_lines,
    classes_in_short,
    criteria_in_short,
    criteria_table,
    listed,
    shortened,
)
from heedful.runs.directory import STAGES, Run
from heedful.runs.experiment_stages import DEFAULT
from heedful.runs.plausibility import plausibility_of

# whose sentence is printed beside the verdict: what the field asks first
_HEADLINES = ("violation", "adversary")


def run_summary(run: Run, *, verbose: bool = False) -> RenderableType:
    """Printed when a run is done: the answer with its reason, the criteria, how well the model classifies."""
    verdict = run.verdict
    parts = answer_lines(verdict)
    if verdict.tested:
        parts.append(criteria_table(verdict) if verbose else criteria_in_short(verdict))
        parts += class_lines(verdict) if verbose else map(Text, classes_in_short(verdict))
    parts += map(Text, (*_not_tested(run), _model_line(run), *_doubts(run)))
    parts += [] if verbose else map(Text, _headlines(run))
    plausible = plausibility_of(run)
    if plausible is not None:
        parts.append(plausibility_lines(plausible, short=not verbose))
    return Group(*parts, *(_details(run) if verbose else ()))


def run_place(run: Run, *, verbose: bool = False) -> str:
    """Where the files are and what to do next; printed without wrapping so that paths can be copied."""
    lines = [f"written to {run.folder}", f"a heat-map:    heedful show {run.folder}"]
    if not verbose:
        lines.append("all findings:  the same command with --verbose")
    return "\n".join([*lines, f"as a page:     heedful report {run.folder}"])


def not_tested(run: Run) -> list[str]:
    """The usual experiments that could have been performed and were not."""
    impossible = unsupported_experiments(run)
    return [name for name in DEFAULT if not run.done(name) and name not in impossible]


def _not_tested(run: Run) -> Iterator[str]:
    """What was not tested, and what that means for the answer."""
    missing = not_tested(run)
    if not missing:
        return
    names = "every experiment" if len(missing) > len(DEFAULT) - 2 else ", ".join(missing)
    so = ""
    if "highlights" in missing:
        so = " Without highlights no words are deleted from the texts, and the answer cannot be yes."
    yield f"Not tested: {names}.{so} The same command without --experiments tests the rest."


def _model_line(run: Run) -> str:
    """The model, and how well it classifies."""
    corpus, config, test = run.manifest["corpus"], run.config, run.metrics["test"]
    counts = corpus["counts"]["test"]
    total = corpus.get("sizes", {}).get("test") or sum(counts)
    if len(counts) <= FEW_CLASSES:
        pairs = zip(corpus["classes"], counts, strict=True)
        classes = ", ".join(f"{shortened(name)} {count:,}" for name, count in pairs)
    else:
        classes = f"{len(counts):,} classes: {listed(corpus['classes'])}"
    return (
        f"Model: {run.model_label} on {run.corpus_label}, preset {config.preset}, seed {config.seed}; accuracy "
        f"{_figure(test['accuracy'])} on {total:,} test texts ({classes})"
    )


def _doubts(run: Run) -> Iterator[str]:
    """What makes the answer say little."""
    if not has_learned(run):
        yield "Careful: the model does not beat always giving the most frequent answer, so it has learned little."


def _headlines(run: Run) -> Iterator[str]:
    for name in _HEADLINES:
        if run.done(name):
            frame = scan_parquet(run.folder / STAGES[name].file)
            sentence = EXPERIMENTS[name].headline.of(frame, item=run.item)
            if sentence is not None:
                yield f"{sentence}."


def _details(run: Run) -> list[RenderableType]:
    """The splits, and what each experiment found."""
    manifest, metrics = run.manifest, run.metrics
    corpus = manifest["corpus"]
    table = Table(title="Texts and accuracy", title_justify="left", box=None)
    few = len(corpus["classes"]) <= FEW_CLASSES
    figures = {"accuracy": "accuracy", "macro_f1": "macro F1"}
    if not corpus.get("query"):  # runs of earlier versions say nothing about queries
        figures |= {"roc_auc": "ROC-AUC", "average_precision": "avg. precision"}
    table.add_column("split")
    for column in ("texts by class" if few else "texts", *figures.values()):
        table.add_column(column, justify="right")
    for split in ("train", "dev", "test"):
        counts = corpus["counts"][split]
        counts = counts if few else [corpus.get("sizes", {}).get(split) or sum(counts)]
        known = metrics.get(split)
        cells = (_figure(known[key]) if known else "" for key in figures)
        table.add_row(split, " / ".join(f"{count:,}" for count in counts), *cells)
    seen = sum(map(bool, corpus["counts"]["test"]))
    classes = class_list(corpus["classes"])
    if seen < len(corpus["classes"]):
        classes += f" ({len(corpus['classes']):,}, of which {seen:,} occur in test)"
    if few:
        classes = ", ".join(f"{index} {printable(name)}" for index, name in enumerate(corpus["classes"]))
    seconds = sum(stage["seconds"] for stage in manifest["stages"].values())
    about = Text(
        f"classes: {classes}\n"
        f"{corpus['vocabulary']:,} words, {corpus['mean_length']:.0f} tokens per text; {seconds:.0f} s in total"
    )
    return [table, about, findings(run)]


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
