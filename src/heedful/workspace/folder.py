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
from heedful.files import Parts, locked, remove_temporaries, scan_parquet, write_text
from heedful.integrity import (
    MANIFEST,
    bytes_fingerprint,
    checked,
    known_fingerprint,
    recorded_hashes,
    sealed,
    unsealed,
)
from heedful.privacy import is_private, make_private, owner_only
from heedful.progress import seconds_since
from heedful.version import __version__
from heedful.workspace.environment import code_fingerprint, peak_memory


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
        self._started, self._first = time.monotonic(), counts() if counts else {}
        self.instances = 0

    def total(self) -> dict[str, Any]:
        """The cost so far, earlier sessions included."""
        seconds = self._earlier.get("seconds", 0.0) + seconds_since(self._started)
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
        """The options file of a directory; raises if there is none, or if it is damaged."""
        path = folder / cls.OPTIONS
        if not path.is_file():
            raise NotFound(f"{folder} is not {cls.KIND} directory: it has no {cls.OPTIONS}; `{cls.COMMAND}` makes one")
        return checked(path)

    @classmethod
    def other_options(cls, folder: Path) -> BadInput:
        """The error for a directory with other options."""
        return BadInput(
            f"{folder} holds {cls.KIND} with other options ({cls.OPTIONS} was changed, or names collide): remove the "
            "directory or choose another --out"
        )

    def write_toml(self, options: Mapping[str, Any]) -> None:
        """Write the options file, unless it is there."""
        if not (self.folder / self.OPTIONS).exists():
            self.write_recorded(self.OPTIONS, tomli_w.dumps(options))
        elif self.OPTIONS not in self.file_hashes():  # of an older version, or the process was killed
            self._record_file(self.OPTIONS, known_fingerprint(self.folder / self.OPTIONS))

    def write_recorded(self, name: str, text: str) -> None:
        """Write a file that no stage leaves. Its hash is recorded first, so that a kill leaves no file but one that
        will be written again."""
        self._record_file(name, bytes_fingerprint(text.encode()))
        write_text(self.folder / name, text)

    def intact(self, name: str) -> bool:
        """Whether a file is there, and as it was recorded, if it was."""
        path, recorded = self.folder / name, self.file_hashes().get(name)
        return path.exists() and recorded in (None, known_fingerprint(path))

    @classmethod
    def read_manifest(cls, folder: Path) -> dict[str, Any]:
        """The manifest of a directory; empty before anything was recorded."""
        path = folder / MANIFEST
        if not path.exists():
            return {"stages": {}}
        with damage_named(path, ValueError, KeyError, TypeError, AttributeError, remedy="remove the directory"):
            manifest, _ = unsealed(path.read_bytes())
            _ = recorded_hashes(manifest)
        return manifest

    @property
    def manifest(self) -> dict[str, Any]:
        """Provenance, and the cost, file hashes, version and code of each finished stage."""
        return self.read_manifest(self.folder)

    def record(self, **entries: Any) -> None:
        """Add entries to the manifest."""
        manifest = {**self.manifest, **entries}
        manifest["stages"] = manifest.pop("stages")  # last: it is what grows
        write_text(self.folder / MANIFEST, sealed(manifest))

    def file_hashes(self) -> dict[str, str]:
        """Hashes of files when they were written, by file name; older directories have recorded none."""
        return recorded_hashes(self.manifest)

    def done(self, stage: str) -> bool:
        """Whether a stage is finished and its files are there; a deleted file is made again."""
        entry = self.manifest["stages"].get(stage)
        return entry is not None and all((self.folder / file).exists() for file in self._files_of(stage, entry))

    @property
    def private(self) -> bool:
        """Whether only its owner can read the directory, so that the same should hold for what is made from it."""
        return is_private(self.folder)

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

    def delete_stages(self, names: Iterable[str]) -> list[str]:
        """Mark the named stages, and all that read their files, as not done, and delete their files; which."""
        stages, before = list(self.stages_of(self.manifest)), list(self.manifest["stages"])
        self.forget_stages(stages, names)
        gone = [name for name in before if name not in self.manifest["stages"]]
        for stage in stages:
            if stage.name in gone:
                for file in (*stage.files, *stage.optional):
                    delete_file(self.folder, file)
        return gone

    @contextmanager
    def session(self, worthless: Callable[[Exception], bool], *, private: bool = False) -> Iterator[None]:
        """Lock the directory and remove temporary files. If a session that created the directory fails, and nothing in
        it is worth keeping, remove it. `private`: from now on only its owner can read it."""
        created = not self.folder.exists()
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with owner_only(private or self.private), locked(self.folder):
            if private:
                make_private(self.folder)
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
            return json.loads(checked(self.folder / name).read_text(encoding="utf-8"))

    def _record_file(self, name: str, digest: str) -> None:
        self.record(files={**self.manifest.get("files", {}), name: digest})

    @classmethod
    @abstractmethod
    def stages_of(cls, manifest: Mapping[str, Any]) -> Iterable[Stage]:
        """The stages of a directory with this manifest, in an order in which they can be done."""

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
        return {name: known_fingerprint(self.folder / name) for name in names}


def delete_file(folder: Path, name: str) -> None:
    """Delete a file of a directory, if it is there; not through a symbolic link."""
    path = folder / name
    if path.parent.is_symlink() and path.parent != folder:
        raise BadInput(f"{path.parent} is a symbolic link, and {name} is not deleted through it: delete it yourself")
    path.unlink(missing_ok=True)


@contextmanager
def damage_named(file: Path, *kinds: type[Exception], remedy: str = "delete it") -> Iterator[None]:
    """Turn errors of these kinds into one that names the damaged file."""
    expected: tuple[type[Exception], ...] = (*kinds, RecursionError)
    try:
        with panics_as_errors():
            yield
    except expected as error:
        raise unreadable(file, f" is damaged ({first_line(error)}): {remedy} and run again", error) from error
