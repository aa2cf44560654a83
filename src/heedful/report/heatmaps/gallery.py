"""A gallery of heat-maps: attention beside the furthest other attention that gives nearly the same output, for the
instances in which that is furthest, and for those in which it is nearest (Jain & Wallace 2019, appendix C)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from heedful.files import write_text
from heedful.findings.instance_table import instance_rows
from heedful.printable import FEW_CLASSES
from heedful.report.heatmaps.files import to_html, to_svg, to_tex
from heedful.report.heatmaps.instance import read_instance
from heedful.runs.directory import Run

LARGEST, SMALLEST = 10, 3  # instances of each class
FORMATS = ("svg", "pdf", "png", "tex")
_CONFIDENT = 0.6  # as in the released code: what is nearly undecided says little
_WORDS, _SENTENCES = (5, 60), (3, 12)  # items of a text that is neither very short nor very long


Rank = Literal["largest", "smallest"]


@dataclass(frozen=True)
class Chosen:
    """An instance of the gallery."""

    id: str
    index: int  # in the evidence
    name: str  # of its files
    rank: Rank  # which JSD it is among the first of
    decision: int | None  # the class among whose instances it is; None: among all
    jsd: float


def gallery(run: Run) -> list[Chosen]:
    """The instances to show, class by class where classes are few; needs the adversary's results."""
    run.require("adversary")
    rows = instance_rows(run, ["items", "decision", "wrong", "confidence", "jsd"])
    classes = run.classes if len(run.classes) <= FEW_CLASSES else None
    return choose(rows, classes, readable=_SENTENCES if run.config.hierarchical else _WORDS)


def choose(
    rows: pl.DataFrame,
    classes: Sequence[str] | None,
    *,
    readable: tuple[int, int] = _WORDS,
    largest: int = LARGEST,
    smallest: int = SMALLEST,
) -> list[Chosen]:
    """The instances with the largest and the smallest JSD, of each class or (None) of all: those of several items,
    decided correctly and with confidence, those of a readable length first; ties by id."""
    fit = rows.with_row_index("index").filter(
        pl.col("items") > 1,
        pl.col("jsd").is_not_null(),
        pl.col("confidence") >= _CONFIDENT,
        ~pl.col("wrong").fill_null(value=False),  # without labels nothing is known to be wrong
    )
    fit = fit.with_columns(hard=~pl.col("items").is_between(*readable))
    chosen = []
    for decision in [None] if classes is None else range(len(classes)):
        group = fit if decision is None else fit.filter(pl.col("decision") == decision)
        prefix = "" if decision is None else f"{decision}-"
        kinds: tuple[tuple[Rank, int, bool], ...] = (("largest", largest, True), ("smallest", smallest, False))
        for word, count, descending in kinds:
            taken = _first(group, count, descending=descending)
            group = group.join(taken, on="index", how="anti", maintain_order="left")
            for rank, row in enumerate(taken.iter_rows(named=True), start=1):
                stem = f"{prefix}{word}-{rank:02d}"
                chosen.append(Chosen(row["id"], row["index"], stem, word, decision, row["jsd"]))
    return chosen


def _first(group: pl.DataFrame, count: int, *, descending: bool) -> pl.DataFrame:
    """So many instances, readable ones before others, then in the order of their JSD."""
    best = group.sort("hard", "jsd", "id", descending=[False, descending, False]).head(count)
    return best.sort("jsd", "id", descending=[descending, False])


def write_gallery(run: Run, folder: Path, *, formats: Sequence[str] = FORMATS) -> dict[Chosen, list[Path]]:
    """Write the heat-maps of the chosen instances, `<name>.<format>`; the files of each."""
    return {chosen: _write(run, chosen, folder / chosen.name, formats) for chosen in gallery(run)}


def _write(run: Run, chosen: Chosen, stem: Path, formats: Sequence[str]) -> list[Path]:
    from heedful.report.charts.render import write_drawing  # brings vl-convert along

    if not formats:
        return []
    instance = read_instance(run, chosen.id)
    drawing, paths = to_svg(instance), []
    for format in formats:
        if format in _TEXTS:
            paths.append(stem.with_name(f"{stem.name}.{format}"))
            write_text(paths[-1], _TEXTS[format](instance))
        else:
            paths.append(write_drawing(drawing, stem, format))
    return paths


_TEXTS = {"tex": to_tex, "html": to_html}
