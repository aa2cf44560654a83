"""Audit: the directory of one audited model, with the evidence, the tests on it and the verdict."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from heedful.audits.plan import AuditOptions, plan_of, result_file
from heedful.errors import BadInput, unknown_name
from heedful.evidence import decision_counts
from heedful.files import replaced, scan_parquet, write_text
from heedful.privacy import owner_only
from heedful.runs.config import read_toml
from heedful.verdict.rule import judge
from heedful.verdict.signals import scan_signals
from heedful.verdict.verdict import Verdict
from heedful.workspace.folder import Stage, StageFolder, damage_named

OPTIONS = "audit.toml"
CARD = "card.html"


class Audit(StageFolder):
    """An audit directory, finished or not.

    Files: audit.toml, manifest.json, texts.parquet (where there is a model), evidence.parquet, metrics.json,
    importance.parquet, results/<test>.parquet, signals.parquet, verdict.json, instances.parquet,
    instances.csv, card.html.
    """

    KIND, OPTIONS, COMMAND = "an audit", OPTIONS, "heedful audit"

    def __init__(self, folder: Path, options: AuditOptions) -> None:
        super().__init__(folder)
        self.options = options

    @classmethod
    def at(cls, folder: Path, options: AuditOptions) -> "Audit":
        """The audit with these options in a directory that may not exist yet; one with other options is refused."""
        if (folder / cls.OPTIONS).exists() and cls.load(folder).options.name != options.name:
            raise cls.other_options(folder)
        return cls(folder, options)

    @classmethod
    def load(cls, folder: Path | str) -> "Audit":
        """Open an existing audit."""
        folder = Path(folder)
        file = cls.options_path(folder)
        with damage_named(file, ValueError, TypeError, KeyError):
            values = read_toml(file)
            about = values.pop("about", {"json": "{}"})
            values["model"] = {**values["model"], "about": json.loads(about["json"])}
            return cls(folder, AuditOptions(**values))

    @classmethod
    def stages_of(cls, manifest: Mapping[str, Any]) -> Iterable[Stage]:
        """The stages that were done. Which others they read is not recorded: as many as in any audit."""
        done = manifest["stages"]
        return (stage for stage in plan_of(done) if stage.name in done)

    def save(self, folder: Path | str) -> "Audit":
        """Copy the audit to another directory, which must not exist."""
        folder = Path(folder)
        if folder.exists():
            raise BadInput(f"{folder} exists already; choose another place")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with owner_only(self.private), replaced(folder) as new:
            shutil.copytree(self.folder, new, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        return Audit(folder, self.options)

    def write_options(self) -> None:
        """Write audit.toml, unless it is there."""
        values = self.options.model_dump(mode="json", exclude_none=True)
        about = values["model"].pop("about")  # as JSON: TOML has no null
        values["about"] = {"json": json.dumps(about, ensure_ascii=False, sort_keys=True)}
        self.write_toml(values)

    @property
    def verdict(self) -> Verdict:
        """May the attention map be shown as an explanation? The answer, by criterion and by instance."""
        if self.outdated:
            return self._judged_again()
        with damage_named(self.folder / "verdict.json", ValueError, KeyError, TypeError):
            return Verdict.from_json(self._read_json("verdict.json"), scan_parquet(self.folder / "instances.parquet"))

    @property
    def outdated(self) -> bool:
        """Whether an earlier version judged this audit, by criteria that are no longer in use."""
        self.require("verdict")
        with damage_named(self.folder / "verdict.json", TypeError):
            return "classes" not in self._read_json("verdict.json")

    def _judged_again(self) -> Verdict:
        """By the present rule, from the tests that the earlier version performed."""
        frames = {name: scan_parquet(self.folder / result_file(name)) for name in self.tests}
        found = scan_signals(frames)
        population = decision_counts(self.folder / "evidence.parquet")
        return judge(found, classes=self.options.model.classes, population=population)

    @property
    def metrics(self) -> dict[str, Any]:
        """Classification metrics of the model on these texts; empty without labels."""
        self.require("evidence")
        metrics: dict[str, Any] = self._read_json("metrics.json") if (self.folder / "metrics.json").exists() else {}
        return metrics

    @property
    def signals(self) -> pl.DataFrame:
        """The outcomes of the tests, one row per instance, from which the verdict is derived."""
        return self._frame("signals")

    @property
    def tests(self) -> list[str]:
        """The tests that were performed."""
        stages = self.manifest["stages"]
        return sorted(name for name in stages if stages[name]["file"] == result_file(name) and self.done(name))

    def results(self, test: str) -> pl.DataFrame:
        """The results of a test, one row per instance; `heedful.experiments.summary` summarises them."""
        if test not in self.tests:
            raise unknown_name("test of this audit", str(test), self.tests)
        return self._frame(test)

    def report(self, path: Path | str) -> Path:
        """Write the audit card: one printable HTML page without scripts or external files."""
        from heedful.audits.card import card

        path = Path(path)
        path = path / CARD if path.is_dir() else path
        with owner_only(self.private):
            if path.resolve() == (self.folder / CARD).resolve():
                self.write_recorded(CARD, card(self))
            else:
                write_text(path, card(self))
            write_text(path, card(self))
        return path

    def __repr__(self) -> str:
        answer = self.verdict.answer if self.done("verdict") else "unfinished"
        return f"Audit({str(self.folder)!r}: {answer})"

    def _repr_html_(self) -> str:
        from heedful.audits.card import excerpt

        return excerpt(self)

    def _frame(self, stage: str) -> pl.DataFrame:
        self.require(stage)
        return self._read_parquet(self.manifest["stages"][stage]["file"])

    def _files_of(self, stage: str, entry: Mapping[str, Any]) -> Iterable[str]:
        return tuple(entry.get("files", (entry["file"],)))  # older versions recorded one file only

    def _finished(self, stage: Stage, entry: dict[str, Any]) -> dict[str, Any]:
        return super()._finished(stage, {"file": stage.file, **entry})
