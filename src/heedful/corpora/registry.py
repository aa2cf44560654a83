"""What corpora there are and which are at hand, for `heedful corpora`."""

from dataclasses import dataclass
from pathlib import Path

from heedful.corpora.locating import Found, data_folders
from heedful.corpora.reader import Reader
from heedful.corpora.readers.adr import ADR
from heedful.corpora.readers.agnews import AGNews
from heedful.corpora.readers.babi import Babi1, Babi2, Babi3
from heedful.corpora.readers.babi_simulated import Simulated1, Simulated2, Simulated3
from heedful.corpora.readers.cnn import CNN
from heedful.corpora.readers.imdb import IMDB, IMDBRatings
from heedful.corpora.readers.mimic import Anemia, Diabetes
from heedful.corpora.readers.newsgroups import Newsgroups
from heedful.corpora.readers.planted import Planted
from heedful.corpora.readers.snli import SNLI
from heedful.corpora.readers.sst import SST
from heedful.corpora.readers.table import Table
from heedful.corpora.readers.zhang import Amazon, Yahoo, Yelp
from heedful.errors import unknown_name

_ALL = (
    *(SST(), IMDB(), Newsgroups(), AGNews(), ADR(), Diabetes(), Anemia()),
    *(Babi1(), Babi2(), Babi3(), CNN(), SNLI()),
    *(Yahoo(), IMDBRatings(), Amazon(), Yelp()),
    *(Planted(), Simulated1(), Simulated2(), Simulated3(), Table()),
)

READERS: dict[str, Reader] = {reader.name: reader for reader in _ALL}


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
