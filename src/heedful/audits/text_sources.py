"""The texts that a model is audited on, with labels and ids if there are any: from a file, a list or a dataset."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from heedful.adapters.offline import offline, refuse_addresses
from heedful.corpora.bad_rows import BadRow, BadRowList, Refuse, raise_at_once
from heedful.corpora.locating import source_fingerprint
from heedful.corpora.tabular import Located, class_name, column_place, columns_of, is_blank, values
from heedful.corpora.text_format import text_format
from heedful.errors import BadInput, MissingExtra, NotFound
from heedful.printable import plain_text

PREFIX = "hf:"
ROWS = 1000  # of a dataset in memory at a time


class Row(NamedTuple):
    """One text."""

    where: str  # file and line, for messages
    id: str
    text: str  # may be empty
    label: str | None  # class name or index; None: it has none
    truth: list[bool] | None = None  # which items are known to decide


@dataclass(frozen=True)
class Source:
    """A table of texts; every call of `rows` reads it anew, row by row."""

    name: str
    rows: Callable[[], Iterator[Row]]
    fingerprint: str
    names: tuple[str, ...] = ()  # class names in the data, where labels are indices
    columns: tuple[str, ...] = ()  # of the table; none: there is no table
    truth: bool = False  # whether rows say which items decide
    cells: Callable[[list[str]], Iterator[Located]] | None = None  # reads columns of it, row by row
    note: str = ""  # how a file is written, where its name says otherwise


def file_source(path: Path, *, text: str, label: str | None, id: str | None) -> Source:
    """A CSV, TSV, JSON lines or Parquet file."""
    if not path.is_file():
        raise NotFound(f"{path}: no such file; give the path of your table, or hf:NAME for a dataset")
    columns = _columns(text=text, label=label, id=id)

    def rows() -> Iterator[Row]:
        bad = BadRowList(str(path))
        yield from _located(values(path, list(columns.values()), refuse=bad.refuse), columns, refuse=bad.refuse)
        bad.check()

    form = None if path.suffix == ".parquet" else text_format(path)
    note = "" if form is None or form.usual else str(form)
    there, cells = tuple(columns_of(path)), partial(values, path)
    return Source(str(path), rows, source_fingerprint(path), columns=there, cells=cells, note=note)


def memory_source(
    texts: Sequence[str], *, labels: Sequence[Any] | None, ids: Sequence[str] | None, name: str = "texts"
) -> Source:
    """Texts in memory."""
    if isinstance(texts, str):
        raise BadInput("texts is a single string; give a list of strings")
    values: dict[str, Sequence[Any]] = {"text": texts}
    for role, column in (("label", labels), ("id", ids)):
        if column is not None:
            if len(column) != len(texts):
                raise BadInput(f"{role}s has {len(column)} entries for {len(texts)} texts; give one per text")
            values[role] = column
    columns = {role: f"{role}s" for role in values}

    def rows() -> Iterator[Row]:
        each = zip(*values.values(), strict=True)
        return _located(((f"text {number}", list(row)) for number, row in enumerate(each, start=1)), columns)

    return Source(name, rows, _content_hash(rows()))


def hub_source(data: str, *, text: str, label: str | None, id: str | None, download: bool) -> Source:
    """A split of a dataset for the `datasets` library; by default the only one, or `test`."""
    dataset = _split(data, download=download)
    columns = _columns(text=text, label=label, id=id)
    for column in columns.values():
        column_place(dataset.column_names, column, data)
    chosen = dataset.select_columns(list(dict.fromkeys(columns.values())))

    def rows() -> Iterator[Row]:
        return _located(_rows(chosen, list(columns.values()), data), columns)

    kind = None if label is None else chosen.features[label]
    return Source(
        data,
        rows,
        _content_hash(rows()),
        tuple(getattr(kind, "names", None) or ()),
        columns=tuple(dataset.column_names),
        cells=lambda columns: _rows(dataset.select_columns(columns), columns, data),
    )


def _columns(**columns: str | None) -> dict[str, str]:
    """The columns that a user named, by role."""
    return {role: column for role, column in columns.items() if column is not None}


def _located(rows: Iterable[Located], columns: dict[str, str], *, refuse: Refuse = raise_at_once) -> Iterator[Row]:
    """Rows from values with their place; `columns` names the columns by role. Without ids, rows are numbered."""
    for number, (where, row) in enumerate(rows, start=1):
        cell = dict(zip(columns, row, strict=True))
        label = _plain(cell.get("label"))
        try:
            found = Row(
                where,
                _text(cell["id"], where, columns["id"], needed=True) if "id" in cell else f"row-{number}",
                _text(cell["text"], where, columns["text"]),
                None if is_blank(label) else class_name(label, where, columns["label"]),
            )
        except BadInput as error:
            refuse(error)
        else:
            yield found


def _content_hash(rows: Iterable[Row]) -> str:
    """A short hash of the rows' ids, texts and labels."""
    total = hashlib.blake2b(digest_size=8)
    for row in rows:
        total.update(json.dumps([row.id, row.text, row.label]).encode())
    return total.hexdigest()


def _text(value: Any, where: str, column: str, *, needed: bool = False) -> str:
    if value is not None and not isinstance(value, str | int | float):
        raise BadRow(where, f"column '{column}' holds {str(value)[:40]}, which is not text", "give strings")
    text = plain_text("" if value is None else str(value), f"{where}, column '{column}'")
    if needed and not text.strip():
        raise BadRow(where, f"column '{column}' is empty", "fill it in or remove the row")
    return text


def _plain(value: Any) -> Any:
    """A Python number from one of NumPy or torch."""
    return value.item() if hasattr(value, "item") else value


def _rows(dataset: Any, columns: list[str], where: str) -> Iterator[tuple[str, list[Any]]]:
    plain = dataset.with_format("arrow")  # decoding would follow the addresses that rows name as images or sounds
    for start in range(0, len(dataset), ROWS):
        some = plain[start : start + ROWS].to_pydict()
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
            raise BadInput(f"{data}: the dataset has no splits; leave out :{split}")
        return loaded
    there = list(loaded)
    wanted = split or (there[0] if len(there) == 1 else "test")
    if wanted not in loaded:
        raise BadInput(f"{data}: no split '{wanted}'; valid: {', '.join(there)}: {PREFIX}{name}:{there[0]}")
    return loaded[wanted]


def _named(text: str) -> tuple[str, str | None]:
    """Names of a dataset and of a split; a folder may have a colon in its name."""
    name, colon, split = text.rpartition(":")
    if not colon or Path(text).is_dir():
        return text, None
    return name, split


def _loaded(datasets: Any, name: str, data: str, *, download: bool) -> Any:
    folder = Path(name)
    try:
        if any((folder / file).is_file() for file in ("state.json", "dataset_dict.json")):
            return datasets.load_from_disk(name)
        if folder.is_dir() and not download:
            refuse_addresses(folder)
        with offline(download=download):
            return datasets.load_dataset(name)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        remedy = "check the name" if download else "give --download to fetch it from the Hub, or give a folder"
        raise NotFound(f"{data}: the dataset cannot be loaded ({reason}); {remedy}") from error
