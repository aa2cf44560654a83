"""Run: the directory of one trained model, with its evidence and the experiments on it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, unknown_name
from heedful.evidence import decision_counts
from heedful.experiments import EXPERIMENT_NAMES, EXPERIMENTS
from heedful.files import scan_parquet
from heedful.integrity import MANIFEST, checked
from heedful.runs.config import RunConfig, read_config, resolve
from heedful.text.vocabulary import Vocabulary
from heedful.verdict.rule import judge
from heedful.verdict.signals import scan_signals
from heedful.verdict.verdict import Verdict
from heedful.workspace.folder import Stage, StageFolder, damage_named

if TYPE_CHECKING:
    from heedful.models.checkpoint import Checkpoint
    from heedful.models.classifier import Classifier

PLAUSIBILITY = "plausibility"

# in order; each experiment is a stage of its own
STAGES = {
    stage.name: stage
    for stage in (
        Stage("prepare", ("vocabulary.parquet",)),
        Stage("train", ("training.jsonl", "model.safetensors"), ("prepare",)),
        Stage("evidence", ("evidence.parquet", "metrics.json"), ("train",)),
        Stage("importance", ("importance.parquet",), ("evidence",)),
        *(
            Stage(name, (f"results/{name}.parquet",), ("evidence", *{"importance"}.intersection(experiment.needs)))
            for name, experiment in EXPERIMENTS.items()
        ),
        # of runs on a table with rationales; no experiment, because no verdict and no claim about the model rests on it
        Stage(PLAUSIBILITY, (f"results/{PLAUSIBILITY}.parquet",), ("evidence", "importance")),
    )
}


class Run(StageFolder):
    """A run directory, finished or not.

    Files: config.toml, manifest.json, vocabulary.parquet, training.jsonl, model.safetensors, evidence.parquet,
    metrics.json, importance.parquet, results/<experiment>.parquet.
    """

    KIND, OPTIONS, COMMAND = "a run", "config.toml", "heedful run"

    def __init__(self, folder: Path, config: RunConfig) -> None:
        super().__init__(folder)
        self.config = config

    @classmethod
    def at(cls, folder: Path, config: RunConfig) -> "Run":
        """The run of a configuration in a directory that may not exist yet; one with other options is refused."""
        if (folder / cls.OPTIONS).exists() and cls.open(folder).config != config:
            raise cls.other_options(folder)
        return cls(folder, config)

    @classmethod
    def open(cls, folder: Path | str) -> "Run":
        """Open an existing run."""
        folder = Path(folder)
        file = cls.options_path(folder)
        try:
            return cls(folder, resolve(read_config(file)))
        except BadConfig as error:
            raise BadConfig(f"{file}: {error}") from error

    @classmethod
    def read_manifest(cls, folder: Path) -> dict[str, Any]:
        """The manifest of a run directory; it names the classes as soon as a stage is done."""
        manifest = super().read_manifest(folder)
        if manifest["stages"]:
            with damage_named(folder / MANIFEST, KeyError, TypeError, remedy="remove the directory"):
                _ = manifest["corpus"]["classes"]
        return manifest

    @property
    def private(self) -> bool:
        """Whether only its owner can read the directory, or should because the corpus is restricted."""
        return super().private or READERS[self.config.corpus].restricted

    @classmethod
    def stages_of(cls, manifest: Mapping[str, Any]) -> Iterable[Stage]:
        """All stages, whether they are done or not."""
        return STAGES.values()

    def write_config(self) -> None:
        """Write config.toml, unless it is there."""
        self.write_toml(self.config.model_dump(mode="json", exclude_none=True))

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def origin(self) -> Path:
        """The directory in which findings about the run are kept."""
        return self.folder

    def not_performed(self, stage: str) -> str:
        """What to say of an experiment that was not performed."""
        return f"was not performed; {self.remedy(stage)}"

    def remedy(self, stage: str) -> str:
        """How to get a missing stage done."""
        option = f" and --experiments {stage}" if stage in EXPERIMENT_NAMES else ""
        option = " and --rationales" if stage == PLAUSIBILITY else option
        return f"`{self.COMMAND}` with the same options{option} does it"

    def done(self, stage: str) -> bool:
        """Whether a stage is finished and its files are there; a deleted file is made again."""
        # the first word vectors are kept only until a model is trained from them
        return super().done(stage) and (stage != "prepare" or self.done("train") or self.checkpoint.first.exists())

    def missing(self, wanted: Iterable[str]) -> list[str]:
        """The stages to perform for the wanted ones."""
        return [stage.name for stage in self.missing_stages(STAGES.values(), wanted)]

    def forget(self, stages: Iterable[str]) -> None:
        """Mark stages, and all that read their files, as not done."""
        self.forget_stages(STAGES.values(), stages)

    @property
    def metrics(self) -> dict[str, Any]:
        """Test and dev metrics."""
        self.require("evidence")
        metrics: dict[str, Any] = self._read_json("metrics.json")
        return metrics

    def results(self, experiment: str) -> pl.DataFrame:
        """The results of an experiment, one row per instance; `heedful.experiments.summary` summarises them."""
        if experiment not in (*EXPERIMENT_NAMES, PLAUSIBILITY):  # of any type
            raise unknown_name("experiment", str(experiment), EXPERIMENT_NAMES)
        self.require(experiment)
        return self._read_parquet(STAGES[experiment].file)

    @property
    def verdict(self) -> Verdict:
        """May this attention be shown as an explanation? Judged from the experiments that were performed."""
        done = [name for name in EXPERIMENT_NAMES if self.done(name)]
        with damage_named(self.folder / "results", pl.exceptions.PolarsError):
            found = scan_signals({name: scan_parquet(self.folder / STAGES[name].file) for name in done})
        return judge(found, classes=self.classes, population=decision_counts(self.folder / "evidence.parquet"))

    @property
    def history(self) -> pl.DataFrame:
        """One row per epoch."""
        self.require("train")
        with damage_named(self.folder / "training.jsonl", pl.exceptions.PolarsError, TypeError, ValueError):
            return pl.DataFrame(self.epochs())

    def epochs(self) -> list[dict[str, Any]]:
        """The records of training.jsonl."""
        file = self.folder / "training.jsonl"
        with damage_named(file, ValueError):
            return [json.loads(line) for line in checked(file).read_text(encoding="utf-8").splitlines()]

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that the model knows."""
        self.require("prepare")
        return Vocabulary.read(self.folder / "vocabulary.parquet")

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names."""
        self.require("prepare")
        return tuple(self.manifest["corpus"]["classes"])

    @property
    def corpus_label(self) -> str:
        """The corpus's name to print, marked if it is a subset."""
        return self.config.corpus + (" (subset)" if self.manifest["corpus"]["subset"] else "")

    @property
    def model_label(self) -> str:
        """The model to print: encoder and attention, and its kind if it is not the default."""
        config = self.config
        kind = "" if config.model == "classifier" else f"{config.model}, "
        return f"{kind}{config.encoder} + {config.attention}"

    @property
    def item(self) -> str:
        """What the model attends to."""
        return "sentence" if self.config.hierarchical else "word"

    @property
    def checkpoint(self) -> "Checkpoint":
        """The state that an unfinished training resumes from."""
        from heedful.models.checkpoint import Checkpoint

        return Checkpoint(self.folder / ".checkpoint")

    def discard_checkpoint(self) -> None:
        """Remove the state of an unfinished training."""
        if (self.folder / ".checkpoint").exists():
            self.checkpoint.remove()

    def model(self) -> "Classifier":
        """The trained model."""
        from heedful.models.checkpoint import read_tensors
        from heedful.runs.model_setup import build_model

        self.require("train")
        file = self.folder / "model.safetensors"
        tensors, _ = read_tensors(file)
        with damage_named(file, KeyError, RuntimeError):
            queries = tensors.get("question.embedding")
            model = build_model(
                self.config,
                embedding=tensors["embedding"].numpy(),
                classes=self.classes,
                query_embedding=None if queries is None else queries.numpy(),
            )
            model.load_state_dict(tensors)
        return model.eval()

    def check(self) -> None:
        """Raise if a file that a report reads is damaged, or cannot be read down to its last row."""
        for name in self.file_hashes():
            if not name.endswith(".safetensors"):
                checked(self.folder / name)
        _ = self.metrics
        with damage_named(self.folder / MANIFEST, LookupError, TypeError, ValueError, remedy="remove the directory"):
            _ = self.classes, self.corpus_label, [dict(entry) for entry in self.manifest["stages"].values()]
        for name, stage in STAGES.items():
            if name not in ("prepare", "train") and self.done(name):
                file = self.folder / stage.file
                with damage_named(file, pl.exceptions.PolarsError):
                    for _ in scan_parquet(file).collect_batches(engine="streaming"):
                        pass  # it can be decoded from beginning to end

    def _files_of(self, stage: str, entry: Mapping[str, Any]) -> Iterable[str]:
        return STAGES[stage].files
