"""Audit: a directory with everything that was asked of a model's attention, what came out, and the verdict."""

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from heedful.audits.plan import AuditOptions, Stage, result_file
from heedful.errors import BadInput, NotFound, unknown_name
from heedful.evidence import Evidence
from heedful.files import Parts, replaced, scan_parquet, write_json, write_text
from heedful.runs.config import read_toml, to_toml
from heedful.runs.directory import damage_named
from heedful.verdict.verdict import Verdict

OPTIONS = "audit.toml"
AGAIN = "`heedful audit` with the same options goes on"


class Audit:
    """An audit directory, finished or not.

    Files: audit.toml, manifest.json, texts.parquet (where there is a model), evidence.parquet, metrics.json,
    importance.parquet, results/<test>.parquet, signals.parquet, verdict.json, card.html.
    """

    def __init__(self, folder: Path, options: AuditOptions) -> None:
        self.folder, self.options = folder, options

    @classmethod
    def at(cls, folder: Path, options: AuditOptions) -> "Audit":
        """The audit of some options, there or not; a directory of other ones is refused."""
        if (folder / OPTIONS).exists() and cls.load(folder).options.name != options.name:
            raise BadInput(
                f"{folder} holds an audit with other options ({OPTIONS} was changed, or names collide): remove the "
                "directory or choose another --out"
            )
        return cls(folder, options)

    @classmethod
    def load(cls, folder: Path | str) -> "Audit":
        """An audit that is there."""
        folder = Path(folder)
        if not (folder / OPTIONS).is_file():
            raise NotFound(f"{folder} is no audit directory: it has no {OPTIONS}; `heedful audit` makes one")
        with damage_named(folder / OPTIONS, ValueError, TypeError):
            return cls(folder, AuditOptions(**_nested(read_toml(folder / OPTIONS))))

    def save(self, folder: Path | str) -> "Audit":
        """A copy in another directory, which must not be there yet."""
        folder = Path(folder)
        if folder.exists():
            raise BadInput(f"{folder} is there already; choose another place")
        with replaced(folder) as new:
            shutil.copytree(self.folder, new, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        return Audit(folder, self.options)

    def write_options(self) -> None:
        """Write audit.toml, if it is not there yet."""
        if not (self.folder / OPTIONS).exists():
            values = self.options.model_dump(mode="json", exclude_none=True)
            about = values["model"].pop("about")
            values["about"] = {"json": json.dumps(about, ensure_ascii=False, sort_keys=True)}
            write_text(self.folder / OPTIONS, to_toml(values))

    @property
    def manifest(self) -> dict[str, Any]:
        """Provenance and cost: versions, facts about the data, seconds, memory and readings of each stage."""
        file = self.folder / "manifest.json"
        if not file.exists():
            return {"stages": {}}
        with damage_named(file, ValueError, TypeError, KeyError):
            manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            _ = manifest["stages"].keys()
        return manifest

    def record(self, **entries: Any) -> None:
        """Add entries to the manifest."""
        manifest = {**self.manifest, **entries}
        manifest["stages"] = manifest.pop("stages")  # last: it is what grows
        write_json(self.folder / "manifest.json", manifest)

    def done(self, stage: str) -> bool:
        """Whether a stage is finished and its file is there."""
        file = self.manifest["stages"].get(stage, {}).get("file")
        return file is not None and (self.folder / file).exists()

    def missing(self, stages: Sequence[Stage]) -> list[Stage]:
        """The stages to do: those that are not done, and those that read what will be done anew."""
        open_: dict[str, Stage] = {}
        for stage in stages:
            if not self.done(stage.name) or not open_.keys().isdisjoint(stage.needs):
                open_[stage.name] = stage
        return list(open_.values())

    def forget(self, stages: Iterable[Stage]) -> None:
        """Let stages not count as done; what those have begun that read a file which will be made anew is void."""
        stages = list(stages)
        names = {stage.name for stage in stages}
        for stage in stages:
            if not names.isdisjoint(stage.needs):
                Parts(self.folder / stage.file).discard()
        kept = {name: cost for name, cost in self.manifest["stages"].items() if name not in names}
        if len(kept) < len(self.manifest["stages"]):
            self.record(stages=kept)

    @property
    def verdict(self) -> Verdict:
        """May the map be shown as an explanation? The answer, criterion by criterion, and instance by instance."""
        self.require("verdict")
        file = self.folder / "verdict.json"
        with damage_named(file, ValueError, KeyError, TypeError):
            return Verdict.from_json(json.loads(file.read_text(encoding="utf-8")))

    @property
    def metrics(self) -> dict[str, Any]:
        """How well the model classifies these texts; empty where no label is known."""
        self.require("evidence")
        file = self.folder / "metrics.json"
        with damage_named(file, ValueError):
            metrics: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        return metrics

    @property
    def evidence(self) -> Evidence:
        """The evidence, all of it in memory; `heedful.evidence.read_batches` reads it in parts."""
        self.require("evidence")
        return Evidence.read(self.folder / "evidence.parquet")

    @property
    def importance(self) -> pl.DataFrame:
        """One row an instance and measure (and output): `id`, `measure`, `output`, `values`, `error`."""
        return self._frame("importance")

    @property
    def signals(self) -> pl.DataFrame:
        """What the tests say of each instance, as the rule of the verdict reads it."""
        return self._frame("signals")

    @property
    def tests(self) -> list[str]:
        """The tests that were performed."""
        stages = self.manifest["stages"]
        return sorted(name for name in stages if stages[name]["file"] == result_file(name) and self.done(name))

    def results(self, test: str) -> pl.DataFrame:
        """A test's frame, one row an instance; `heedful.experiments.summary` sums it up."""
        if test not in self.tests:
            raise unknown_name("test of this audit", str(test), self.tests)
        return self._frame(test)

    def report(self, path: Path | str) -> Path:
        """Write the card, one page that can be printed: HTML with nothing to load and nothing to run."""
        from heedful.audits.card import card

        path = Path(path)
        path = path / "card.html" if path.is_dir() else path
        write_text(path, card(self))
        return path

    def require(self, stage: str) -> None:
        """Raise unless a stage is finished."""
        if not self.done(stage):
            raise NotFound(f"{self.folder}: '{stage}' is not there, or not finished; {AGAIN}")

    def __repr__(self) -> str:
        answer = self.verdict.answer if self.done("verdict") else "unfinished"
        return f"Audit({str(self.folder)!r}: {answer})"

    def _repr_html_(self) -> str:
        from heedful.audits.card import excerpt

        return excerpt(self)

    def _frame(self, stage: str) -> pl.DataFrame:
        self.require(stage)
        file = self.folder / self.manifest["stages"][stage]["file"]
        with damage_named(file, pl.exceptions.PolarsError):
            return scan_parquet(file).collect()


def _nested(values: dict[str, Any]) -> dict[str, Any]:
    about = values.pop("about", {"json": "{}"})
    values["model"] = {**values["model"], "about": json.loads(about["json"])}
    return values
