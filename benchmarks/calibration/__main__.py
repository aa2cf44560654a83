"""`python -m benchmarks.calibration`: fix the verdict's thresholds, test them, and write down both.

Writes src/heedful/audits/thresholds.toml, docs/audit-calibration.md and its figures. `--again`: from the signals that
the last run has kept in benchmarks/results/, without measuring.
"""

import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import polars as pl
import torch

from benchmarks.calibration.counting import operating
from benchmarks.calibration.figures import draw_operating, draw_steps
from benchmarks.calibration.fitting import Family
from benchmarks.calibration.measuring import LEVELS, Case, case_of, cases_in, kept
from benchmarks.calibration.page import Outcome, page, seen_cases, step_rows
from benchmarks.calibration.planted import Plan
from benchmarks.calibration.settings import FIXED, FIXED_SEEDS, UNSEEN, UNSEEN_SEEDS, plans, steps
from benchmarks.report import FOLDER
from heedful.files import write_parquet, write_text
from heedful.verdict.criteria import FILE

DOCS = Path(__file__).parents[2] / "docs"
SETS = {
    "fixed": lambda: plans(FIXED, FIXED_SEEDS),
    "unseen": lambda: plans(UNSEEN, UNSEEN_SEEDS),
    "steps": steps,
}


def measure(name: str, todo: Iterable[Plan]) -> None:
    """Signals of all subjects of a set, kept in a file."""
    cases = []
    for plan in todo:
        cases.append(case_of(plan))
        print(f"{name} {len(cases)}: {plan.kind}, {plan.encoder}, {plan.length} words, seed {plan.seed}", flush=True)
    write_parquet(_file(name), kept(cases))


def read(name: str) -> list[Case]:
    return list(cases_in(pl.read_parquet(_file(name))))


def write() -> None:
    """Thresholds, page and figures."""
    fixed = read("fixed")
    families = {level: Family.of(fixed, level) for level in LEVELS}
    told = Outcome(families, {level: family.at() for level, family in families.items()}, read("unseen"), read("steps"))
    write_text(FILE, _thresholds(told))
    rows = [row for level in LEVELS for row in operating(seen_cases(told, level), level, families[level])]
    draw_operating(rows, DOCS / "images" / "audit-calibration.svg")
    draw_steps(step_rows(told), DOCS / "images" / "audit-steps.svg")
    template = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    write_text(DOCS / "audit-calibration.md", page(told, template))


def _thresholds(told: Outcome) -> str:
    lines = ["# Written by `python -m benchmarks.calibration`; docs/audit-calibration.md says how they were found."]
    for level, bars in told.bars.items():
        lines += ["", f"[{level}]", *(f"{name} = {value}" for name, value in asdict(bars).items())]
    lines += ["", "[provenance]", 'command = "python -m benchmarks.calibration"', 'page = "docs/audit-calibration.md"']
    return "\n".join(lines) + "\n"


def _file(name: str) -> Path:
    return FOLDER / f"calibration-{name}.parquet"


def main() -> int:
    torch.set_num_threads(1)
    if "--again" not in sys.argv[1:]:
        for name, todo in SETS.items():
            measure(name, todo())
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
