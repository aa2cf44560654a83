"""The keys that a grid may set, and which of them are lists by themselves."""

from collections.abc import Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from heedful.corpora.registry import READERS
from heedful.errors import unknown_name
from heedful.models.options import ENCODER_OPTIONS
from heedful.runs.config import RunConfig, merge


@cache
def grid_keys() -> dict[str, bool]:
    """Every key of a configuration, written with dots, and whether one value of it is a list.

    >>> keys = grid_keys()
    >>> keys["training.epochs"], keys["importance.measures"], keys["encoder_options.kernels"]
    (False, True, True)
    """
    keys = _keys(RunConfig, "")
    tables: dict[str, list[type[BaseModel]]] = {
        "corpus_options.": [reader.options for reader in READERS.values()],
        "encoder_options.": list(ENCODER_OPTIONS.values()),
    }
    for prefix, kinds in tables.items():
        for kind in kinds:
            for key, is_list in _keys(kind, prefix).items():
                keys[key] = keys.get(key, False) or is_list
    return keys


def is_axis(key: str, value: Any) -> bool:
    """Whether a value is several: a list, or, where one value is a list already, a list of lists."""
    if not is_list(value):
        return False
    return not grid_keys()[key] or (len(value) > 0 and all(map(is_list, value)))


def is_list(value: Any) -> bool:
    """Whether a value is a list, of whatever type (in Python, `range(5)` is one)."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values with tables in place of dots: {"training.epochs": 3} is {"training": {"epochs": 3}}."""
    result: dict[str, Any] = {}
    for key, given in values.items():
        value: Any = nested(given) if isinstance(given, Mapping) else given
        for name in reversed(str(key).split(".")):
            value = {name: value}
        result = merge(result, value)
    return result


def check_keys(values: Mapping[str, Any], beside: Sequence[str], prefix: str = "") -> None:
    """Raise if a key is none of a configuration and none of those allowed beside."""
    for name, value in values.items():
        key = f"{prefix}{name}"
        if key not in grid_keys() and key not in beside:
            level = [each for each in grid_keys() if each.rpartition(".")[0] == prefix.rstrip(".")]
            raise unknown_name("key of a grid", key, [*level, *beside])
        if isinstance(value, Mapping):
            check_keys(value, (), f"{key}.")


def _keys(kind: type[BaseModel], prefix: str) -> dict[str, bool]:
    keys = {}
    for name, field in kind.model_fields.items():
        keys[prefix + name] = _is_list(field.annotation)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys |= _keys(field.annotation, f"{prefix}{name}.")
    return keys


def _is_list(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(map(_is_list, get_args(annotation)))
    return (origin or annotation) in (tuple, list)
