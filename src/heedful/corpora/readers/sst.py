"""`sst`: the Stanford Sentiment Treebank (Socher et al. 2013), whole sentences, positive or negative.

Cleaned as in the released code: brackets out, whatever is no word character out, spaCy, lower case; then, as the
paper says and the code does not, `qqq` for numbers. Sentences of more than 5 tokens. The longest sentence of each
split is left out, as the released code does by accident: only so are the counts those of the paper's Table 1
(3034/3321 and 863/862; otherwise one more negative sentence in train, one more positive one in test).
"""

import re
from collections.abc import Iterator

import polars as pl

from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.locating import Found, below, split_lines
from heedful.corpora.reader import Options, Published, Reader, Source
from heedful.corpora.splitting import within_lengths
from heedful.errors import BadInput
from heedful.text.tokenising import tokeniser

NEUTRAL = 2

_ARCHIVE = {"archive": "trainDevTestTrees_PTB.zip"}
_PIECES = re.compile(r"[()]|[^\s()]+")


class SST(Reader):
    """Sentences of film reviews."""

    name = "sst"
    task = "sentiment of a sentence"
    sizes = "8,544 / 1,101 / 2,210 trees; 6,355 / 821 / 1,725 used"
    how_to_get = "`heedful corpora get sst` downloads it"
    source = Source(
        "https://nlp.stanford.edu/sentiment",
        "sst",
        _ARCHIVE,
        {"train": 8544, "dev": 1101, "test": 2210},
        {  # huggingface/datasets, commit 040102f, datasets/sst/dataset_infos.json
            "archive": Published(
                "5c613a4f673fc74097d523a2c83f38e0cc462984d847b82c7aaf36b01cbbbfcc", 789539, "Hugging Face"
            )
        },
    )
    layouts = (
        *below(["sst", "sst/trees", "trees", ""], {split: f"{split}.txt" for split in SPLITS}),
        *below(["sst", ""], _ARCHIVE),
        *below(["sst", ""], {"archive": "trees.zip"}),
    )
    class_names = ("negative", "positive")

    def native_splits(self, found: Found) -> Iterator[str]:
        return (split for split, *_ in _trees(found))

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        for split, number, label, leaves in _trees(found):
            if label != NEUTRAL:
                polarity = "positive" if label > NEUTRAL else "negative"
                yield Document(f"{split}-{number}", self.tokenise(" ".join(leaves), options), polarity, split)

    def tokenise(self, text: str, options: Options) -> list[str]:
        """Words only; the released code keeps numbers."""
        words = re.sub(r"\W", " ", text.replace("-LRB-", "").replace("-RRB-", " "))
        return tokeniser(numbers=options.cleaning == "released")(words)

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        longest = pl.col("length").max().over("split")
        return within_lengths(table, above=5).select(pl.when(pl.col("length") < longest).then(pl.col("split")))["split"]


def read_tree(text: str, where: str) -> tuple[int, list[str]]:
    """The label of a tree's root, and its leaves from left to right.

    >>> read_tree("(3 (2 good) (2 film))", "example")
    (3, ['good', 'film'])
    """
    leaves: list[str] = []
    root: int | None = None
    depth = 0
    label_next = False  # after an opening bracket comes the node's label
    for piece in _PIECES.findall(text):
        if label_next:
            if not piece.isdecimal():
                raise BadInput(f"{where}: '{piece}' where a node's label (0 to 4) should be")
            root = int(piece) if root is None else root
            label_next = False
        elif depth == 0 and (root is not None or piece != "("):
            raise BadInput(f"{where}: '{piece}' outside the tree; brackets are not balanced")
        elif piece == "(":
            depth += 1
            label_next = True
        elif piece == ")":
            depth -= 1
        else:
            leaves.append(piece)
    if depth or root is None:
        problem = f"{depth} bracket(s) never closed; was the file cut short?" if depth else "no tree"
        raise BadInput(f"{where}: {problem}")
    return root, leaves


def _trees(found: Found) -> Iterator[tuple[str, int, int, list[str]]]:
    """Split, line, label and leaves of every tree."""
    for split in SPLITS:
        for number, (where, line) in enumerate(split_lines(found, split, f"{split}.txt"), start=1):
            if line.strip():
                yield split, number, *read_tree(line, where)
