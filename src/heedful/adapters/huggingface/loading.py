"""Loading a classifier with transformers; anything else is refused, lest a random head be audited silently."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from heedful.adapters.hardware import device_named, moved, named, precision_of
from heedful.adapters.huggingface.files import ADAPTER, CONFIG, INDEX, check_files, tensor_names
from heedful.adapters.offline import offline, refuse_kernels
from heedful.errors import BadInput, HeedfulError, MissingExtra, NotFound, resource_limit

NO_LIMIT = 10**9  # tokenizers without one name a huge number
LAYERS_SHARED = 8  # layers that may share a tensor, as in ALBERT


class Described(NamedTuple):
    """Facts about a model."""

    classes: tuple[str, ...]
    embeddings: nn.Embedding
    positions: int | None  # tokens that its position embeddings reach
    words: dict[str, object]  # for the report

    def longest(self, tokenizer: Any) -> int | None:
        """Tokens that both can read."""
        limits = [self.positions, getattr(tokenizer, "model_max_length", None)]
        named = [int(limit) for limit in limits if limit is not None and 0 < limit < NO_LIMIT]
        return min(named, default=None)


def required() -> None:
    """Transformers of a version that can be audited."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtra("transformers", "hf", "auditing a Hugging Face model") from error
    if int(transformers.__version__.split(".")[0]) < 5:
        raise BadInput(f"transformers {transformers.__version__}: an audit needs version 5 or later; upgrade it")


def load_parts(name: str, *, download: bool, device: str, float32: bool) -> tuple[Any, Any]:
    """Model and tokenizer of a folder, of the cache, or of the hub, in the model's own precision unless `float32`."""
    place = device_named(device)
    required()
    with offline(download=download):
        model, tokenizer = _parts(name, download=download, float32=float32)
    moved(model, place)
    return model, tokenizer


def _parts(name: str, *, download: bool, float32: bool) -> tuple[Any, Any]:
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    dtype: Any = torch.float32 if float32 else "auto"
    options: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    folder = _folder(name, options)
    if folder is not None:
        check_files(folder, complete=not download or Path(name).is_dir())
    with _failing(f"{name}: transformers cannot use its config.json"):
        try:
            config = AutoConfig.from_pretrained(name, **options)
        except (OSError, ValueError) as error:
            raise NotFound(_not_found(name, download, error)) from error
    refuse_kernels(config, name)
    kinds = config.architectures or []
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise BadInput(f"{name}: architectures in its config.json is no list of names")
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise BadInput(
            f"{name} was saved as {', '.join(kinds) or 'a model of no named kind'}, not as a sequence classifier: its "
            "classifying layer would be random numbers. Fine-tune it first, or give a fine-tuned one"
        )
    if folder is not None:
        _check_layers(name, config, tensor_names(folder))
    with _failing(f"{name}: the model cannot be loaded (weights must be safetensors)"), _no_progress_bar():
        model, keys = AutoModelForSequenceClassification.from_pretrained(
            name, config=config, use_safetensors=True, dtype=dtype, output_loading_info=True, **options
        )
    if keys["missing_keys"]:
        raise BadInput(
            f"{name}: its files lack {', '.join(sorted(keys['missing_keys'])[:5])}, which would be random numbers; "
            "give a model that was trained as a classifier and saved whole"
        )
    with _failing(f"{name}: no tokenizer beside the model; save it there, too"):
        tokenizer = AutoTokenizer.from_pretrained(name, **options)
    return model, tokenizer


def _folder(name: str, options: dict[str, Any]) -> Path | None:
    """The folder that holds a model's files: the one named, or the one that the hub's files are kept in."""
    from transformers.utils import cached_file

    place = Path(name)
    if place.is_file():
        raise BadInput(f"{name} is a file: give the folder that it lies in, {place.parent}")
    if place.is_dir():
        return place
    known = {f"_raise_exceptions_for_{what}": False for what in ("missing_entries", "connection_errors", "gated_repo")}
    local = {"local_files_only": options["local_files_only"]}
    with _failing(f"{name}: neither a folder nor the name of a model"):
        try:
            files = [cached_file(name, file, **local, **known) for file in (CONFIG, INDEX, ADAPTER)]
        except (OSError, ValueError):  # no such model: it is said where it is asked for
            return None
    return next((Path(file).parent for file in files if file is not None), None)


def _check_layers(name: str, config: Any, tensors: set[str] | None) -> None:
    """Refuse more layers than the weights can be of: building them would take all time and memory."""
    layers = getattr(config, "num_hidden_layers", None)
    if tensors is not None and isinstance(layers, int) and layers > LAYERS_SHARED * max(1, len(tensors)):
        raise BadInput(
            f"{name}: its config.json says {layers:,} layers, but its weights hold {len(tensors)} tensors; get the "
            "model again"
        )


@contextmanager
def _failing(what: str) -> Iterator[None]:
    """Whatever transformers makes of a user's files is an error about these files."""
    try:
        yield
    except (HeedfulError, MemoryError):
        raise
    except Exception as error:
        limit = resource_limit(error)
        raise BadInput(f"{what} ({limit or type(error).__name__}: {_line(error)})") from error


def described(model: Any) -> Described:
    """Facts about a classifier; BadInput if it cannot be audited."""
    import torch
    import transformers

    if not isinstance(model, transformers.PreTrainedModel):
        raise BadInput(f"{type(model).__name__} is no model of transformers: audit it as a torch module")
    config, name = model.config, type(model).__name__
    if config.is_encoder_decoder:
        raise BadInput(f"{name} is an encoder with a decoder: no single row of attention is over its text")
    if config.problem_type in ("multi_label_classification", "regression") or config.num_labels < 2:
        what = "regression" if config.num_labels < 2 else str(config.problem_type).replace("_", " ")
        raise BadInput(
            f"{name} has {config.num_labels} outputs for {what}: an audit asks which one of several classes is decided "
            "for, so it needs a softmax over two or more"
        )
    embeddings = model.get_input_embeddings()
    if not isinstance(embeddings, nn.Embedding):
        raise BadInput(f"{name} embeds its tokens by {type(embeddings).__name__}; an audit needs a table of embeddings")
    words: dict[str, object] = {
        "kind": "huggingface",
        "name": config.name_or_path or name,
        "architecture": name,
        "family": config.model_type,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "dtype": named(precision_of(model)),
        "attention": config._attn_implementation,
        "transformers": transformers.__version__,
        "torch": str(torch.__version__),
    }
    classes = tuple(str(config.id2label[place]) for place in range(config.num_labels))
    return Described(classes, embeddings, _positions(model), words)


def _positions(model: Any) -> int | None:
    """How many tokens have a position; families that count from behind their padding token have fewer than rows."""
    reach: int | None = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding) and module.padding_idx is not None:
            return module.num_embeddings - module.padding_idx - 1
    return reach if reach is not None and reach > 0 else None


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _not_found(name: str, download: bool, error: Exception) -> str:
    if Path(name).is_dir():
        return f"{name}: the folder holds no model of transformers: {_line(error)}"
    if download:
        return f"{name}: neither a folder nor a model that could be downloaded: {_line(error)}"
    return f"{name}: no such folder, and no model of that name in the local cache; allow downloads to fetch it"


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
