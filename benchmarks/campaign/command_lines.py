"""Hostile inputs through the command line: files, folders, names and limits that a user may come with."""

import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.campaign.commands import exit_code
from benchmarks.campaign.mutations import hostile
from benchmarks.campaign.tally import Tally
from benchmarks.campaign.workers import Fault, Worker, case_name, in_workers
from heedful.cli.main import main
from tests.runs.small import ARGUMENTS

BLOCK = 60  # cases of a worker
ANSWERS = range(4)  # exit codes: done, no, bad input, not determined
_SUBJECT = f"{Path(__file__).parents[2] / 'tests' / 'audits' / 'models.py'}:faithful"
_AUDIT = ["--sample", "4", "--threads", "1", "--out", "audits"]
_TINY = ["--set", "training.epochs=1", "--set", "embedding.width=4", "--set", "encoder_options.hidden=2"]
_NAMES = [
    b"\xff",
    b"a\xffb",
    b"\x1b[31m",
    b" ",
    b"-",
    b"a\nb",
    b"[bold]",
    b"%s",
    b"x" * 255,
    b"..",
    "\u202eabc".encode(),
]
_VALUES = ["nan", "-1", "[]", "{}", "''", "1e999", "9" * 400, "../x", "true", "[[]]", "\udcff", "inf", '"\\u0000"']
_KEYS = ["seed", "corpus", "encoder", "training", "training.epochs", "embedding.width", "corpus_options", "a.b.c", ""]


class Case(NamedTuple):
    """Arguments of a command, and what makes its surroundings hostile."""

    arguments: list[str]
    shown: str = ""  # must be in the output, whatever else is damaged
    files: int | None = None  # how many more may be open


class Hostile:
    """Makes cases from good inputs."""

    def __init__(self, seeds: Path) -> None:
        self._seeds = seeds
        self._kinds: list[tuple[float, Callable[[Path, Random], Case]]] = [
            (6, self._evidence),
            (3, self._importance),
            (3, self._texts),
            (3, self._model),
            (3, self._table_run),
            (3, self._archive_run),
            (3, self._config_run),
            (5, self._settings),
            (4, self._grid),
            (1.5, self._report),
            (3, self._runs_command),
            (4, self._names),
            (2, self._limits),
        ]

    def make(self, place: Path, draw: Random) -> tuple[str, Case]:
        """A case in a folder, and the name of its kind."""
        (make,) = draw.choices([kind for _, kind in self._kinds], [share for share, _ in self._kinds])
        return make.__name__.strip("_").replace("_", " "), make(place, draw)

    def _hostile(self, target: str, place: Path, draw: Random, ending: str = "") -> Path:
        """A changed copy of one of the good files of a target."""
        good = draw.choice(sorted(path for path in (self._seeds / target).iterdir() if path.name.endswith(ending)))
        file = place / good.name
        file.write_bytes(hostile(good.name, good.read_bytes(), draw))
        return file

    def _copy(self, target: str, place: Path) -> Path:
        folder = place / target
        shutil.copytree(self._seeds / target, folder)
        return folder

    def _spoil(self, folder: Path, draw: Random) -> None:
        """Change, empty, delete or replace a file below a folder."""
        file = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        kind = draw.random()
        if kind < 0.7:
            file.write_bytes(hostile(file.name, file.read_bytes(), draw))
        elif kind < 0.8:
            file.write_bytes(b"")
        else:
            file.unlink()
            if kind > 0.93:
                file.mkdir()
            elif kind > 0.87:
                file.symlink_to("/nonexistent/place")

    def _evidence(self, place: Path, draw: Random) -> Case:
        file = self._hostile(draw.choice(("evidence", "evidence lines")), place, draw)
        return Case(["audit", "--evidence", str(file), *_AUDIT])

    def _importance(self, place: Path, draw: Random) -> Case:
        file = self._hostile("importance", place, draw)
        return Case(
            [
                "audit",
                "--evidence",
                str(self._seeds / "evidence" / "affine-1.parquet"),
                *_AUDIT,
                "--importance",
                str(file),
            ]
        )

    def _texts(self, place: Path, draw: Random) -> Case:
        file = self._hostile("tables", place, draw)
        more = ["--rationales", str(self._hostile("rationales", place, draw))] if draw.random() < 0.3 else []
        return Case(["audit", "--module", _SUBJECT, "--data", str(file), "--id", "id", *_AUDIT, *more])

    def _model(self, place: Path, draw: Random) -> Case:
        model = self._copy("models", place) / draw.choice(("bert", "distilbert", "gpt2"))
        for _ in range(draw.choice((1, 1, 2))):
            self._spoil(model, draw)
        named = model / "config.json" if draw.random() < 0.1 else model
        return Case(["audit", "--hf", str(named), "--data", str(self._seeds / "tables" / "table.csv"), *_AUDIT])

    def _table_run(self, place: Path, draw: Random) -> Case:
        file = self._hostile("tables", place, draw)
        return Case(["run", "--file", str(file), "--text", "text", "--label", "label", *_TINY, "--out", "runs"])

    def _archive_run(self, place: Path, draw: Random) -> Case:
        (place / "data" / "sst").mkdir(parents=True)
        file = self._hostile("corpora", place, draw, "sst.zip")
        file.rename(place / "data" / "sst" / "trees.zip")
        return Case(["run", "--corpus", "sst", "--data", str(place / "data"), *_TINY, "--out", "runs"])

    def _config_run(self, place: Path, draw: Random) -> Case:
        file = self._hostile("configurations", place, draw, "1.toml")
        return Case(["run", "--config", str(file), "--out", "runs", "--data", str(place)])

    def _settings(self, place: Path, draw: Random) -> Case:
        key, value = draw.choice(_KEYS), draw.choice(_VALUES)
        return Case(["run", *ARGUMENTS, "--set", f"{key}={value}", "--experiments", "none", "--out", "runs"])

    def _grid(self, place: Path, draw: Random) -> Case:
        return Case(["sweep", str(self._hostile("grids", place, draw)), "--dry-run", "--out", "runs"])

    def _report(self, place: Path, draw: Random) -> Case:
        """A damaged run or audit beside a good run, which must be shown."""
        target = draw.choice(("runs", "audits"))
        good = self._copy("runs", place / "good")
        bad = self._copy(target, place / "bad")
        for _ in range(draw.choice((1, 1, 2, 4))):
            self._spoil(bad, draw)
        (run,) = good.iterdir()
        run.rename(good / "good-run")
        return Case(["report", str(good), str(bad), "--out", "site", "--formats", "none"], shown="written to")

    def _runs_command(self, place: Path, draw: Random) -> Case:
        folder = self._copy("runs", place)
        (run,) = folder.iterdir()
        self._spoil(run, draw)
        choices = [["show", str(run)], ["compare", str(folder)], ["show", str(run), "--text", "a fine film"]]
        return Case(draw.choice([*choices, ["run", *ARGUMENTS, "--out", str(folder)]]))

    def _names(self, place: Path, draw: Random) -> Case:
        """Folders and files with names that are no text, or look like something else."""
        raw = draw.choice(_NAMES)
        path = os.fsencode(place) + b"/" + raw
        if draw.random() < 0.7 and raw not in (b"..", b"-"):
            shutil.copytree(os.fsencode(self._seeds / "runs"), path, dirs_exist_ok=True)
        name, run = os.fsdecode(path), ["run", *ARGUMENTS, "--experiments", "none", "--out"]
        audit = ["audit", "--evidence", str(self._seeds / "evidence" / "affine-1.parquet"), *_AUDIT[:-1]]
        choices = [["report", name, "--out", "site", "--formats", "none"], ["compare", name], ["show", name]]
        choices += [[*run, name], [*audit, name], ["audit", "--hf", name, "--data", name], ["sweep", name]]
        choices += [["run", "--file", name, "--out", "runs"], ["corpora", os.fsdecode(raw)]]
        return Case(draw.choice(choices))

    def _limits(self, place: Path, draw: Random) -> Case:
        """Few file handles."""
        evidence = ["audit", "--evidence", str(self._seeds / "evidence" / "affine-1.parquet"), *_AUDIT]
        commands = [evidence, ["run", *ARGUMENTS, "--out", "runs"], ["compare", str(self._copy("runs", place))]]
        return Case(draw.choice(commands), files=draw.choice((0, 1, 2, 3, 5, 8, 12)))


