"""A grid: configuration values, any of which may be a list, and the runs of all their combinations."""

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
from heedful.models.options import ENCODER_OPTIONS
from heedful.runs.config import VALID_NAMES, RunConfig, merge, names_or_defaults, read_config, resolve
from heedful.runs.experiment_stages import parse_experiments


@cache
def grid_keys() -> dict[str, bool]:
    """Every dotted key of a configuration, and whether a single value of it is a list.

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
    """Whether a value is an axis of the grid: a list, or a list of lists where a single value is a list already."""
    if not is_list(value):
        return False
    return not grid_keys()[key] or (len(value) > 0 and all(map(is_list, value)))


def is_list(value: Any) -> bool:
    """Whether a value is a sequence other than text, such as `range(5)`."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables instead of dotted keys: {"training.epochs": 3} is {"training": {"epochs": 3}}."""
    result: dict[str, Any] = {}
    for key, given in values.items():
        value: Any = nested(given) if isinstance(given, Mapping) else given
        for name in reversed(str(key).split(".")):
            value = {name: value}
        result = merge(result, value)
    return result


def check_keys(values: Mapping[str, Any], also: Sequence[str], prefix: str = "") -> None:
    """Raise on a key that is neither one of a configuration nor in `also`."""
    for name, value in values.items():
        key = f"{prefix}{name}"
        if key not in grid_keys() and key not in also:
            raise unknown_name(
                "key of a grid", key, [*(each for each in grid_keys() if each.startswith(prefix)), *also]
            )
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


_UNSET = object()


