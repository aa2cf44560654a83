"""A grid: configuration values of which any may be a list, and all runs that can be made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from heedful.errors import BadConfig, HeedfulError, NotFound, unknown_name
from heedful.runs.cases import Case
from heedful.runs.config import RunConfig, merge, read_toml, resolve
from heedful.runs.experimenting import named
from heedful.runs.grid_keys import check_keys, is_axis, is_list, nested

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
    folder = Path(str(resources.files("heedful.runs"))) / "grids"
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
    experiments = named(values.get("experiments"))
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
