"""A resumable directory of stages: what runs and audits have in common.

The directory holds an options file, the files that stages leave, and manifest.json. The manifest records provenance
and, for each finished stage, its cost, the hashes of its files, and the version and code that performed it. A stage is
done if the manifest says so and its files are there; what is not done, or reads what will be done again, is missing.
"""

import json
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import tomli_w

from heedful.damage import first_line, panics_as_errors, unreadable
from heedful.errors import BadInput, NotFound
from heedful.evidence import Evidence
from heedful.files import Parts, content_fingerprint, locked, remove_temporaries, scan_parquet, write_json, write_text
from heedful.version import __version__
from heedful.workspace.environment import code_fingerprint, peak_memory

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Stage:
    """A step of a run or an audit."""

    name: str
    files: tuple[str, ...]  # it leaves
    needs: tuple[str, ...] = ()  # stages whose files it reads
    optional: tuple[str, ...] = ()  # files it leaves in some cases

    @property
    def file(self) -> str:
        """The file with its result."""
        return self.files[0]


Counts = Callable[[], Mapping[str, int]]  # whatever else a session counts, so far


class StageCost:
    """The cost of a stage: seconds and peak memory, and forward passes and instances where these are counted."""

    def __init__(self, earlier: Mapping[str, Any], counts: Counts | None) -> None:
        self._earlier, self._counts = earlier, counts  # earlier: cost of sessions that were killed
        self._started, self._first = time.perf_counter(), counts() if counts else {}
        self.instances = 0

    def total(self) -> dict[str, Any]:
        """The cost so far, earlier sessions included."""
        seconds = self._earlier.get("seconds", 0.0) + time.perf_counter() - self._started
        cost: dict[str, Any] = {"seconds": round(seconds, 3)}
        if self._counts is not None:
            now = self._counts()
            cost |= {name: self._earlier.get(name, 0) + now[name] - self._first[name] for name in now}
            cost["instances"] = self._earlier.get("instances", 0) + self.instances
        return {**cost, "peak_memory_mb": peak_memory()}


