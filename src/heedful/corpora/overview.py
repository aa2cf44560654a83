"""What corpora there are and which are at hand, for `heedful corpora`."""

from dataclasses import dataclass
from pathlib import Path

from heedful.corpora.finding import Found
from heedful.corpora.places import data_folders
from heedful.corpora.reader import Reader
from heedful.corpora.registry import READERS


@dataclass(frozen=True)
class Entry:
    """A corpus and where it is."""

    name: str
    task: str
    sizes: str
    found: Path | None  # a file or the folder of files; None: not found, or built in
    subset_only: bool  # what was found is a part of the official data
    built_in: bool
    downloadable: bool
    how_to_get: str


def overview(data: Path | None = None) -> list[Entry]:
    """Every corpus, in the order of the registry."""
    return [_entry(reader, data_folders(data)) for reader in READERS.values()]


def _entry(reader: Reader, roots: list[Path]) -> Entry:
    # a reader whose options have no defaults, such as `table`, cannot be looked for
    needs_options = any(field.is_required() for field in reader.options.model_fields.values())
    found = None if needs_options else reader.find(roots, reader.options(), subset=True)
    return Entry(
        name=reader.name,
        task=reader.task,
        sizes=reader.sizes,
        found=_place(found),
        subset_only=found is not None and found.subset,
        built_in=found is not None and not found.files,
        downloadable=reader.downloadable,
        how_to_get=reader.how_to_get,
    )


def _place(found: Found | None) -> Path | None:
    if found is None or not found.files:
        return None
    files = list(found.files.values())
    return files[0] if len(files) == 1 else files[0].parent
