"""The configuration of a run: every value that can change its results, complete before anything is computed."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, BadInput, unknown_name
from heedful.experiments.rankings import RANKINGS
from heedful.files import fingerprint
from heedful.importance import MEASURES, RUN_MEASURES
from heedful.models.options import ATTENTIONS, ENCODER_OPTIONS, MODEL_NAMES, Options, TrainingOptions
from heedful.runs.presets import PRESETS, defaults

Section = TypeVar("Section", bound=BaseModel)

WORD2VEC = "word2vec"
_DROPOUT = {"flan": ("item_dropout", "logit_dropout"), "han": ("word_dropout", "item_dropout", "logit_dropout")}


def _of(kind: str, names: tuple[str, ...], valid: tuple[str, ...]) -> tuple[str, ...]:
    """The given names, checked, in their usual order."""
    for name in names:
        if name not in valid:
            raise ValueError(f"there is no {kind} {name!r}; choose from {', '.join(valid)}")
    return tuple(name for name in valid if name in names)


class VocabularyOptions(Options):
    """Which words are kept."""

    min_documents: int = Field(1, ge=1)  # training documents a word must occur in
    min_count: int = Field(1, ge=1)  # how often it must occur in them
    dev: bool = False  # words of the dev split count as well, here and for word2vec

    @property
    def splits(self) -> tuple[str, ...]:
        """Where words are taken from."""
        return ("train", "dev") if self.dev else ("train",)


class EmbeddingOptions(Options):
    """Where word vectors come from."""

    width: int = Field(300, ge=1, le=100_000)
    vectors: str = ""  # a file; "word2vec" trains them on the corpus; empty: none
    missing: Literal["normal", "zero"] = "normal"  # vectors of words that have none
    word2vec_window: int = Field(10, ge=1)
    word2vec_epochs: int = Field(5, ge=1)
    word2vec_min_count: int = Field(2, ge=1)
    word2vec_unknown: bool = False  # words that are not kept are trained as `<unk>`, as Serrano & Smith have it
    word2vec_normalise: bool = False  # vectors of length 1, likewise

    @field_validator("vectors", mode="before")
    @classmethod
    def _path(cls, vectors: Any) -> Any:
        return str(vectors) if isinstance(vectors, Path) else vectors


class ImportanceOptions(Options):
    """How the importance of tokens is measured."""

    measures: tuple[str, ...] = Field(RUN_MEASURES, min_length=1)
    tolerance: float = Field(0.01, gt=0, allow_inf_nan=False)  # the error left in the integral of integrated_gradients

    @field_validator("measures")
    @classmethod
    def _known(cls, measures: tuple[str, ...]) -> tuple[str, ...]:
        return _of("measure", measures, tuple(MEASURES))


class ExperimentOptions(Options):
    """What the experiments compute; which of them are performed is not a matter of the configuration."""

    permutations: int = Field(100, ge=1)
    epsilon: float = Field(0.01, gt=0, lt=1)  # the TVD that adversarial attention may cause
    top: int = Field(0, ge=0)  # items compared by the top-k distance; 0: a tenth of a text, ten at least
    rankings: tuple[str, ...] = Field(RANKINGS, min_length=1)  # in whose order items are removed
    orders: int = Field(5, ge=1)  # of the random ranking
    sample: int = Field(200, ge=0)  # instances that experiments which read texts again are performed on; 0: all
    steps: int = Field(50, ge=1)  # how often they read an instance in one order, at most

    @field_validator("rankings")
    @classmethod
    def _known(cls, rankings: tuple[str, ...]) -> tuple[str, ...]:
        return _of("ranking", rankings, RANKINGS)


class RunConfig(Options):
    """A complete configuration; `resolve` makes one from what a user gives."""

    corpus: str
    model: str = "classifier"
    encoder: str = "bilstm"
    attention: str = "additive"
    preset: str = "paper"
    seed: int = Field(0, ge=0)
    threads: int = Field(1, ge=1, le=1024)
    subset: bool = False
    corpus_options: dict[str, Any] = Field(default_factory=dict)
    vocabulary: VocabularyOptions = VocabularyOptions()
    embedding: EmbeddingOptions = EmbeddingOptions()
    encoder_options: dict[str, Any] = Field(default_factory=dict)
    training: TrainingOptions = TrainingOptions()
    importance: ImportanceOptions = ImportanceOptions()
    experiment_options: ExperimentOptions = ExperimentOptions()

    @property
    def name(self) -> str:
        """The run directory's name: the same configuration is the same directory."""
        short = fingerprint(self.model_dump(mode="json"))[:8]
        model = "" if self.model == "classifier" else f"{self.model}-"
        return f"{self.corpus}-{model}{self.encoder}-{self.attention}-{self.seed}-{short}"

    @property
    def hierarchical(self) -> bool:
        """Whether the items are sentences."""
        return self.model == "han"