def try_command_lines(seeds: Path, place: Path, tally: Tally, *, seed: int, cases: int, until: float) -> None:
    """So many hostile command lines, or as many as there is time for."""
    in_workers(partial(_Caller, seeds, seed), place, tally, "command line", block=BLOCK, cases=cases, until=until)


class _Caller(Worker):
    """Calls the command line."""

    def __init__(self, seeds: Path, seed: int, place: Path) -> None:
        super().__init__(place, allowed=[seeds / ".cache"])
        self._made, self._seed = Hostile(seeds), seed

    def perform(self, number: int) -> None:
        """Call it once, in a folder that is made for the case."""
        here, outside = self.place / "failing" / str(number), self.place / "failing" / "outside"
        here.mkdir()
        outside.mkdir()
        (outside / "precious").write_text("years of work")
        kind, case = self._made.make(here, Random(f"{self._seed} command {number}"))
        self.begin(number, kind)
        self.trespasses()  # of making it
        os.chdir(here)
        sys.argv = ["heedful", *case.arguments]
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        if case.files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + case.files, limits[1]))  # noqa: PTH208
        code = exit_code(main)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        said = self.said()
        faults = [*_faults(code, *said, case.shown, outside), *self.trespasses()]
        why = f"\n\narguments: {case.arguments}\nfiles: {case.files}\nexit code {code}\n{said[1][-6000:]}"
        if faults:
            kept = here.rename(self.place / case_name(kind, number))
            self.tell(kept.name, [Fault(fault.kind, fault.why + why) for fault in faults], kept)
        os.chdir(self.place)
        shutil.rmtree(self.place / "failing")
        (self.place / "failing").mkdir()


def _faults(code: int, out: str, err: str, shown: str, outside: Path) -> Iterator[Fault]:
    """What was wrong with the way in which a command ended."""
    if "Traceback" in err or "panicked at" in err:
        yield Fault("tracebacks", "on standard error")
    if code == 70:
        yield Fault("exit 70", "")
    elif code not in ANSWERS:
        yield Fault("wrong answers", f"exit code {code}")
    errors = [line for line in err.splitlines() if line.startswith(("error:", "Error:"))]
    if code == 2 and len(errors) != 1:
        yield Fault("wrong answers", f"{len(errors)} lines of error")
    if shown and shown not in out:
        yield Fault("wrong answers", "the good run was not shown")
    if [path.name for path in outside.iterdir()] != ["precious"]:
        yield Fault("files outside", "the folder beside was changed")
