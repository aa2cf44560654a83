"""The configuration of a run: every value that its results depend on, complete before anything is computed."""

import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
)

from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, BadInput, resource_limit, unknown_name
from heedful.experiments.rankings import RANKINGS
from heedful.files import fingerprint
from heedful.importance import MEASURES, RUN_MEASURES
from heedful.models.options import ATTENTIONS, ENCODER_OPTIONS, MODEL_NAMES, Options, TrainingOptions
from heedful.runs.presets import PRESETS, defaults
from heedful.text.tokenising import SPACY

Section = TypeVar("Section", bound=BaseModel)

WORD2VEC = "word2vec"
SAMPLE = 200  # instances, by default
VALID_NAMES: dict[str, Collection[str]] = {
    "corpus": READERS,
    "model": MODEL_NAMES,
    "encoder": ENCODER_OPTIONS,
    "attention": ATTENTIONS,
    "preset": PRESETS,
}
_DROPOUT = {"flan": ("item_dropout", "logit_dropout"), "han": ("word_dropout", "item_dropout", "logit_dropout")}


def _known_names(kind: str, names: tuple[str, ...], valid: tuple[str, ...]) -> tuple[str, ...]:
    """The given names, checked, in canonical order."""
    for name in names:
        if name not in valid:
            raise ValueError(f"there is no {kind} {name!r}; choose from {', '.join(valid)}")
    return tuple(name for name in valid if name in names)


class VocabularyOptions(Options):
    """Which words are kept."""

    min_documents: int = Field(1, ge=1)  # training documents that a word must occur in
    min_count: int = Field(1, ge=1)  # occurrences in them
    dev: bool = False  # use the dev split as well, here and for word2vec

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that words are taken from."""
        return ("train", "dev") if self.dev else ("train",)


class EmbeddingOptions(Options):
    """Where word vectors come from."""

    width: int = Field(300, ge=1, le=100_000)
    vectors: str = ""  # a file, or "word2vec": trained on the corpus; empty: none
    missing: Literal["normal", "zero"] = "normal"  # vectors of words without one
    word2vec_window: int = Field(10, ge=1)
    word2vec_epochs: int = Field(5, ge=1)
    word2vec_min_count: int = Field(2, ge=1)
    word2vec_unknown: bool = False  # train a vector for `<unk>` from rare words, as Serrano & Smith do
    word2vec_normalise: bool = False  # scale vectors to length 1, likewise

    @field_validator("vectors", mode="before")
    @classmethod
    def _path(cls, vectors: Any) -> Any:
        return str(vectors) if isinstance(vectors, Path) else vectors


class ImportanceOptions(Options):
    """How the importance of tokens is measured."""

    measures: tuple[str, ...] = Field(RUN_MEASURES, min_length=1)
    tolerance: float = Field(0.01, gt=0, allow_inf_nan=False)  # error of integrated gradients
    # how close to the whole text's states those after a deleted token count as the same, in long texts; 0: exact
    leave_one_out_tolerance: float = Field(0.0, ge=0, allow_inf_nan=False)

    @field_validator("measures")
    @classmethod
    def _known(cls, measures: tuple[str, ...]) -> tuple[str, ...]:
        return _known_names("measure", measures, tuple(MEASURES))

    @model_serializer(mode="wrap")
    def _set(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without an option that is off: runs keep the names that they had before there was one."""
        values: dict[str, Any] = dump(self)
        if not self.leave_one_out_tolerance:
            values.pop("leave_one_out_tolerance", None)
        return values


