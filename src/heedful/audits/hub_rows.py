"""Rows of a dataset of the `datasets` library: `hf:NAME[:SPLIT]`, from a folder, from its cache or, if asked, from the
Hub."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heedful.audits.rows import Row, Source, content, located
from heedful.corpora.rows import column_place
from heedful.errors import BadInput, MissingExtra, NotFound

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
