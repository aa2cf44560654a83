"""Writes docs/reproduction.md: what the papers' experiments give on the runs at hand, beside the published figures.

`python -m benchmarks.reproduction RUNS... [--out docs]`
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from heedful.files import write_text
from heedful.report.charts import CHARTS, Facts
from heedful.report.charts.data import chart_rows
from heedful.report.charts.render import render
from heedful.report.comparison import claims_table, compare, figures_table
from heedful.report.gathering import gather
from heedful.report.labels import labels
from heedful.report.tables import TABLES
from heedful.report.tables.formats import to_markdown
from heedful.runs.directory import Run

PUBLISHED = ("jain-wallace-table-1", "jain-wallace-table-2", "serrano-smith-wins")
EXACT = ("adversary", "reach", "permutation", "substitution", "serrano-smith-rankings", "violation")
FIGURES = (
    "tau-gradient",
    "tau-leave-one-out",
    "tau-densities",
    "permutation",
    "adversary-histogram",
    "removal-fraction",
)
IMAGES = Path("images") / "reproduction"

_HEAD = """# Reproduction

What the experiments of both papers give here, beside what was published. Every number and figure of this page is
written by

    heedful sweep jain-wallace --subset --set 'encoder=["bilstm", "average"]' --set attention=additive \\
        --set 'corpus=["sst", "imdb", "newsgroups", "agnews", "babi-1", "babi-2", "snli"]'
    heedful sweep serrano-smith --subset --set training.learning_rate=0.001 --set training.epochs=4
    python -m benchmarks.reproduction runs/

from the runs that are at hand. Those below were made one by one with these settings (Serrano & Smith's HANs on Yahoo
with ten epochs, IMDB's models with one or two), and with the experiments that the tables show. All models of Jain &
Wallace begin with random word vectors; the paper's began with pretrained ones, but for bAbI. *(subset)*: trained on a
part of the official data. Seed 0; intervals are over instances. `heedful compare runs/` prints the comparison,
`heedful report runs/` shows the rest, with every instance to explore.
"""


def pages(runs: Sequence[Run], out: Path) -> Iterator[str]:
    """The parts of the page; figures are written on the way."""
    yield _HEAD
    yield _costs(runs)
    for name in PUBLISHED:
        yield to_markdown(TABLES[name](runs))
    compared = compare(runs)
    yield to_markdown(claims_table(compared))
    yield "# Exact answers\n\nWhat the papers searched or sampled, solved.\n"
    for name in EXACT:
        yield to_markdown(TABLES[name](runs))
    yield "# Figures\n\nFor every model: does attention rank items as the gradient does (Jain & Wallace, Figure 2)?\n"
    yield from _drawn(runs, ("tau-gradient",), out)
    shown = [run for run in runs if run.config.corpus == "sst" and run.done("adversary")]
    yield "\nThe other figures, for SST:\n"
    yield from _drawn(shown, FIGURES[1:], out)
    yield "\n# Every published figure\n"
    yield to_markdown(figures_table(compared))


def _costs(runs: Sequence[Run]) -> str:
    """Wall time and memory of each stage."""
    stages = ("train", "evidence", "importance")
    head = ["run", "data", "train / test", *(f"{stage}, s" for stage in stages), "experiments, s", "memory, GB"]
    lines = ["## What was run", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for run, label in zip(runs, labels(runs), strict=True):
        manifest = run.manifest
        seconds = {name: cost["seconds"] for name, cost in manifest["stages"].items()}
        rest = sum(cost for name, cost in seconds.items() if name not in (*stages, "prepare"))
        sizes = [f"{sum(manifest['corpus']['counts'][split]):,}" for split in ("train", "test")]
        memory = max(cost["peak_memory_mb"] or 0 for cost in manifest["stages"].values()) / 1000
        cells = [
            ", ".join(label),
            "subset" if manifest["corpus"]["subset"] else "complete",
            " / ".join(sizes),
            *(f"{seconds[stage]:,.0f}" if stage in seconds else "" for stage in stages),
            f"{rest:,.0f}",
            f"{memory:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    note = "One thread each, on a machine that was busy with other work: times are upper bounds."
    return "\n".join([*lines, "", note, ""])


def _drawn(runs: Sequence[Run], names: Sequence[str], out: Path) -> Iterator[str]:
    for run, label in zip(runs, labels(runs), strict=True):
        for name in names:
            chart = CHARTS[name]
            if chart.missing(run) is None:
                stem = IMAGES / f"{run.config.corpus}-{run.config.model}-{run.config.encoder}-{name}"
                render(chart.spec(Facts.of(run)), chart_rows(run, chart), out / stem, formats=["svg"])
                yield f"**{', '.join(label)}**: {chart.title}\n\n![{chart.title}]({stem.as_posix()}.svg)\n"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    asked = parser.parse_args()
    runs = sorted(gather(asked.runs).runs, key=lambda run: (run.config.model != "classifier", run.folder.name))
    write_text(asked.out / "reproduction.md", "\n".join(pages(runs, asked.out)))


if __name__ == "__main__":
    main()
