"""Cases of a grid: what is different in some of its cells."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, unknown_name
from heedful.models.options import ATTENTION_NAMES, ENCODER_OPTIONS, MODEL_NAMES
from heedful.runs.config import chosen_names
from heedful.runs.grid_keys import check_keys, is_axis
from heedful.runs.presets import PRESETS

_NAMES: dict[str, Sequence[str]] = {
    "corpus": tuple(READERS),
    "model": MODEL_NAMES,
    "encoder": tuple(ENCODER_OPTIONS),
    "attention": ATTENTION_NAMES,
    "preset": PRESETS,
}
_UNSET = object()


class Case(NamedTuple):
    """Which cells it is about, and what holds for them."""

    number: int
    when: dict[str, list[Any]]  # a key, and the values of it that are meant
    skip: bool
    values: dict[str, Any]

    @classmethod
    def of(cls, number: int, table: Mapping[str, Any]) -> "Case":
        """A `[[case]]` of a grid, checked."""
        when, skip = table.get("when"), table.get("skip", False)
        if not isinstance(when, Mapping) or not when:
            raise BadConfig(f'case {number} does not say which cells it is about: add e.g. when = {{corpus = "imdb"}}')
        if not isinstance(skip, bool):
            raise BadConfig(f"case {number}: skip = {skip!r} is neither true nor false")
        values = {key: value for key, value in table.items() if key not in ("when", "skip")}
        if not skip and not values:
            raise BadConfig(f"case {number} changes nothing: give it values, or skip = true")
        check_keys(values, ("when", "skip"))
        check_keys(when, ())
        wanted = {key: list(value) if is_axis(key, value) else [value] for key, value in _flat(when)}
        for kind, names in _NAMES.items():
            for name in wanted.get(kind, []):
                if name not in names:
                    raise unknown_name(kind, str(name), names)
        return cls(number, wanted, skip, values)

    def check(self, cells: Sequence[Mapping[str, Any]]) -> None:
        """Raise if it asks for a value that no cell has: it could never match."""
        for key in self.when:
            if all(_value(cell, key) is _UNSET for cell in cells):
                raise BadConfig(
                    f"case {self.number}: no cell sets {key}, so the case would never match; set it in the grid, too"
                )

    def matches(self, cell: Mapping[str, Any]) -> bool:
        """Whether it is about a cell."""
        return all(_value(cell, key) in options for key, options in self.when.items())


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _value(cell: Mapping[str, Any], key: str) -> Any:
    """What a cell has under a key written with dots; names that it leaves out are the usual ones."""
    if key in _NAMES:
        return chosen_names(cell)[key]
    value: Any = cell
    for name in key.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _UNSET
        value = value[name]
    return value
