"""`imdb-ratings`: film reviews with 1 to 10 stars (Diao et al. 2014), split into sentences (Serrano & Smith 2019).

As a subset, the reviews of `imdb` stand in for them: their file names carry the stars. A tenth is for test, as many for
dev (seed 0).
"""

from collections.abc import Iterator

import polars as pl

from heedful.corpora.archives import decode
from heedful.corpora.corpus import Document
from heedful.corpora.json_objects import json_objects
from heedful.corpora.locating import Found, below
from heedful.corpora.readers.imdb import IMDB, LINE_BREAK, reviews
from heedful.corpora.sentence_reader import SentenceOptions, SentenceReader
from heedful.corpora.splitting import hold_out, in_order_of
from heedful.corpora.tabular import class_name
from heedful.errors import BadInput
from heedful.printable import plain_text

SEED = 0  # the paper's is unknown

_FOLDERS = ["imdb-ratings", "imdb_ratings"]
_STARS = [str(stars) for stars in range(1, 11)]


class IMDBRatings(SentenceReader):
    """Film reviews with stars."""

    name = "imdb-ratings"
    task = "stars of a film review"
    sizes = "13,493 test reviews of several sentences in the paper; 50,000 reviews of aclImdb in all"
    how_to_get = (
        "put the reviews of Diao et al. 2014 below the data folder as imdb-ratings/data.json (objects with rating and "
        "review); `heedful corpora get imdb` downloads others that may stand in for them, with --subset"
    )
    layouts = (*below(_FOLDERS, {"reviews": "data.json"}), *below(_FOLDERS, {"reviews": "data.jsonl"}))
    partial_layouts = IMDB.layouts

    def clean(self, text: str) -> str:
        return LINE_BREAK.sub(" ", text)

    def documents(self, found: Found, options: SentenceOptions) -> Iterator[Document]:
        for name, stars, text in _rated(found):
            yield self.document(text, options, id=name, label=stars, split="train")

    def split(self, table: pl.DataFrame, options: SentenceOptions) -> pl.Series:
        ordered = table.sort("id")
        for into, share in (("test", 1 / 10), ("dev", 1 / 9)):
            ordered = hold_out(ordered, among="train", into=into, share=share, seed=SEED)
        return in_order_of(table, ordered)


def _rated(found: Found) -> Iterator[tuple[str, str, str]]:
    """Name, stars and text of every review."""
    if "reviews" not in found.files:
        for name, where, content in reviews(found):
            stars = name.stem.partition("_")[2]
            yield "-".join([*name.parts[-3:-1], name.stem]), _checked(stars, where), decode(content, where)
        return
    for number, (where, row) in enumerate(json_objects(found.files["reviews"]), start=1):
        for key in ("rating", "review"):
            if key not in row:
                raise BadInput(f"{where}: the object has no '{key}'; it has: {', '.join(row) or 'nothing'}")
        if row["rating"] is None:
            continue
        if not isinstance(row["review"], str):
            raise BadInput(f"{where}: 'review' holds {str(row['review'])[:40]}, which is no text")
        stars = _checked(class_name(row["rating"], where, "rating"), where)
        yield f"review-{number:07d}", stars, plain_text(row["review"], f"{where}, 'review'")


def _checked(stars: str, where: str) -> str:
    if stars not in _STARS:
        raise BadInput(f"{where}: '{stars[:40]}' should be stars from 1 to 10")
    return stars
