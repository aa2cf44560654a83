"""A grid: configuration values of which any may be a list, and all runs that can be made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from itertools import product
from math import prod
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel

from heedful.corpora.registry import READERS
from heedful.errors import BadConfig, HeedfulError, NotFound, unknown_name
from heedful.models.options import ATTENTIONS, ENCODER_OPTIONS, MODEL_NAMES
from heedful.runs.config import RunConfig, chosen_names, merge, read_toml, resolve
from heedful.runs.experiment_stages import parse_experiments
from heedful.runs.presets import PRESETS


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
    for name, entry in kind.model_fields.items():
        keys[prefix + name] = _is_list(entry.annotation)
        if isinstance(entry.annotation, type) and issubclass(entry.annotation, BaseModel):
            keys |= _keys(entry.annotation, f"{prefix}{name}.")
    return keys


def _is_list(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(map(_is_list, get_args(annotation)))
    return (origin or annotation) in (tuple, list)


_NAMES: dict[str, Sequence[str]] = {
    "corpus": tuple(READERS),
    "model": MODEL_NAMES,
    "encoder": tuple(ENCODER_OPTIONS),
    "attention": tuple(ATTENTIONS),
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


MOST = 10_000  # cells; more are a slip of the pen
_OWN = ("experiments", "case")  # what a grid has beside a configuration


@dataclass(frozen=True)
class Grid:
    """The runs to do, each once, in the order of the grid's axes, and the experiments of each (None: the usual)."""

    configs: tuple[RunConfig, ...]
    experiments: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Draft:
    """A cell before it is checked: its values, and those among them that tell it from other cells."""

    values: dict[str, Any]
    chosen: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """What stands before what is said about it."""
        point = ", ".join(f"{key}={value}" for key, value in self.chosen.items())
        return f"cell {point}: " if point else ""


def built_in() -> dict[str, Path]:
    """The grids that come with heedful, by name."""
    folder = Path(str(resources.files("heedful.sweeps"))) / "grids"
    return {file.stem: file for file in sorted(folder.glob("*.toml"), key=lambda file: file.stem)}


def read_grid(grid: Mapping[str, Any] | Path | str, settings: Mapping[str, Any] | None = None) -> Grid:
    """The grid of a file, of a name (see `built_in`) or of values as such a file has them; `settings` go before it."""
    if isinstance(grid, Mapping):
        return make_grid(merge(grid, settings or {}))
    file = Path(grid)
    if not file.is_file():
        if file.suffix or len(file.parts) > 1:
            raise NotFound(f"{file}: there is no such grid; built in are {', '.join(built_in())}")
        if str(grid) not in built_in():
            raise unknown_name("grid", str(grid), built_in())
        file = built_in()[str(grid)]
    values = merge(read_toml(file), settings or {})
    try:
        return make_grid(values)
    except HeedfulError as error:
        raise BadConfig(f"{grid}: {error}") from error


def make_grid(values: Mapping[str, Any]) -> Grid:
    """Every combination of the values, checked before any of them is run.

    >>> grid = make_grid({"corpus": "planted", "encoder": ["bilstm", "cnn"], "seed": [0, 1]})
    >>> [(config.encoder, config.seed) for config in grid.configs]
    [('bilstm', 0), ('bilstm', 1), ('cnn', 0), ('cnn', 1)]
    """
    configuration = nested({key: value for key, value in values.items() if key not in _OWN})
    check_keys(configuration, _OWN)
    experiments = parse_experiments(values.get("experiments"))
    drafts = list(_drafts(configuration))
    for case in _cases(values.get("case", [])):
        drafts = list(_applied(case, drafts))
    if not drafts:
        raise BadConfig("the grid is empty: its cases skip every cell")
    return Grid(_resolved(drafts), experiments)


def _drafts(values: Mapping[str, Any], chosen: Mapping[str, Any] | None = None) -> Iterator[Draft]:
    """The product of the axes."""
    axes = dict(_axes(values))
    for key, options in axes.items():
        if not options:
            raise BadConfig(f"the grid is empty: {key} = [] has no value")
    count = prod(map(len, axes.values()))
    if count > MOST:
        raise BadConfig(f"the grid has {count:,} cells, more than {MOST:,}: shorten its lists")
    for combination in product(*axes.values()):
        point = dict(zip(axes, combination, strict=True))
        cell = dict(values)
        for key, value in point.items():
            cell = _with(cell, key.split("."), value)
        yield Draft(cell, {**(chosen or {}), **point})


def _axes(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Sequence[Any]]]:
    for name, value in values.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _axes(value, f"{key}.")
        elif is_axis(key, value):
            yield key, value


def _with(values: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**values, first: _with(values[first], rest, value) if rest else value}


def _cases(tables: Any) -> Iterator[Case]:
    if not is_list(tables) or not all(isinstance(table, Mapping) for table in tables):
        raise BadConfig("case is no list of tables: write each as [[case]]")
    for number, table in enumerate(tables, start=1):
        yield Case.of(number, nested(table))


def _applied(case: Case, drafts: Sequence[Draft]) -> Iterator[Draft]:
    case.check([draft.values for draft in drafts])
    for draft in drafts:
        if not case.matches(draft.values):
            yield draft
        elif not case.skip:
            yield from _drafts(merge(draft.values, case.values), draft.chosen)


def _resolved(drafts: Sequence[Draft]) -> tuple[RunConfig, ...]:
    """The configurations, each once."""
    configs: dict[str, RunConfig] = {}
    refused: list[str] = []
    for draft in drafts:
        try:
            if "corpus" not in draft.values:
                raise BadConfig("no corpus was named: set `corpus` (`heedful corpora` lists them)")
            config = resolve(draft.values)
        except HeedfulError as error:
            refused.append(f"{draft}{error}")
        else:
            configs.setdefault(config.name, config)
    if refused:
        more = f" (and {len(refused) - 1} more of {len(drafts)} cells)" if len(refused) > 1 else ""
        remedy = "; a [[case]] with skip = true leaves such cells out" if len(drafts) > len(refused) else ""
        raise BadConfig(f"{refused[0]}{more}{remedy}")
    return tuple(configs.values())
