"""Hugging Face's libraries without the network: nothing is asked for unless a user allows downloads.

`local_files_only` is not enough: tokenizers look up their model at the hub, datasets follow the addresses of a README,
and configurations name kernels, compiled code that would be fetched and run.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heedful.errors import BadInput

VARIABLES = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE")
CARDS = ("README.md", ".huggingface.yaml")  # of a folder of data: what `datasets` reads to find its files

# where the libraries keep what the variables say, from their import on
_CONSTANTS = (
    ("huggingface_hub.constants", "HF_HUB_OFFLINE"),
    ("datasets.config", "HF_HUB_OFFLINE"),
    ("datasets.config", "HF_DATASETS_OFFLINE"),
)
_TRUE = ("1", "ON", "YES", "TRUE")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|[^\s:]*::)\S*", re.IGNORECASE)  # also chained: zip://x::https://y


@contextmanager
def offline(*, download: bool = False) -> Iterator[None]:
    """Unless `download`, keep Hugging Face's libraries from the network, whether they are imported already or only in
    the block, here and in processes that the block starts. Afterwards all is as before."""
    if download:
        yield
        return
    variables = {name: os.environ.get(name) for name in VARIABLES}
    constants = {place: _constant(*place) for place in _CONSTANTS}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    for place, value in constants.items():
        if value is not None:
            setattr(sys.modules[place[0]], place[1], True)
    try:
        yield
    finally:
        for name, text in variables.items():
            if text is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = text
        for place, value in constants.items():
            if place[0] in sys.modules:
                setattr(sys.modules[place[0]], place[1], _said(variables, place[0]) if value is None else value)


def refuse_kernels(config: Any, name: str) -> None:
    """Refuse a configuration whose attention, or that of a part of the model, is a kernel from the hub."""
    for part in (config, *(getattr(config, key, None) for key in getattr(config, "sub_configs", {}))):
        chosen = getattr(part, "_attn_implementation", None)
        for kernel in chosen.values() if isinstance(chosen, dict) else (chosen,):
            if isinstance(kernel, str) and "/" in kernel:
                raise BadInput(
                    f"{name}: config.json asks for the attention '{kernel[:100]}', compiled code from the hub, which "
                    "is neither fetched nor run; remove its _attn_implementation"
                )


def refuse_addresses(folder: Path) -> None:
    """Refuse a folder of data whose README or YAML names files elsewhere."""
    for name in CARDS:
        card = folder / name
        if card.is_file() and (address := _address(card)) is not None:
            raise BadInput(
                f"{card} names data elsewhere ({address[:100]}), which is not fetched: name files of the folder, or "
                "give --download"
            )


def _address(card: Path) -> str | None:
    """The first address in what a card says about files: the entry `configs`. Links in other entries are only shown."""
    import yaml  # a requirement of `datasets`

    try:
        text = card.read_text(encoding="utf-8")
        if card.suffix == ".md":
            parts = re.split(r"^---[ \t]*$", text, maxsplit=2, flags=re.MULTILINE)
            text = parts[1] if len(parts) == 3 else ""
        entries = yaml.safe_load(text)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise BadInput(f"{card} cannot be read ({' '.join(str(error).split())[:200]}); mend or remove it") from error
    return _first(entries.get("configs")) if isinstance(entries, dict) else None


def _first(entry: Any) -> str | None:
    """The first address in nested lists and dictionaries; YAML may have them contain themselves."""
    pending, seen = [entry], set[int]()
    while pending:
        each = pending.pop()
        if isinstance(each, str) and (found := _ADDRESS.search(each)):
            return found[0]
        if isinstance(each, dict | list) and id(each) not in seen:
            seen.add(id(each))
            pending.extend(reversed([*each.values()] if isinstance(each, dict) else each))
    return None


def _constant(module: str, name: str) -> bool | None:
    """What a library that is imported says; None: it is not."""
    value = getattr(sys.modules.get(module), name, None)
    return None if value is None else bool(value)


def _said(variables: Mapping[str, str | None], module: str) -> bool:
    """What a library would say that is imported under these variables."""
    text = variables["HF_DATASETS_OFFLINE"] if module == "datasets.config" else None
    if text is None:
        text = variables["HF_HUB_OFFLINE"] or variables["TRANSFORMERS_OFFLINE"] or ""
    return text.upper() in _TRUE
