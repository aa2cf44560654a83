"""`python -m benchmarks.calibration --models FOLDERS --test FOLDER --out FOLDER`: thresholds of the verdict, tested.

Measures every model of the factory that is of its kind (one file each in --out; those that are there are kept), fixes
thresholds on the models of --models, and tests the way they are fixed on those of --test. Writes
src/heedful/verdict/thresholds.toml, docs/audit-calibration.md and its figures.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration.figures import draw_kinds, draw_operating
from benchmarks.calibration.fitting import Family, Means
from benchmarks.calibration.judging import Job, judge_all, means_all
from benchmarks.calibration.measuring import Case, Model, cases_of, measure_all, models_in
from benchmarks.calibration.page import Trial, kind_rows, operating_rows, page
from heedful.errors import BadInput
from heedful.files import write_text
from heedful.verdict.criteria import FILE, Thresholds

DOCS = Path(__file__).parents[2] / "docs"
PAGE = Path(__file__).with_name("page.md")


class Places(NamedTuple):
    """What is written."""

    thresholds: Path = FILE
    docs: Path = DOCS


def main(arguments: Sequence[str] | None = None, places: Places | None = None) -> int:
    options = _options(arguments)
    try:
        calibrate(options, places or Places())
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def calibrate(options: argparse.Namespace, places: Places) -> None:
    """Measure, fix, test, and write down."""
    means: list[Means] = []
    for folder in options.models:
        means += means_all(_measured(folder, options.out, options.workers)[1], workers=options.workers)
    models, cases = _measured(options.test, options.out, options.workers)
    family = Family.of(means)
    judged = judge_all([job_of(case, means, family) for case in cases], workers=options.workers, say=_say)
    trial = Trial(family, judged, models, len(means))
    write_text(places.thresholds, thresholds_file(family.at()))
    draw_kinds(kind_rows(trial), places.docs / "images" / "audit-calibration.svg")
    draw_operating(operating_rows(trial), places.docs / "images" / "audit-operating.svg")
    write_text(places.docs / "audit-calibration.md", page(PAGE.read_text(encoding="utf-8"), trial))


def _measured(folder: Path, out: Path, workers: int) -> tuple[list[Model], list[Case]]:
    models, files = models_in(folder), out / folder.name
    measure_all(models, files, workers=workers, say=_say)
    return models, list(cases_of(models, files))


def job_of(case: Case, means: Sequence[Means], family: Family) -> Job:
    """A model, and thresholds that were fixed on models of other rules and architectures."""
    others = [each for each in means if each.rule != case.rule and each.architecture != case.architecture]
    left_out = Family.of([each for each in others if each.kind != case.kind])
    return Job(case, Family.of(others), left_out.at(), family.at())


def thresholds_file(thresholds: Thresholds) -> str:
    """The thresholds as the package reads them."""
    lines = ["# Written by `python -m benchmarks.calibration`; docs/audit-calibration.md says how they were found."]
    lines += ["", f"better = {thresholds.better}"]
    for name, (failed, met) in thresholds.criteria.items():
        lines += ["", f"[{name}]", f"failed = {failed}", f"met = {met}"]
    lines += ["", "[provenance]", 'command = "python -m benchmarks.calibration"', 'page = "docs/audit-calibration.md"']
    return "\n".join(lines) + "\n"


def _say(words: str) -> None:
    print(words, flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("--models", type=Path, nargs="+", required=True, help="folders of models to fix thresholds on")
    parser.add_argument("--test", type=Path, required=True, help="folder of models, of another seed, to test them on")
    parser.add_argument("--out", type=Path, required=True, help="folder of measurements; those there are kept")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.workers < 1:
        parser.error("--workers must be 1 or more")
    names = [folder.name for folder in (*options.models, options.test)]
    if len({*names}) < len(names):
        parser.error("the folders of models need different names, which their measurements are kept under")
    return options


if __name__ == "__main__":
    sys.exit(main())
