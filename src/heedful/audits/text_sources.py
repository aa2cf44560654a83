"""Rows of the data that a model is audited on: a text each, and perhaps a label, wherever they come from."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from heedful.corpora.locating import source_fingerprint
from heedful.corpora.tabular import class_name, column_place, values
from heedful.errors import BadInput, MissingExtra, NotFound
from heedful.printable import plain_text


class Row(NamedTuple):
    """One text."""

    where: str  # for messages
    id: str
    text: str  # may be empty
    label: str | None  # a class by its name or its index


@dataclass(frozen=True)
class Source:
    """Where texts come from; they are read anew as often as `rows` is called, never all at once."""

    name: str
    rows: Callable[[], Iterator[Row]]
    fingerprint: str
    names: tuple[str, ...] = ()  # where labels are indices: what the data calls them

    @property
    def short(self) -> str:
        """A name for directories."""
        return Path(self.name.removeprefix("hf:")).name.split(".")[0]


def file_source(path: Path, *, text: str, label: str | None, id: str | None) -> Source:
    """A CSV, TSV, JSON lines or Parquet file."""
    if not path.is_file():
        raise NotFound(f"{path}: there is no such file; give the path of your table, or hf:NAME for a dataset")
    columns = {"text": text, "label": label, "id": id}
    named = {role: column for role, column in columns.items() if column is not None}

    def rows() -> Iterator[Row]:
        return located(values(path, list(named.values())), named)

    return Source(str(path), rows, source_fingerprint(path))


def given_source(
    texts: Sequence[str],
    *,
    labels: Sequence[Any] | None,
    ids: Sequence[str] | None,
    name: str = "texts",
) -> Source:
    """Texts that are in memory already."""
    if isinstance(texts, str):
        raise BadInput("texts is one string; give a list of strings, one a text")
    given: dict[str, Sequence[Any]] = {"text": texts}
    for role, column in (("label", labels), ("id", ids)):
        if column is not None:
            if len(column) != len(texts):
                raise BadInput(f"{role}s has {len(column)} entries for {len(texts)} texts; give one a text")
            given[role] = column
    named = {role: f"{role}s" for role in given}

    def rows() -> Iterator[Row]:
        each = zip(*given.values(), strict=True)
        return located(((f"text {number}", list(row)) for number, row in enumerate(each, start=1)), named)

    return Source(name, rows, content(rows()))


def located(rows: Iterable[tuple[str, list[Any]]], named: dict[str, str]) -> Iterator[Row]:
    """Rows of values with their place, told by the roles of their columns; those without ids are numbered."""
    for number, (where, row) in enumerate(rows, start=1):
        cell = dict(zip(named, row, strict=True))
        yield Row(
            where,
            _text(cell["id"], where, named["id"], needed=True) if "id" in cell else f"row-{number}",
            _text(cell["text"], where, named["text"]),
            class_name(_plain(cell["label"]), where, named["label"]) if "label" in cell else None,
        )


def content(rows: Iterable[Row]) -> str:
    """A short hash of what rows say."""
    total = hashlib.blake2b(digest_size=8)
    for _, *told in rows:
        total.update(json.dumps(told).encode())
    return total.hexdigest()


def _text(value: Any, where: str, column: str, *, needed: bool = False) -> str:
    if value is not None and not isinstance(value, str | int | float):
        raise BadInput(f"{where}: column '{column}' holds {str(value)[:40]}, which is no text")
    text = plain_text("" if value is None else str(value), f"{where}, column '{column}'")
    if needed and not text.strip():
        raise BadInput(f"{where}: column '{column}' is empty; remove the row or fill it in")
    return text


def _plain(value: Any) -> Any:
    """A number of NumPy or torch as one of Python."""
    return value.item() if hasattr(value, "item") else value


PREFIX = "hf:"
ROWS = 1000  # of a dataset in memory at a time


def hub_source(data: str, *, text: str, label: str | None, id: str | None, download: bool) -> Source:
    """A split of a dataset; the only one, or `test`, unless it is named."""
    dataset = _split(data, download=download)
    columns = {"text": text, "label": label, "id": id}
    named = {role: column for role, column in columns.items() if column is not None}
    for column in named.values():
        column_place(dataset.column_names, column, data)
    chosen = dataset.select_columns(list(dict.fromkeys(named.values())))

    def rows() -> Iterator[Row]:
        return located(_rows(chosen, list(named.values()), data), named)

    kind = None if label is None else chosen.features[label]
    return Source(data, rows, content(rows()), tuple(getattr(kind, "names", None) or ()))


def _rows(dataset: Any, columns: list[str], where: str) -> Iterator[tuple[str, list[Any]]]:
    for start in range(0, len(dataset), ROWS):
        some = dataset[start : start + ROWS]
        for number, row in enumerate(zip(*(some[column] for column in columns), strict=True), start=start + 1):
            yield f"{where}, row {number}", list(row)


def _split(data: str, *, download: bool) -> Any:
    try:
        import datasets
    except ImportError as error:
        raise MissingExtra("datasets", "hf", f"--data {data}") from error
    name, split = _named(data.removeprefix(PREFIX))
    if not name:
        raise BadInput(f"{data}: name a dataset, as in {PREFIX}NAME or {PREFIX}NAME:SPLIT")
    loaded = _loaded(datasets, name, data, download=download)
    if not isinstance(loaded, dict):
        if split is not None:
            raise BadInput(f"{data}: the dataset has no splits; leave :{split} out")
        return loaded
    there = list(loaded)
    wanted = split or (there[0] if len(there) == 1 else "test")
    if wanted not in loaded:
        raise BadInput(f"{data}: there is no split '{wanted}'; it has {', '.join(there)}: {PREFIX}{name}:{there[0]}")
    return loaded[wanted]


def _named(text: str) -> tuple[str, str | None]:
    """The name of a dataset and that of a split; a folder may have a colon in its name."""
    name, colon, split = text.rpartition(":")
    if not colon or Path(text).is_dir():
        return text, None
    return name, split


def _loaded(datasets: Any, name: str, data: str, *, download: bool) -> Any:
    folder = Path(name)
    try:
        if any((folder / file).is_file() for file in ("state.json", "dataset_dict.json")):
            return datasets.load_from_disk(name)
        with _offline(datasets, download=download or folder.is_dir()):
            return datasets.load_dataset(name)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = "check the name" if download else "give --download to fetch it from the Hub, or name a folder"
        raise NotFound(f"{data}: the dataset cannot be loaded ({reason}); {remedy}") from error


@contextmanager
def _offline(datasets: Any, *, download: bool) -> Iterator[None]:
    """Without being asked nothing is fetched: the library then looks into its cache only."""
    before = datasets.config.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = before or not download
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE = before
