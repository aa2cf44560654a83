"""Loading a classifier with transformers; anything else is refused, lest a random head be audited silently."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from heedful.adapters.hardware import device_named, moved, named, precision_of
from heedful.adapters.offline import offline, refuse_kernels
from heedful.errors import BadInput, MissingExtra, NotFound

NO_LIMIT = 10**9  # tokenizers without one name a huge number


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
    from safetensors import SafetensorError
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    dtype: Any = torch.float32 if float32 else "auto"
    options: dict[str, Any] = {"local_files_only": not download, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(name, **options)
    except (OSError, ValueError) as error:
        raise NotFound(_not_found(name, download, error)) from error
    refuse_kernels(config, name)
    kinds = config.architectures or []
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise BadInput(
            f"{name} was saved as {', '.join(kinds) or 'a model of no named kind'}, not as a sequence classifier: its "
            "classifying layer would be random numbers. Fine-tune it first, or give a fine-tuned one"
        )
    try:
        with _no_progress_bar():
            model, keys = AutoModelForSequenceClassification.from_pretrained(
                name, config=config, use_safetensors=True, dtype=dtype, output_loading_info=True, **options
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise BadInput(f"{name}: the model cannot be loaded (weights must be safetensors): {_line(error)}") from error
    if keys["missing_keys"]:
        raise BadInput(
            f"{name}: its files lack {', '.join(sorted(keys['missing_keys'])[:5])}, which would be random numbers; "
            "give a model that was trained as a classifier and saved whole"
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, **options)
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise BadInput(f"{name}: no tokenizer beside the model ({_line(error)}); save it there, too") from error
    return model, tokenizer


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
