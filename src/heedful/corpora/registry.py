"""The corpora by name: a new one is one file and one line here."""

from heedful.corpora.adr import ADR
from heedful.corpora.agnews import AGNews
from heedful.corpora.amazon import Amazon
from heedful.corpora.babi import Babi1, Babi2, Babi3
from heedful.corpora.babi_simulated import Simulated1, Simulated2, Simulated3
from heedful.corpora.cnn import CNN
from heedful.corpora.imdb import IMDB
from heedful.corpora.imdb_ratings import IMDBRatings
from heedful.corpora.mimic import Anemia, Diabetes
from heedful.corpora.newsgroups import Newsgroups
from heedful.corpora.planted import Planted
from heedful.corpora.reader import Reader
from heedful.corpora.snli import SNLI
from heedful.corpora.sst import SST
from heedful.corpora.table import Table
from heedful.corpora.yahoo import Yahoo
from heedful.corpora.yelp import Yelp
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
