"""Find runs, list their states, and scan the results of many at once.

Configurations are read from config.toml as they are: resolving them would take several times as long.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from heedful.errors import BadInput, HeedfulError, NotFound, unknown_name
from heedful.experiments import EXPERIMENT_NAMES
from heedful.files import fingerprint, scan_parquet
from heedful.integrity import MANIFEST, checked, expected_fingerprint
from heedful.runs.config import RunConfig, read_config, resolve
from heedful.runs.directory import STAGES, Run
from heedful.workspace.folder import StageFolder, damage_named

RUN = "config.toml"  # a file that only a run directory has
RUNS = {RUN: "evidence"}  # and the stage after which a run can be shown
HOME = Path("runs")  # where runs are by default
LATEST = "latest"
LISTED = 10  # names in a message

Places = Path | str | Sequence[Path | str]


def run_folders(places: Places, marks: Collection[str] = (RUN,)) -> list[Path]:
    """The run directories at or below some places, each once, in the order given; raises for a place without any. A
    directory is a run if it holds one of the files `marks`."""
    found: dict[Path, Path] = {}
    for place in [places] if isinstance(places, Path | str) else places:
        folders = list(_below(Path(place), frozenset(marks)))
        if not folders:
            what = "is not a run directory, and holds none" if Path(place).is_dir() else "is not there"
            raise NotFound(f"{place} {what}: name run directories, or a folder of them; `heedful run` makes one")
        for folder in folders:
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def named_run(name: Path | str) -> Path:
    """The directory of a run that a user names: by its path, by the beginning of its name that no other has, or as
    `latest`, the trained run that was worked on last. Names are looked for in `runs`, or in the folder before them."""
    return _resolved(Path(name), [HOME], RUNS)


def named_places(
    names: Sequence[Path], *, homes: Sequence[Path] = (), marks: Mapping[str, str] | None = None
) -> list[Path]:
    """The same for places that may be folders of runs, too, or of whatever holds one of the files `marks`, each with
    the stage that finishes it; names are looked for in `runs` and `homes`."""
    marks = RUNS if marks is None else marks
    return [_resolved(Path(name), [HOME, *homes], marks) for name in names]


def _resolved(name: Path, homes: Sequence[Path], marks: Mapping[str, str]) -> Path:
    if name.exists() or not name.name:
        return name
    searched = homes if name.parent == Path() else [name.parent]
    there = [folder for home in searched if home.is_dir() for folder in _below(home, frozenset(marks))]
    if name.name == LATEST:
        return _latest(there, searched, marks)
    found = [folder for folder in there if folder.name == name.name]
    found = found or [folder for folder in there if folder.name.startswith(name.name)]
    if len(found) == 1:
        return found[0]
    if not found:
        beginnings = {folder.name[: len(name.name)]: folder.name for folder in there}
        near = get_close_matches(name.name, beginnings, n=1)
        hint = f" (did you mean {beginnings[near[0]]}?)" if near else ""
        places = " or ".join(map(str, searched))
        raise NotFound(
            f"{name} is not there, and no run in {places} has a name that begins so{hint}: name a run directory, the "
            "beginning of its name, or `latest`; `heedful run` makes one"
        )
    listed = ", ".join(map(str, found[:LISTED])) + (f" and {len(found) - LISTED} more" if len(found) > LISTED else "")
    raise NotFound(f"{name} is the beginning of {len(found):,} names: {listed}; give more of the one that you mean")


def _latest(folders: Sequence[Path], searched: Sequence[Path], marks: Mapping[str, str]) -> Path:
    """The finished one among these directories that was worked on last."""

    def worked_on(folder: Path) -> float:
        manifest = folder / MANIFEST
        return manifest.stat().st_mtime if manifest.is_file() else 0.0

    for folder in sorted(folders, key=worked_on, reverse=True):
        last = next(stage for mark, stage in marks.items() if (folder / mark).exists())
        with suppress(HeedfulError):  # of a damaged one it is not known
            if last in StageFolder.read_manifest(folder)["stages"]:
                return folder
    places = " or ".join(map(str, searched))
    raise NotFound(f"{LATEST}: there is no finished run in {places}; `heedful run` makes one")


def _below(place: Path, marks: frozenset[str]) -> Iterator[Path]:
    """The run directories at or below a place, sorted; directories inside a run are not searched."""
    for folder, below, files in os.walk(place):
        below.sort()
        if not marks.isdisjoint(files):
            below.clear()
            yield Path(folder)
        below[:] = [name for name in below if not name.startswith(".")]


# columns that identify a run in frames of many runs
ABOUT: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("run", "corpus", "model", "encoder", "attention"), pl.String),
    "seed": pl.Int64,
    "preset": pl.String,
    "subset": pl.Boolean,
    "configuration": pl.String,
}
_CHOICES = ("corpus", "model", "encoder", "attention", "seed", "preset", "subset")
_TYPES = {pl.String: str, pl.Int64: int, pl.Boolean: bool}


class Listed(NamedTuple):
    """A run directory, as far as it is readable."""

    folder: Path
    about: dict[str, Any]  # the columns of ABOUT; None where unknown
    done: frozenset[str]  # stages
    damage: str | None = None

    @property
    def state(self) -> str:
        """finished, unfinished or damaged."""
        if self.damage is not None:
            return "damaged"
        return "finished" if "evidence" in self.done else "unfinished"


def runs_in(places: Places) -> pl.DataFrame:
    """One row per run directory at or below some places: its `folder` and name (`run`), `corpus`, `model`, `encoder`,
    `attention`, `seed`, `preset`, `subset` (whether its corpus is part of the official data), `configuration` (the
    same for runs that differ only in the seed), `state`, the `experiments` that are done, and `damage`, what is
    wrong with it (null: nothing).

    `state` is `finished` if the model is trained and tested, `unfinished` if not, `damaged` if that cannot be read.
    """
    rows = []
    for run in listed(places):
        experiments = [name for name in EXPERIMENT_NAMES if name in run.done]
        found = {"state": run.state, "experiments": experiments, "damage": run.damage}
        rows.append({"folder": str(run.folder), **run.about, **found})
    kinds: dict[str, Any] = {"folder": pl.String, **ABOUT, "state": pl.String}
    return pl.DataFrame(rows, schema={**kinds, "experiments": pl.List(pl.String), "damage": pl.String})


def listed(places: Places) -> list[Listed]:
    """All run directories at or below some places."""
    return [_read(folder) for folder in run_folders(places)]


def configuration_of(config: RunConfig) -> str:
    """A short hash of the configuration without its seed."""
    return _configuration(config.model_dump(mode="json", exclude_none=True))


def _configuration(values: dict[str, Any]) -> str:
    return fingerprint({key: value for key, value in values.items() if key != "seed"})[:8]


def _read(folder: Path) -> Listed:
    unknown = {**dict.fromkeys(ABOUT), "run": folder.name}
    try:
        values = read_config(checked(folder / RUN))
        if not set(_CHOICES) <= values.keys():  # of an earlier version, or handwritten
            values = resolve(values).model_dump(mode="json", exclude_none=True)
        about = {name: values[name] for name in _CHOICES} | {"configuration": _configuration(values)}
        _check(folder, about)
        manifest = Run.read_manifest(folder)
    except HeedfulError as error:
        return Listed(folder, unknown, frozenset(), str(error))
    about["subset"] = bool(manifest.get("corpus", {}).get("subset", about["subset"]))
    recorded = [stage for name, stage in STAGES.items() if name in manifest["stages"]]
    done = frozenset(stage.name for stage in recorded if all((folder / file).exists() for file in stage.files))
    return Listed(folder, {**unknown, **about}, done)


def _check(folder: Path, about: dict[str, Any]) -> None:
    """Raise on a value of the wrong type, which no column could hold."""
    for name, value in about.items():
        if type(value) is not _TYPES[ABOUT[name]]:
            raise BadInput(f"{folder / 'config.toml'}: {name} = {value!r} has the wrong type; remove the run")


METRICS = "metrics"
_RESULTS = (METRICS, "evidence", "importance", *EXPERIMENT_NAMES)


def scan(places: Places, experiment: str = METRICS) -> pl.LazyFrame:
    """Scan the results of all runs at or below some places, concatenated; nothing is loaded until collected.

    `experiment`: an experiment, `evidence` or `importance`, or `metrics`: one row per run with its test metrics. The
    first columns say which run it is, from `run` to `configuration` as in `runs_in`. Columns that a run does not have
    are null. Runs without these results are left out; `runs_in` lists them.

    >>> import heedful
    >>> frame = heedful.scan("runs/", "permutation")  # doctest: +SKIP
    >>> frame.group_by("corpus", "encoder").agg(pl.col("median").mean()).collect()  # doctest: +SKIP
    """
    if experiment not in _RESULTS:
        raise unknown_name("experiment", str(experiment), _RESULTS)
    runs = listed(places)
    stage = "evidence" if experiment == METRICS else experiment
    there = [run for run in runs if stage in run.done]
    if not there:
        option = f" and --experiments {experiment}" if experiment in EXPERIMENT_NAMES else ""
        raise NotFound(
            f"none of {len(runs):,} runs has results of {experiment}: `heedful run` with the same options{option} "
            "makes them; `heedful.runs_in` lists the state of each"
        )
    if experiment == METRICS:
        frames = [pl.LazyFrame([{**run.about, **_metrics(run.folder)}], schema_overrides=ABOUT) for run in there]
    else:
        frames = [_lazy(run, run.folder / STAGES[stage].file) for run in there]
    return pl.concat(frames, how="diagonal_relaxed")  # columns, and types of columns without values, may differ


def _metrics(folder: Path) -> dict[str, Any]:
    """Metrics of the test split, without those per class, whose names differ between corpora."""
    file = folder / "metrics.json"
    with damage_named(file, ValueError, KeyError, TypeError, AttributeError):
        test = json.loads(checked(file).read_text(encoding="utf-8"))["test"]
        return {name: value for name, value in test.items() if not isinstance(value, dict)}


def _lazy(run: Listed, file: Path) -> pl.LazyFrame:
    with damage_named(file, pl.exceptions.PolarsError, OSError):
        # here the damaged file can be named; in a frame of many it could not
        frame = pl.scan_parquet(file, glob=False)
        schema = frame.collect_schema()
    if expected_fingerprint(file) is not None:  # compared when the frame is collected, and not before
        frame = pl.defer(lambda: scan_parquet(file), schema=schema)  # type: ignore[arg-type, return-value]
    return frame.select(*(pl.lit(value, ABOUT[name]).alias(name) for name, value in run.about.items()), pl.all())
