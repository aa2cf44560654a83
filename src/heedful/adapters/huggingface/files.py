"""Only safetensors: what a model's files say of each other is checked before any weights are opened.

Pickled weights run code when they are loaded. transformers prefers safetensors, but follows an index wherever it
points and an adapter to whatever model it names.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heedful.errors import BadInput

WEIGHTS, INDEX, CONFIG, ADAPTER = (
    "model.safetensors",
    "model.safetensors.index.json",
    "config.json",
    "adapter_config.json",
)
MOST_CLASSES = 1_000_000  # transformers names each of them before anything is checked
LARGEST = 1 << 28  # bytes of a JSON file or header; larger ones are taken for damage

_INDEXES = ("*.index.json", "*.index.*.json")  # a variant's name stands before the ending
_ENDING = ".safetensors"
_CHOSEN = "transformers_weights"  # an entry of config.json: the file of weights


def check_files(folder: Path, *, complete: bool = True) -> None:
    """Raise unless the weights of a model's folder are safetensors in that folder; opens none of them. `complete`:
    nothing is downloaded later."""
    if (folder / ADAPTER).exists():
        raise BadInput(
            f"{folder / ADAPTER}: the folder holds an adapter, which is loaded into another model; merge it into that "
            "model (merge_and_unload) and save the result"
        )
    if not (folder / CONFIG).is_file():
        return  # no model at all
    config = read_object(folder / CONFIG)
    _check_classes(config, folder / CONFIG)
    chosen = config.get(_CHOSEN)
    if chosen is not None:
        _check_name(chosen, folder / CONFIG, _CHOSEN, (_ENDING, f"{_ENDING}.index.json"))
    indexes = sorted({path for pattern in _INDEXES for path in folder.glob(pattern)})
    for index in indexes:
        _check_index(index)
    if complete and chosen is None and not (folder / WEIGHTS).is_file() and folder / INDEX not in indexes:
        raise BadInput(
            f"{folder} has no {WEIGHTS}{_pickled(folder)}; weights must be safetensors: save the model with "
            "save_pretrained"
        )


def tensor_names(folder: Path) -> set[str] | None:
    """The names of the tensors in a folder, from the header or the index; None if config.json chooses other files."""
    if (folder / WEIGHTS).is_file():
        return set(_header(folder / WEIGHTS)) - {"__metadata__"}
    return set(read_object(folder / INDEX)["weight_map"]) if (folder / INDEX).is_file() else None


def read_object(path: Path) -> dict[str, Any]:
    """A JSON file that holds an object."""
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{path} is larger than {LARGEST >> 20} MB, which no such file is; get the model again")
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON ({str(error)[:200]}); get the model again") from error
    if not isinstance(value, dict):
        raise BadInput(f"{path} holds no JSON object; get the model again")
    return value


def _check_index(path: Path) -> None:
    index = read_object(path)
    names, metadata = index.get("weight_map"), index.get("metadata")
    if not isinstance(names, dict) or not isinstance(metadata, dict):
        raise BadInput(f"{path} is no index of weights: it needs the objects 'weight_map' and 'metadata'")
    for tensor, file in names.items():
        _check_name(file, path, str(tensor)[:100], (_ENDING,))


def _check_name(name: Any, path: Path, key: str, endings: tuple[str, ...]) -> None:
    """A file of weights must be named as one beside the file `path` that names it."""
    known = isinstance(name, str) and name.endswith(endings) and name.isprintable()
    if not known:
        raise BadInput(
            f"{path}: '{key}' is in {str(name)[:100]!r}, which is no {_ENDING} file; only these are read, because "
            "others can run code: save the model with save_pretrained"
        )
    if set(name) & set("/\\:") or name.startswith("."):
        raise BadInput(
            f"{path}: '{key}' is in {name[:100]!r}, outside the model's folder; weights must lie beside their index"
        )


def _check_classes(config: dict[str, Any], path: Path) -> None:
    number = config.get("num_labels")
    if isinstance(number, int | float) and not 0 <= number <= MOST_CLASSES:
        raise BadInput(f"{path}: num_labels = {number} is no number of classes; give the number of outputs")


def _header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file: its length in eight bytes, then JSON."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(LARGEST, path.stat().st_size):
            raise BadInput(f"{path} cannot be loaded: it does not begin as safetensors do; get the model again")
        text = file.read(size)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be loaded: its header is not JSON; get the model again") from error
    if not isinstance(header, dict):
        raise BadInput(f"{path} cannot be loaded: its header is no JSON object; get the model again")
    return header


def _pickled(folder: Path) -> str:
    """Words for weights in formats that are not read."""
    found = next(_other_weights(folder), None)
    return "" if found is None else f", only {found}, which can run code when it is loaded and is not read"


def _other_weights(folder: Path) -> Iterator[str]:
    for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack"):
        yield from sorted(path.name for path in folder.glob(pattern))