class Case(NamedTuple):
    """A rule for some cells: change their values, or skip them."""

    number: int
    when: dict[str, list[Any]]  # the values of each key that match
    skip: bool
    values: dict[str, Any]

    @classmethod
    def of(cls, number: int, table: Mapping[str, Any]) -> "Case":
        """Check a `[[case]]` table of a grid."""
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
        for kind, names in VALID_NAMES.items():
            for name in wanted.get(kind, []):
                if name not in names:
                    raise unknown_name(kind, str(name), names)
        return cls(number, wanted, skip, values)

    def check(self, cells: Sequence[Mapping[str, Any]]) -> None:
        """Raise if it can never match, because no cell sets one of its keys."""
        for key in self.when:
            if all(_value(cell, key) is _UNSET for cell in cells):
                raise BadConfig(
                    f"case {self.number}: no cell sets {key}, so the case would never match; set it in the grid, too"
                )

    def matches(self, cell: Mapping[str, Any]) -> bool:
        """Whether it applies to a cell."""
        return all(_value(cell, key) in options for key, options in self.when.items())


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _value(cell: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted key in a cell; names that it leaves out have their defaults."""
    if key in VALID_NAMES:
        return names_or_defaults(cell)[key]
    value: Any = cell
    for name in key.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _UNSET
        value = value[name]
    return value


MOST = 10_000  # cells; more are taken for a mistake
_OWN = ("experiments", "case")  # keys of a grid that are none of a configuration


@dataclass(frozen=True)
class Grid:
    """The runs to perform, each once, in the order of the axes, and their experiments (None: the default ones)."""

    configs: tuple[RunConfig, ...]
    experiments: tuple[str, ...] | None = None


@dataclass(frozen=True)
class UncheckedCell:
    """A cell before it is checked: its values, and the point of the grid that it is."""

    values: dict[str, Any]
    point: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """A prefix for error messages about it."""
        axes = ", ".join(f"{key}={value}" for key, value in self.point.items())
        return f"cell {axes}: " if axes else ""


def built_in() -> dict[str, Path]:
    """The grids that come with heedful, by name."""
    folder = Path(str(resources.files("heedful.sweeps"))) / "grids"
    return {file.stem: file for file in sorted(folder.glob("*.toml"), key=lambda file: file.stem)}


def read_grid(grid: Mapping[str, Any] | Path | str, settings: Mapping[str, Any] | None = None) -> Grid:
    """Read a grid from a file, a name (see `built_in`) or the values of such a file; `settings` override them."""
    if isinstance(grid, Mapping):
        return make_grid(merge(grid, settings or {}))
    file = Path(grid)
    if not file.is_file():
        if file.suffix or len(file.parts) > 1:
            raise NotFound(f"{file}: there is no such grid; built in are {', '.join(built_in())}")
        if str(grid) not in built_in():
            raise unknown_name("grid", str(grid), built_in())
        file = built_in()[str(grid)]
    values = merge(read_config(file), settings or {})
    try:
        return make_grid(values)
    except HeedfulError as error:
        raise BadConfig(f"{grid}: {error}") from error


def make_grid(values: Mapping[str, Any]) -> Grid:
    """Every combination of the values, all checked before any of them is run.

    >>> grid = make_grid({"corpus": "planted", "encoder": ["bilstm", "cnn"], "seed": [0, 1]})
    >>> [(config.encoder, config.seed) for config in grid.configs]
    [('bilstm', 0), ('bilstm', 1), ('cnn', 0), ('cnn', 1)]
    """
    configuration = nested({key: value for key, value in values.items() if key not in _OWN})
    check_keys(configuration, _OWN)
    experiments = parse_experiments(values.get("experiments"))
    cells = list(_combinations(configuration))
    for case in _cases(values.get("case", [])):
        cells = list(_applied(case, cells))
    if not cells:
        raise BadConfig("the grid is empty: its cases skip every cell")
    return Grid(_resolved(cells), experiments)


def _combinations(values: Mapping[str, Any], point: Mapping[str, Any] | None = None) -> Iterator[UncheckedCell]:
    """The product of the axes."""
    axes = {key: value for key, value in _flat(values) if is_axis(key, value)}
    for key, options in axes.items():
        if not options:
            raise BadConfig(f"the grid is empty: {key} = [] has no value")
    if (count := prod(map(len, axes.values()))) > MOST:
        raise BadConfig(f"the grid has {count:,} cells, more than {MOST:,}: shorten its lists")
    for combination in product(*axes.values()):
        added = dict(zip(axes, combination, strict=True))
        cell = dict(values)
        for key, value in added.items():
            cell = _with(cell, key.split("."), value)
        yield UncheckedCell(cell, {**(point or {}), **added})


def _with(values: Mapping[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**values, first: _with(values[first], rest, value) if rest else value}


def _cases(tables: Any) -> Iterator[Case]:
    if not is_list(tables) or not all(isinstance(table, Mapping) for table in tables):
        raise BadConfig("case is no list of tables: write each as [[case]]")
    for number, table in enumerate(tables, start=1):
        yield Case.of(number, nested(table))


def _applied(case: Case, cells: Sequence[UncheckedCell]) -> Iterator[UncheckedCell]:
    case.check([cell.values for cell in cells])
    for cell in cells:
        if not case.matches(cell.values):
            yield cell
        elif not case.skip:
            yield from _combinations(merge(cell.values, case.values), cell.point)


def _resolved(cells: Sequence[UncheckedCell]) -> tuple[RunConfig, ...]:
    """The configurations, each once."""
    configs: dict[str, RunConfig] = {}
    refused: list[str] = []
    for cell in cells:
        try:
            if "corpus" not in cell.values:
                raise BadConfig("no corpus was named: set `corpus` (`heedful corpora` lists them)")
            config = resolve(cell.values)
        except HeedfulError as error:
            refused.append(f"{cell}{error}")
        else:
            configs.setdefault(config.name, config)
    if refused:
        more = f" (and {len(refused) - 1} more of {len(cells)} cells)" if len(refused) > 1 else ""
        remedy = "; a [[case]] with skip = true leaves such cells out" if len(cells) > len(refused) else ""
        raise BadConfig(f"{refused[0]}{more}{remedy}")
    return tuple(configs.values())
