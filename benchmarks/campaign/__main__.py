"""`make campaign MINUTES=10`: kill heedful and feed it hostile input for so long; exit code 1 if anything failed.

Three processes are at it at the same time: one reads hostile inputs in process, one gives them to the command line,
one kills commands. What fails is kept below --keep, with what happened.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.campaign.tally import Tally

_PLENTY = 10**9
Phase = Callable[[Tally], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Perform a campaign, and print what it found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default: 0)")
    parser.add_argument("--keep", type=Path, default=Path("runs/campaign"), help="folder of failing cases")
    parser.add_argument("--inputs", type=int, default=_PLENTY, help="hostile inputs in process, at most")
    parser.add_argument("--commands", type=int, default=_PLENTY, help="hostile command lines, at most")
    parser.add_argument("--kills", type=int, default=_PLENTY, help="kills, at most")
    options = parser.parse_args(arguments)
    started = time.monotonic()
    limits = (options.inputs, options.commands, options.kills)
    tally = campaign(options.keep.resolve(), seed=options.seed, minutes=options.minutes, limits=limits)
    print(f"campaign of {(time.monotonic() - started) / 60:.1f} minutes, seed {options.seed}")
    print("\n".join(tally.lines()))
    return int(tally.failed)


def campaign(keep: Path, *, seed: int, minutes: float, limits: tuple[int, int, int]) -> Tally:
    """Good inputs are prepared first; then hostile inputs, hostile commands and kills, at most so many (`limits`)."""
    shutil.rmtree(keep, ignore_errors=True)
    total = Tally(keep)
    with tempfile.TemporaryDirectory(prefix="heedful-campaign-") as folder:
        base = Path(folder).resolve()
        seeds = base / "seeds"
        os.environ["HEEDFUL_CACHE"] = str(seeds / ".cache")
        _together([_prepare(seeds)], base, total)
        until = time.monotonic() + 60 * minutes
        phases = [_reading(base, seed, limits[0], until), _commands(base, seed, limits[1], until)]
        _together([*phases, _killing(base, seed, limits[2], until)], base, total)
    return total


def _prepare(seeds: Path) -> Phase:
    def phase(tally: Tally) -> None:
        from benchmarks.campaign.targets import TARGETS

        for target in TARGETS:
            (seeds / target.name).mkdir(parents=True)
            target.prepare(seeds / target.name)

    return phase


def _reading(base: Path, seed: int, cases: int, until: float) -> Phase:
    def phase(tally: Tally) -> None:
        from benchmarks.campaign.fuzzing import fuzz
        from benchmarks.campaign.targets import TARGETS

        fuzz(TARGETS, base / "seeds", base / "reading", tally, seed=seed, cases=cases, until=until)

    return phase


def _commands(base: Path, seed: int, cases: int, until: float) -> Phase:
    def phase(tally: Tally) -> None:
        from benchmarks.campaign.command_lines import try_command_lines

        _import_all()
        try_command_lines(base / "seeds", base / "commands", tally, seed=seed, cases=cases, until=until)

    return phase


def _killing(base: Path, seed: int, kills: int, until: float) -> Phase:
    def phase(tally: Tally) -> None:
        from benchmarks.campaign.kills import kill

        _import_all()
        kill(base / "seeds", base / "kills", tally, seed=seed, kills=kills, until=until)

    return phase


def _import_all() -> None:
    """What commands import, so that their processes, which are forked from this one, need not."""
    import heedful.adapters.huggingface.subject
    import heedful.audits.execution
    import heedful.audits.test_stages
    import heedful.findings.comparison
    import heedful.report.site.writer
    import heedful.runs.execution
    import heedful.runs.experiment_stages
    import heedful.runs.stages  # noqa: F401


def _together(phases: Sequence[Phase], base: Path, total: Tally) -> None:
    """Perform phases at the same time, each in a process of its own, and add up what they counted."""
    processes = {}
    for number, phase in enumerate(phases):
        file = base / f"tally-{len(list(base.glob('tally-*')))}-{number}"
        process = os.fork()
        if process == 0:
            os._exit(_perform(phase, Tally(total.keep), file))
        processes[process] = file
    for process, file in processes.items():
        os.waitpid(process, 0)
        if not file.exists():
            raise RuntimeError("a part of the campaign did not get to its end; what happened is said above")
        total.add(json.loads(file.read_text(encoding="utf-8")))


def _perform(phase: Phase, tally: Tally, file: Path) -> int:
    try:
        phase(tally)
    except Exception:  # of the campaign itself: what was counted until then counts
        tally.fail("crashes", f"campaign-{os.getpid()}", traceback.format_exc())
    file.write_text(tally.to_json(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