def resolve(values: Mapping[str, Any]) -> RunConfig:
    """Complete what a user gave by the preset's defaults for that corpus and encoder, and check every value."""
    chosen = chosen_names(values)
    valid = {
        "corpus": READERS,
        "model": MODEL_NAMES,
        "encoder": ENCODER_OPTIONS,
        "attention": ATTENTIONS,
        "preset": PRESETS,
    }
    for kind, names in valid.items():
        if not isinstance(chosen[kind], str) or chosen[kind] not in names:
            raise unknown_name(kind, str(chosen[kind]), names)
    query = READERS[chosen["corpus"]].query or _asks(values.get("corpus_options"))
    if query and chosen["model"] != "classifier":
        raise BadConfig(
            f"model {chosen['model']} reads no questions, and the texts of corpus {chosen['corpus']} have some: "
            "choose --model classifier"
        )
    base = defaults(chosen["preset"], chosen["corpus"], chosen["model"], chosen["encoder"], query=query)
    config = _check(RunConfig, merge(merge(base, chosen), values), "")
    _check_dropout(config)
    reader = READERS[config.corpus]
    corpus_options = _check(reader.options, config.corpus_options, "corpus_options.")
    if config.hierarchical and not reader.has_sentences(corpus_options):
        raise BadConfig(
            f"model {config.model} reads texts in sentences, and those of corpus {config.corpus} are not cut into any: "
            "choose --model flan, or give the texts as a table of your own (--file), which can be cut"
        )
    encoder_options = _check(ENCODER_OPTIONS[config.encoder], config.encoder_options, "encoder_options.")
    return config.model_copy(
        update={
            "corpus_options": corpus_options.model_dump(mode="json", exclude_none=True),  # TOML has no null
            "encoder_options": encoder_options.model_dump(mode="json"),
        }
    )


def chosen_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """The corpus, model, encoder, attention and preset that a user gave, or the usual ones."""
    usual = {
        "corpus": "planted",
        "model": "classifier",
        "encoder": "bilstm" if values.get("model", "classifier") == "classifier" else "bigru",
        "attention": "additive",
        "preset": "paper",
    }
    return {key: values.get(key, name) for key, name in usual.items()}


def _check_dropout(config: RunConfig) -> None:
    """What a model does not have cannot be set."""
    for name in ("word_dropout", "item_dropout", "logit_dropout"):
        if getattr(config.training, name) and name not in _DROPOUT.get(config.model, ()):
            raise BadConfig(f"training.{name}: model {config.model} has no such dropout; leave it at 0")


def _asks(corpus_options: Any) -> bool:
    """Whether a user's own table was said to have a column of questions."""
    return isinstance(corpus_options, Mapping) and corpus_options.get("query") is not None


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` on top of `base`, table by table."""
    merged = dict(base)
    for key, value in over.items():
        inner = merged.get(key)
        merged[key] = merge(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such configuration file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: not valid TOML ({error})") from error


def to_toml(values: Mapping[str, Any]) -> str:
    """Plain values and one level of tables as TOML; what a configuration needs, and no more."""
    lines = [f"{key} = {_toml_value(value)}" for key, value in values.items() if not isinstance(value, Mapping)]
    for key, table in values.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]", *(f"{name} = {_toml_value(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    return repr(value)


def _check(kind: type[Section], values: Mapping[str, Any], prefix: str) -> Section:
    try:
        return kind(**values)
    except ValidationError as error:
        problem = error.errors()[0]
        key = prefix + ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            raise unknown_name("configuration key", key, _keys(kind, prefix)) from error
        if problem["type"] == "missing":
            raise BadConfig(f"{key} is needed and was not given: set it with --set {key}=...") from error
        reason = problem["msg"].removeprefix("Value error, ")
        raise BadConfig(f"{key} = {problem['input']!r}: {reason[0].lower()}{reason[1:]}") from error


def _keys(kind: type[BaseModel], prefix: str) -> list[str]:
    names = []
    for name, field in kind.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            names += _keys(inner, f"{prefix}{name}.")
        else:
            names.append(prefix + name)
    return names