class ExperimentOptions(Options):
    """Options of the experiments; which of them are performed is not part of the configuration."""

    permutations: int = Field(100, ge=1)
    epsilon: float = Field(0.01, gt=0, lt=1)  # TVD of outputs that adversarial attention may cause
    top: int = Field(0, ge=0)  # items compared by the top-k distance; 0: a tenth of the mean text, at least 10
    rankings: tuple[str, ...] = Field(RANKINGS, min_length=1)  # orders in which items are removed
    orders: int = Field(5, ge=1)  # draws of the random ranking
    # instances of experiments that re-run the model; 0: all; `highlights` reads as many as the verdict takes
    sample: int = Field(SAMPLE, ge=0)
    # instances of `highlights`: a number (0: all), or auto; None: auto, or `sample` where that is not the usual one
    highlights: Annotated[int, Field(ge=0)] | Literal["auto"] | None = None
    steps: int = Field(50, ge=1)  # maximum forward passes per instance and order

    @field_validator("rankings")
    @classmethod
    def _known(cls, rankings: tuple[str, ...]) -> tuple[str, ...]:
        return _known_names("ranking", rankings, RANKINGS)

    @model_serializer(mode="wrap")
    def _set(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without an option that is not set: runs keep the names that they had before there was one."""
        values: dict[str, Any] = dump(self)
        if self.highlights is None:
            values.pop("highlights", None)
        return values


class RunConfig(Options):
    """A complete configuration; `resolve` makes one from a user's values."""

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
        """The name of the run directory, which identifies the configuration."""
        short = fingerprint(self.model_dump(mode="json"))[:8]
        model = "" if self.model == "classifier" else f"{self.model}-"
        return f"{self.corpus}-{model}{self.encoder}-{self.attention}-{self.seed}-{short}"

    @property
    def hierarchical(self) -> bool:
        """Whether the items are sentences."""
        return self.model == "han"


def resolve(values: Mapping[str, Any]) -> RunConfig:
    """Fill in the preset's defaults for the corpus and encoder, and check every value."""
    names = names_or_defaults(values)
    for kind, known in VALID_NAMES.items():
        if not isinstance(names[kind], str) or names[kind] not in known:
            raise unknown_name(kind, str(names[kind]), known)
    given = values.get("corpus_options")  # a user's own table may have a column of questions
    query = READERS[names["corpus"]].query or (isinstance(given, Mapping) and given.get("query") is not None)
    if query and names["model"] != "classifier":
        problem = f"model {names['model']} does not read questions, which corpus {names['corpus']} has"
        raise BadConfig(f"{problem}: choose --model classifier")
    base = defaults(names["preset"], names["corpus"], names["model"], names["encoder"], query=query)
    further = [*_keys(READERS[names["corpus"]].options, "corpus_options.")]
    further += _keys(ENCODER_OPTIONS[names["encoder"]], "encoder_options.")
    config = _check(RunConfig, merge(merge(base, names), values), "", further)
    for name in ("word_dropout", "item_dropout", "logit_dropout"):
        if getattr(config.training, name) and name not in _DROPOUT.get(config.model, ()):
            raise BadConfig(f"training.{name}: model {config.model} has no such dropout; leave it at 0")
    reader = READERS[config.corpus]
    corpus_options = _check(reader.options, config.corpus_options, "corpus_options.")
    if config.hierarchical and not reader.has_sentences(corpus_options):
        raise BadConfig(
            f"model {config.model} reads sentences, and the texts of corpus {config.corpus} are not split into any: "
            "choose --model flan, or give the texts as a table of your own (--file), which can be split"
        )
    encoder_options = _check(ENCODER_OPTIONS[config.encoder], config.encoder_options, "encoder_options.")
    dumped = {"corpus_options": corpus_options.model_dump(mode="json", exclude_none=True)}  # TOML has no null
    return config.model_copy(update={**dumped, "encoder_options": encoder_options.model_dump(mode="json")})


def names_or_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """The corpus, model, encoder, attention and preset of a user's values, or their defaults."""
    encoder = "bilstm" if values.get("model", "classifier") == "classifier" else "bigru"
    usual = {"corpus": "planted", "model": "classifier", "encoder": encoder, "attention": "additive", "preset": "paper"}
    return {key: values.get(key, name) for key, name in usual.items()}


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `over` override those of `base`, recursively."""
    merged = dict(base)
    for key, value in over.items():
        inner = merged.get(key)
        merged[key] = merge(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return merged


def read_config(path: Path) -> dict[str, Any]:
    """The values of a configuration file. One that describes a table of texts and names no tokeniser is from before
    there was a choice, or means the same: spaCy's."""
    values = read_toml(path)
    options = values.get("corpus_options")
    if isinstance(options, dict) and "file" in options:
        values["corpus_options"] = {"tokens": SPACY, **options}
    return values


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such configuration file") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of thousands of digits
        raise BadInput(f"{path}: not valid TOML ({error})") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {resource_limit(error) or error.strerror}") from error


def _check(kind: type[Section], values: Mapping[str, Any], prefix: str, further: Sequence[str] = ()) -> Section:
    """The values of a section; `further` keys are valid elsewhere."""
    try:
        return kind(**values)
    except ValidationError as error:
        problem = error.errors()[0]
        key = prefix + ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            raise unknown_name("configuration key", key, [*_keys(kind, prefix), *further]) from error
        if problem["type"] == "missing":
            raise BadConfig(f"{key} is required: set it with --set {key}=...") from error
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
