"""What a module returns: one thing, or several by number or by name."""

from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

from torch import Tensor

Key = int | str


def elements_of(output: Any) -> dict[Key, Any] | None:
    """What a module returned, by name or number; None: a single thing."""
    if isinstance(output, dict):
        return dict(output)
    if is_dataclass(output):
        return {field.name: getattr(output, field.name) for field in fields(output)}
    if isinstance(output, tuple | list):
        return dict(zip(getattr(output, "_fields", range(len(output))), output, strict=True))
    return None


def with_element(output: Any, key: Key, value: Tensor) -> Any:
    """The same with another element."""
    if isinstance(output, dict):
        other = copy(output)
        other[key] = value
        return other
    if is_dataclass(output) and not isinstance(output, type):
        return replace(output, **{str(key): value})
    if hasattr(output, "_replace"):
        return output._replace(**{str(key): value})
    return type(output)(value if place == key else element for place, element in enumerate(output))


def listed(elements: dict[Key, Any]) -> str:
    """Several things in words."""
    return ", ".join(f"{key!r}: {told(value)}" for key, value in elements.items()) or "nothing"


def told(value: Any) -> str:
    """One thing in words."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"a {type(value).__name__}"
