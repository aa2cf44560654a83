"""The corpora there are, and which of them are at hand (`heedful corpora`)."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from heedful.corpora.locating import Found, data_folders
from heedful.corpora.reader import Reader
from heedful.errors import unknown_name

# one line a corpus: module and class below `readers`, in the order of `heedful corpora`
_CLASSES = (
    "sst.SST",
    "imdb.IMDB",
    "newsgroups.Newsgroups",
    "agnews.AGNews",
    "adr.ADR",
    "mimic.Diabetes",
    "mimic.Anemia",
    "babi.Babi1",
    "babi.Babi2",
    "babi.Babi3",
    "cnn.CNN",
    "snli.SNLI",
    "zhang.Yahoo",
    "imdb_ratings.IMDBRatings",
    "zhang.Amazon",
    "zhang.Yelp",
    "planted.Planted",
    "babi_simulated.Simulated1",
    "babi_simulated.Simulated2",
    "babi_simulated.Simulated3",
    "table.Table",
)


def _reader(place: str) -> Reader:
    module, _, name = place.partition(".")
    reader: Reader = getattr(import_module(f"heedful.corpora.readers.{module}"), name)()
    return reader


READERS: dict[str, Reader] = {reader.name: reader for reader in map(_reader, _CLASSES)}


def reader_of(name: str) -> Reader:
    """The reader of a corpus."""
    if name not in READERS:
        raise unknown_name("corpus", name, READERS)
    return READERS[name]


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
    # a reader whose options have no defaults, such as `table`, cannot be searched for
    needs_options = any(field.is_required() for field in reader.options.model_fields.values())
    found = None if needs_options else reader.find(roots, reader.options(), subset=True)
    return Entry(
        name=reader.name,
        task=reader.task,
        sizes=reader.sizes,
        found=_place(found),
        subset_only=found is not None and found.subset,
        built_in=reader.built_in,
        downloadable=reader.source is not None,
        how_to_get=reader.how_to_get,
    )


def _place(found: Found | None) -> Path | None:
    if found is None or not found.files:
        return None
    files = list(found.files.values())
    return files[0] if len(files) == 1 else files[0].parent
