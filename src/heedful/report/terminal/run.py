"""A run in the terminal: the verdict, how well the model classifies, and what the experiments found."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heedful.printable import FEW_CLASSES, class_list, printable
from heedful.report.terminal.audit import answer_lines
from heedful.report.terminal.findings import findings
from heedful.runs.directory import Run


def run_summary(run: Run) -> RenderableType:
    """Printed when a run is done: the verdict, metrics, then what each experiment found."""
    manifest, metrics = run.manifest, run.metrics
    corpus, config = manifest["corpus"], run.config
    title = f"{run.corpus_label}, {run.model_label}"
    table = Table(title=f"{title}, preset {config.preset}, seed {config.seed}", title_justify="left", box=None)
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
    verdict = run.verdict
    return Group(*(answer_lines(verdict) if verdict.tested else ()), table, about, findings(run))


def run_place(run: Run) -> str:
    """Where the files are; printed without wrapping so that paths can be copied."""
    return f"written to {run.folder}\nshow an instance: heedful show {run.folder}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
