"""The page from top to bottom."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.reproduction import documents, exact, jain_wallace, seeds
from benchmarks.reproduction.claims import claims
from benchmarks.reproduction.costs import costs
from benchmarks.reproduction.deviations import deviations, farthest
from benchmarks.reproduction.figures import IMAGES, drawn
from benchmarks.reproduction.reading import in_order
from benchmarks.reproduction.words import WORDS, left_out
from heedful.files import write_text
from heedful.findings.comparison import compare
from heedful.report.tables import TABLES
from heedful.report.tables.comparison import claims_table, figures_table
from heedful.report.tables.formats import to_csv
from heedful.runs.directory import Run

COMPLETE = Path("reproduction")  # every table in full, beside the page
_TABLES = (
    "jain-wallace-table-1",
    "jain-wallace-table-2",
    "permutation",
    "adversary",
    "reach",
    "substitution",
    "violation",
    "serrano-smith-flips",
    "serrano-smith-rankings",
    "serrano-smith-wins",
)
_SHOWN = ("tau-leave-one-out", "tau-densities", "permutation", "adversary-histogram", "removal-fraction")


def write_page(runs: Sequence[Run], out: Path) -> None:
    """Write `reproduction.md`, its figures and its complete tables below a folder, in place of what was there."""
    runs = in_order(runs)
    for folder, ending in ((out / IMAGES, "svg"), (out / COMPLETE, "csv")):
        for file in folder.glob(f"*.{ending}"):
            file.unlink()
    compared = compare(runs)
    near = WORDS["near"].format(farthest="; ".join(farthest(compared)))
    parts = [WORDS["head"], claims(compared.claims), near, deviations(compared), *_sections(runs, out)]
    for table in (figures_table(compared), claims_table(compared), *(TABLES[name](runs) for name in _TABLES)):
        write_text(out / COMPLETE / f"{table.name}.csv", to_csv(table))
    write_text(out / "reproduction.md", "\n".join(parts))


def _sections(runs: Sequence[Run], out: Path) -> Iterator[str]:
    classifiers = [run for run in runs if run.config.model == "classifier"]
    first = [group[0] for group in seeds.by_configuration(classifiers)]
    yield WORDS["differences"] + left_out(runs)
    if first:
        yield WORDS["table 1"]
        yield jain_wallace.table_1(first)
        yield WORDS["table 2"]
        yield jain_wallace.table_2(first)
        yield WORDS["ordering"]
        yield jain_wallace.ordering(classifiers)
    larger = [run for run in runs if run.config.model != "classifier"]
    if larger:
        yield WORDS["wins"]
        yield documents.wins(larger)
        yield WORDS["single"]
        yield documents.single(larger)
    if first:
        yield WORDS["exact"]
        yield exact.counterfactuals(first)
        yield WORDS["substitution"]
        yield exact.substitution(first)
    if larger:
        yield WORDS["removed"]
        yield documents.removed(larger)
    groups = seeds.several(classifiers)
    if groups:
        yield WORDS["seeds"]
        yield seeds.figures(groups)
        yield WORDS["attention"]
        yield seeds.attention(groups)
    if first:
        yield WORDS["figures"]
        yield drawn(first, ["tau-gradient"], out)
        yield WORDS["sst"]
        yield drawn([run for run in first if run.config.corpus == "sst"], _SHOWN, out)
    yield WORDS["costs"]
    yield costs(runs)
