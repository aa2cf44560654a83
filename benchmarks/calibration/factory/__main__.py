"""`python -m benchmarks.calibration.factory --out FOLDER --models N --seed S`: make models of known faithfulness."""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.calibration.factory.kinds import INTENDED, KINDS
from benchmarks.calibration.factory.plans import Plan, plans
from benchmarks.calibration.factory.production import produce
from heedful.errors import BadInput


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    made: dict[str, list[dict[str, Any]]] = defaultdict(list)
    todo = list(plans(options.models, seed=options.seed, kinds=options.kinds))
    try:
        for (name, plan), result in zip(todo, _results(todo, options.out, options.workers), strict=True):
            made[plan.kind].append(result)
            outcome = result["reason"] or result["label"]
            print(f"{name}: {plan.architecture}, {plan.task.rule}, {result['seconds']:.1f} s: {outcome}", flush=True)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(summary(made)))
    return 0


def summary(made: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """How many of each kind came out as intended, why the others did not, and how long it took."""
    everything = [result for results in made.values() for result in results]
    yield "| kind | made | of their kind | seconds, median | of the processor | excluded because |"
    yield "|---|---|---|---|---|---|"
    for kind, results in {**made, "all": everything}.items():
        reasons = Counter(result["reason"] for result in results if result["reason"])
        why = "; ".join(f"{reason}: {count}" for reason, count in reasons.most_common())
        wall, processor = (median(result[name] for result in results) for name in ("seconds", "processor_seconds"))
        good = len(results) - reasons.total()
        yield f"| {kind} | {len(results)} | {good} | {wall:.1f} | {processor:.1f} | {why} |"


def _results(todo: Sequence[tuple[str, Plan]], out: Path, workers: int) -> Iterator[dict[str, Any]]:
    """Made one by one, or by so many processes."""
    jobs = [(plan, out / name) for name, plan in todo]
    if workers == 1:
        yield from map(produce, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(produce, jobs)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.factory")
    parser.add_argument("--out", type=Path, required=True, help="folder of the models; those that it holds are kept")
    parser.add_argument("--models", type=int, required=True, help="how many, the kinds in turn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(INTENDED), help="some only")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    if options.models < 1 or options.workers < 1:
        parser.error("--models and --workers must be 1 or more")
    return options


if __name__ == "__main__":
    sys.exit(main())
