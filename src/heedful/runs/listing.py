"""Which runs there are, and how far they are: many at once.

A configuration is taken as it stands in config.toml: completing and checking it would take several times as long.
"""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from heedful.errors import BadInput, HeedfulError
from heedful.files import fingerprint
from heedful.runs.config import RunConfig, read_toml, resolve
from heedful.runs.directory import STAGES, read_manifest
from heedful.runs.naming import EXPERIMENT_NAMES
from heedful.runs.places import Places, run_folders

# what tells runs apart, in every frame of many
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
    """A run directory, as far as it can be read."""

    folder: Path
    about: dict[str, Any]  # the columns of ABOUT; None where it is not known
    done: frozenset[str]  # stages
    damage: str | None = None

    @property
    def state(self) -> str:
        """How far it is."""
        if self.damage is not None:
            return "damaged"
        return "finished" if "evidence" in self.done else "unfinished"


def runs_in(places: Places) -> pl.DataFrame:
    """One row a run directory at or below some places: its `folder` and name (`run`), `corpus`, `model`, `encoder`,
    `attention`, `seed`, `preset`, `subset` (whether its corpus is a part of the official data), `configuration` (the
    same for runs that differ in nothing but the seed), `state`, the `experiments` that are done, and `damage`, what is
    wrong with it (null: nothing).

    `state` is `finished` if the model is trained and tested, `unfinished` if not, `damaged` if that cannot be read.
    """
    rows = [
        {
            "folder": str(run.folder),
            **run.about,
            "state": run.state,
            "experiments": [name for name in EXPERIMENT_NAMES if name in run.done],
            "damage": run.damage,
        }
        for run in listed(places)
    ]
    kinds: dict[str, Any] = {"folder": pl.String, **ABOUT, "state": pl.String}
    return pl.DataFrame(rows, schema={**kinds, "experiments": pl.List(pl.String), "damage": pl.String})


def listed(places: Places) -> list[Listed]:
    """All run directories at or below some places."""
    return [_read(folder) for folder in run_folders(places)]


def configuration_of(config: RunConfig) -> str:
    """What runs that differ only in the seed have in common, as a short hash."""
    return _configuration(config.model_dump(mode="json", exclude_none=True))


def _configuration(values: dict[str, Any]) -> str:
    return fingerprint({key: value for key, value in values.items() if key != "seed"})[:8]


def _read(folder: Path) -> Listed:
    unknown = {**dict.fromkeys(ABOUT), "run": folder.name}
    try:
        values = read_toml(folder / "config.toml")
        if not set(_CHOICES) <= values.keys():  # of an earlier version, or written by hand
            values = resolve(values).model_dump(mode="json", exclude_none=True)
        about = {name: values[name] for name in _CHOICES} | {"configuration": _configuration(values)}
        _check(folder, about)
        manifest = read_manifest(folder)
    except HeedfulError as error:
        return Listed(folder, unknown, frozenset(), str(error))
    about["subset"] = bool(manifest.get("corpus", {}).get("subset", about["subset"]))
    done = [name for name in STAGES if name in manifest["stages"] and _has_files(folder, name)]
    return Listed(folder, {**unknown, **about}, frozenset(done))


def _check(folder: Path, about: dict[str, Any]) -> None:
    """A column of a frame has one type."""
    for name, value in about.items():
        if type(value) is not _TYPES[ABOUT[name]]:
            raise BadInput(f"{folder / 'config.toml'}: {name} = {value!r} is no such value; remove the run")


def _has_files(folder: Path, stage: str) -> bool:
    return all((folder / file).exists() for file in STAGES[stage].files)