class StageFolder(ABC):
    """A directory of stages, finished or not; `Run` and `Audit` add their options and results."""

    KIND: ClassVar[str]  # "a run" or "an audit"
    OPTIONS: ClassVar[str]  # name of the options file
    COMMAND: ClassVar[str]  # makes or resumes it

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def options_path(cls, folder: Path) -> Path:
        """The options file of a directory; raises if there is none."""
        path = folder / cls.OPTIONS
        if not path.is_file():
            raise NotFound(f"{folder} is not {cls.KIND} directory: it has no {cls.OPTIONS}; `{cls.COMMAND}` makes one")
        return path

    @classmethod
    def other_options(cls, folder: Path) -> BadInput:
        """The error for a directory with other options."""
        return BadInput(
            f"{folder} holds {cls.KIND} with other options ({cls.OPTIONS} was changed, or names collide): remove the "
            "directory or choose another --out"
        )

    def write_toml(self, options: Mapping[str, Any]) -> None:
        """Write the options file, unless it is there."""
        path = self.folder / self.OPTIONS
        if not path.exists():
            write_text(path, tomli_w.dumps(options))

    @classmethod
    def read_manifest(cls, folder: Path) -> dict[str, Any]:
        """The manifest of a directory; empty before anything was recorded."""
        path = folder / MANIFEST
        if not path.exists():
            return {"stages": {}}
        with damage_named(path, ValueError, KeyError, TypeError, AttributeError, remedy="remove the directory"):
            manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            _ = manifest["stages"].keys()
        return manifest

    @property
    def manifest(self) -> dict[str, Any]:
        """Provenance, and the cost, file hashes, version and code of each finished stage."""
        return self.read_manifest(self.folder)

    def record(self, **entries: Any) -> None:
        """Add entries to the manifest."""
        manifest = {**self.manifest, **entries}
        manifest["stages"] = manifest.pop("stages")  # last: it is what grows
        write_json(self.folder / MANIFEST, manifest)

    def file_hashes(self) -> dict[str, str]:
        """Hashes of files when their stages ended, by file name; older directories have recorded none."""
        entries = self.manifest["stages"].values()
        return {name: value for entry in entries for name, value in entry.get("files", {}).items()}

    def done(self, stage: str) -> bool:
        """Whether a stage is finished and its files are there; a deleted file is made again."""
        entry = self.manifest["stages"].get(stage)
        return entry is not None and all((self.folder / file).exists() for file in self._files_of(stage, entry))

    def require(self, stage: str) -> None:
        """Raise unless a stage is finished."""
        if not self.done(stage):
            raise NotFound(f"{self.folder}: stage '{stage}' is not finished; {self.remedy(stage)}")

    def remedy(self, stage: str) -> str:
        """How to get a missing stage done."""
        return f"`{self.COMMAND}` with the same options does it"

    def missing_stages(self, stages: Iterable[Stage], wanted: Iterable[str] | None = None) -> list[Stage]:
        """Of a plan, the stages to perform for the wanted ones (None: for all): those that are not done, and those
        that read what will be done again."""
        plan = list(stages)
        missing: set[str] = set()
        for stage in plan:
            if not self.done(stage.name) or not missing.isdisjoint(stage.needs):
                missing.add(stage.name)
        needed = {stage.name for stage in plan} if wanted is None else set(wanted)
        for stage in reversed(plan):
            if stage.name in needed:
                needed |= set(stage.needs)
        return [stage for stage in plan if stage.name in missing & needed]

    def forget_stages(self, stages: Iterable[Stage], names: Iterable[str]) -> None:
        """Of a plan, mark the named stages, and all that read their files, as not done; discard the parts of the
        latter, which were made from files that will be replaced."""
        forgotten = set(names)
        for stage in stages:
            if not forgotten.isdisjoint(stage.needs):
                forgotten.add(stage.name)
                for file in stage.files:
                    Parts(self.folder / file).discard()
        finished = self.manifest["stages"]
        kept = {name: entry for name, entry in finished.items() if name not in forgotten}
        if len(kept) < len(finished):
            self.record(stages=kept)

    @contextmanager
    def session(self, worthless: Callable[[Exception], bool]) -> Iterator[None]:
        """Lock the directory and remove temporary files. If a session that created the directory fails, and nothing in
        it is worth keeping, remove it."""
        created = not self.folder.exists()
        with locked(self.folder):
            remove_temporaries(self.folder)
            try:
                yield
            except Exception as error:
                if created and worthless(error):
                    shutil.rmtree(self.folder)
                raise

    @contextmanager
    def performing(self, stage: Stage, counts: Counts | None = None) -> Iterator[StageCost]:
        """Measure the cost of a stage, and record it as finished when the block ends well."""
        cost = StageCost(self.manifest.get("begun", {}).get(stage.name, {}), counts)
        yield cost
        entry = {**cost.total(), "files": self._hashes(stage), "heedful": __version__, "code": code_fingerprint()}
        self.record(**self._finished(stage, entry))

    def record_begun(self, stage: Stage, cost: StageCost) -> None:
        """Record the cost of an unfinished stage, so that it is not lost when the process is killed."""
        self.record(begun={**self.manifest.get("begun", {}), stage.name: cost.total()})

    @property
    def evidence(self) -> Evidence:
        """The evidence, loaded into memory; `heedful.evidence.read_batches` reads it in parts."""
        self.require("evidence")
        return Evidence.read(self.folder / "evidence.parquet")

    @property
    def importance(self) -> pl.DataFrame:
        """One row per instance and measure (and output): `id`, `measure`, `output`, `values`, `error`."""
        self.require("importance")
        return self._read_parquet("importance.parquet")

    def _read_parquet(self, name: str) -> pl.DataFrame:
        with damage_named(self.folder / name, pl.exceptions.PolarsError):
            return scan_parquet(self.folder / name).collect()

    def _read_json(self, name: str) -> Any:
        with damage_named(self.folder / name, ValueError):
            return json.loads((self.folder / name).read_text(encoding="utf-8"))

    @abstractmethod
    def _files_of(self, stage: str, entry: Mapping[str, Any]) -> Iterable[str]:
        """The files of a finished stage that must be there."""

    def _finished(self, stage: Stage, entry: dict[str, Any]) -> dict[str, Any]:
        """The manifest entries of a stage that has just been finished."""
        manifest = self.manifest
        entries = {"stages": {**manifest["stages"], stage.name: entry}}
        if "begun" in manifest:
            entries["begun"] = {name: cost for name, cost in manifest["begun"].items() if name != stage.name}
        return entries

    def _hashes(self, stage: Stage) -> dict[str, str]:
        names = [*stage.files, *(name for name in stage.optional if (self.folder / name).exists())]
        return {name: content_fingerprint(self.folder / name) for name in names}


@contextmanager
def damage_named(file: Path, *kinds: type[Exception], remedy: str = "delete it") -> Iterator[None]:
    """Turn errors of these kinds into one that names the damaged file."""
    try:
        with panics_as_errors():
            yield
    except (*kinds, RecursionError) as error:
        raise unreadable(file, f" is damaged ({first_line(error)}): {remedy} and run again", error) from error
