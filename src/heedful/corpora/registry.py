"""The corpora there are, and which of them are at hand (`heedful corpora`)."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from heedful.corpora.locating import Found, data_folders
from heedful.corpora.reader import Reader
from heedful.errors import unknown_name

# module and class below `readers`, perhaps with the number of a task, in the order of `heedful corpora`
_CLASSES = """
    sst.SST imdb.IMDB newsgroups.Newsgroups agnews.AGNews adr.ADR mimic.Diabetes mimic.Anemia
    babi.Babi:1 babi.Babi:2 babi.Babi:3 cnn.CNN snli.SNLI
    zhang.Yahoo imdb_ratings.IMDBRatings zhang.Amazon zhang.Yelp
    planted.Planted babi_simulated.Simulated:1 babi_simulated.Simulated:2 babi_simulated.Simulated:3
    table.Table
""".split()


def _reader(place: str) -> Reader:
    path, _, number = place.partition(":")
    module, _, name = path.partition(".")
    kind: Callable[..., Reader] = getattr(import_module(f"heedful.corpora.readers.{module}"), name)
    return kind(int(number)) if number else kind()


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
    found = (None if needs_options else reader.find(roots, reader.options(), subset=True)) or Found()
    files = list(found.files.values())
    return Entry(
        name=reader.name,
        task=reader.task,
        sizes=reader.sizes,
        found=None if not files else files[0] if len(files) == 1 else files[0].parent,
        subset_only=found.subset,
        built_in=reader.built_in,
        downloadable=reader.source is not None,
        how_to_get=reader.how_to_get,
    )
