"""Run: a directory with everything one model was, did and showed."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from heedful.errors import BadConfig, BadInput, NotFound, unknown_name
from heedful.evidence import Evidence
from heedful.experiments import EXPERIMENT_NAMES
from heedful.files import Parts, scan_parquet, write_json, write_text
from heedful.runs.config import RunConfig, read_toml, resolve, to_toml
from heedful.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from heedful.models.checkpoint import Checkpoint
    from heedful.models.classifier import Classifier


class Stage(NamedTuple):
    """A step of a run."""

    files: tuple[str, ...]  # that it leaves
    needs: tuple[str, ...]  # stages whose files it reads


# in their order; each experiment is a stage of its own
STAGES = {
    "prepare": Stage(("vocabulary.parquet",), ()),
    "train": Stage(("training.jsonl", "model.safetensors"), ("prepare",)),
    "evidence": Stage(("evidence.parquet", "metrics.json"), ("train",)),
    "importance": Stage(("importance.parquet",), ("evidence",)),
    **{name: Stage((f"results/{name}.parquet",), ("evidence",)) for name in EXPERIMENT_NAMES},
    "correlation": Stage(("results/correlation.parquet",), ("evidence", "importance")),
}


class Run:
    """A run directory, finished or not.

    Files: config.toml, manifest.json, vocabulary.parquet, training.jsonl, model.safetensors, evidence.parquet,
    metrics.json, importance.parquet, results/<experiment>.parquet.
    """

    def __init__(self, folder: Path, config: RunConfig) -> None:
        self.folder = folder
        self.config = config

    @classmethod
    def at(cls, folder: Path, config: RunConfig) -> "Run":
        """The run of a configuration, there or not; another configuration's directory is refused."""
        if (folder / "config.toml").exists() and cls.open(folder).config != config:
            raise BadInput(
                f"{folder} holds a run of another configuration (config.toml was changed, or names collide): "
                "remove the directory or choose another --out"
            )
        return cls(folder, config)

    def write_config(self) -> None:
        """Write config.toml, if it is not there yet."""
        file = self.folder / "config.toml"
        if not file.exists():
            write_text(file, to_toml(self.config.model_dump(mode="json", exclude_none=True)))

    @classmethod
    def open(cls, folder: Path | str) -> "Run":
        """A run that is there."""
        folder = Path(folder)
        if not (folder / "config.toml").is_file():
            raise NotFound(f"{folder} is no run directory: it has no config.toml; `heedful run` makes one")
        try:
            return cls(folder, resolve(read_toml(folder / "config.toml")))
        except BadConfig as error:
            raise BadConfig(f"{folder / 'config.toml'}: {error}") from error

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @property
    def origin(self) -> Path:
        """The directory in which findings about the run are kept."""
        return self.folder

    @property
    def manifest(self) -> dict[str, Any]:
        """Provenance and cost: seed, versions, fingerprints, seconds and memory of each stage."""
        return read_manifest(self.folder)

    def record(self, **entries: Any) -> None:
        """Add entries to the manifest."""
        manifest = {**self.manifest, **entries}
        manifest["stages"] = manifest.pop("stages")  # last: it is what grows
        write_json(self.folder / "manifest.json", manifest)

    def undone(self, stage: str) -> str:
        """What to say of an experiment that was not performed."""
        return f"was not performed; `heedful run` with the same options and --experiments {stage} does it"

    def done(self, stage: str) -> bool:
        """Whether a stage is finished and its files are there; a file that was deleted is made again."""
        files = STAGES[stage].files
        if stage not in self.manifest["stages"] or not all((self.folder / file).exists() for file in files):
            return False
        # the first word vectors are kept only until a model is trained from them
        return stage != "prepare" or self.done("train") or self.checkpoint.first.exists()

    def missing(self, wanted: Iterable[str]) -> list[str]:
        """The stages to do for the wanted ones: those that are not done, and those that read what will be done anew."""
        open_: set[str] = set()
        for stage, (_, needs) in STAGES.items():
            if not self.done(stage) or not open_.isdisjoint(needs):
                open_.add(stage)
        asked = set(wanted)
        for stage in reversed(STAGES):
            if stage in asked:
                asked |= set(STAGES[stage].needs)
        return [stage for stage in STAGES if stage in open_ & asked]

    def forget(self, stages: Iterable[str]) -> None:
        """Let stages, and all that read their files, not count as done any more; what the latter have begun is void."""
        gone = set(stages)
        for stage, (files, needs) in STAGES.items():
            if not gone.isdisjoint(needs):
                gone.add(stage)
                for file in files:
                    Parts(self.folder / file).discard()
        kept = {stage: cost for stage, cost in self.manifest["stages"].items() if stage not in gone}
        if len(kept) < len(self.manifest["stages"]):
            self.record(stages=kept)

    @property
    def metrics(self) -> dict[str, Any]:
        """Test and dev metrics."""
        self.require("evidence")
        file = self.folder / "metrics.json"
        with damage_named(file, ValueError):
            metrics: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return metrics

    @property
    def evidence(self) -> Evidence:
        """The evidence of the test split, all of it in memory; `heedful.evidence.read_batches` reads it in parts."""
        self.require("evidence")
        return Evidence.read(self.folder / "evidence.parquet")

    @property
    def importance(self) -> pl.DataFrame:
        """One row an instance and measure (and output): `id`, `measure`, `output`, `values`, `error`."""
        self.require("importance")
        return self._frame("importance.parquet")

    def results(self, experiment: str) -> pl.DataFrame:
        """An experiment's frame, one row an instance; `heedful.experiments.summary` sums it up."""
        if experiment not in EXPERIMENT_NAMES:  # whatever type was given
            raise unknown_name("experiment", str(experiment), EXPERIMENT_NAMES)
        self.require(experiment)
        return self._frame(STAGES[experiment].files[0])

    def _frame(self, name: str) -> pl.DataFrame:
        with damage_named(self.folder / name, pl.exceptions.PolarsError):
            return scan_parquet(self.folder / name).collect()

    @property
    def history(self) -> pl.DataFrame:
        """One row an epoch."""
        self.require("train")
        return pl.DataFrame(self.epochs())

    def epochs(self) -> list[dict[str, Any]]:
        """The records of training.jsonl."""
        file = self.folder / "training.jsonl"
        with damage_named(file, ValueError):
            return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]

    @property
    def vocabulary(self) -> Vocabulary:
        """The words the model knows."""
        self.require("prepare")
        return Vocabulary.read(self.folder / "vocabulary.parquet")

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names."""
        self.require("prepare")
        return tuple(self.manifest["corpus"]["classes"])

    @property
    def corpus_label(self) -> str:
        """The corpus's name to print: a subset is called one."""
        return self.config.corpus + (" (subset)" if self.manifest["corpus"]["subset"] else "")

    @property
    def model_label(self) -> str:
        """The model to print: its kind, unless it is the usual one, encoder and attention."""
        config = self.config
        kind = "" if config.model == "classifier" else f"{config.model}, "
        return f"{kind}{config.encoder} + {config.attention}"

    @property
    def checkpoint(self) -> "Checkpoint":
        """Where an unfinished training goes on."""
        from heedful.models.checkpoint import Checkpoint

        return Checkpoint(self.folder / ".checkpoint")

    def discard_checkpoint(self) -> None:
        """Forget what an unfinished run needed to go on."""
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
        """Raise if evidence, importance or a result that is there cannot be read."""
        _ = self.metrics
        for name, stage in STAGES.items():
            if name not in ("prepare", "train") and self.done(name):
                file = self.folder / stage.files[0]
                with damage_named(file, pl.exceptions.PolarsError):
                    scan_parquet(file).collect_schema()

    def require(self, stage: str) -> None:
        """Raise unless a stage is finished."""
        if not self.done(stage):
            ask = f" and --experiments {stage}" if stage in EXPERIMENT_NAMES else ""
            raise NotFound(
                f"{self.folder}: stage '{stage}' is not finished; `heedful run` with the same options{ask} does it"
            )


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run directory; before the first stage is done there may be none."""
    file = folder / "manifest.json"
    if not file.exists():
        return {"stages": {}}
    try:
        manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if manifest["stages"].keys():  # once a stage is done, the corpus is known
            manifest["corpus"]["classes"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{file} is damaged ({error}): remove the directory and run again") from error
    return manifest


@contextmanager
def damage_named(file: Path, *kinds: type[Exception]) -> Iterator[None]:
    """Turn what a damaged file of a run leads to into an error that says what to do."""
    try:
        yield
    except kinds as error:
        raise BadInput(f"{file} is damaged ({error}): delete it and run again") from error
