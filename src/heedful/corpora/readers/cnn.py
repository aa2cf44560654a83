"""`cnn`: questions on news articles whose names are numbered entities (Hermann et al. 2015).

Read from the native `.question` files (address, article, question, answer and a list of entities, with blank lines
between) or from Chen, Bolton & Manning's preprocessed files (question, answer and article, a line each, then a blank
one). An answer is one of the entities of the article; classes are all entities of the training articles. An instance
whose answer is none of these has no label, and cannot be answered rightly.

Tokens are what stands between spaces, in both presets: `qqq` for whatever has a digit in it, the paper's rule, would
make one word of all entities.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import polars as pl

from heedful.corpora.archives import Wanted, decode, located_lines, member_lines, members
from heedful.corpora.corpus import SPLITS, Document
from heedful.corpora.locating import Found, below
from heedful.corpora.reader import Options, Reader
from heedful.corpora.splitting import hold_out
from heedful.errors import BadInput

SEED = 16377  # of the splits of a subset; the papers draw none
FOLDERS = {"train": "training", "dev": "validation", "test": "test"}

Block = list[tuple[str, str]]  # lines with their places

_PARENTS = ["cnn/questions", "cnn/cnn/questions", "questions"]
_ENTITY = re.compile(r"(?<!\S)@entity\d+(?!\S)")


class CNN(Reader):
    """News articles with a question on each."""

    name = "cnn"
    query = True
    task = "which entity of a news article is missing in a sentence about it?"
    sizes = "380,298 / 3,924 / 3,198 questions"
    how_to_get = (
        "get the questions of cnn from https://cs.nyu.edu/~kcho/DMQA/ and put cnn.tgz below the data folder, or "
        "unpacked as cnn/questions/"
    )
    layouts = (
        *below(_PARENTS, FOLDERS),
        *below(["cnn", "cnn/cnn"], {f"{split}.txt": f"{split}.txt" for split in SPLITS}),
        *below(["cnn", ""], {"questions": "cnn.tgz"}),
        *below(["cnn", ""], {"preprocessed": "cnn.tar.gz"}),
    )
    partial_layouts = below(_PARENTS, {"train": FOLDERS["train"]})
    unseen = True

    def answers(self, training: pl.LazyFrame) -> list[str]:
        entities = training.select(entity=pl.col("candidates").list.explode().unique()).collect()["entity"]
        return sorted(entities, key=_number)

    def tokenise(self, text: str, options: Options) -> list[str]:
        return text.split()

    def documents(self, found: Found, options: Options) -> Iterator[Document]:
        for name, split, block in _questions(found):
            (_, article), (_, question), (where, answer) = block
            tokens, query = self.tokenise(article, options), self.tokenise(question, options)
            entities = list(dict.fromkeys(_ENTITY.findall(article)))
            if answer not in entities:
                raise BadInput(f"{where}: the answer '{answer[:40]}' is no entity of the article, such as @entity3")
            yield Document(f"{split}-{name}", tokens, answer, split, query=query, candidates=entities)

    def split(self, table: pl.DataFrame, options: Options) -> pl.Series:
        """The official split; where only training questions are there, a fifth each for test and dev."""
        if set(table["split"]) == {"train"}:
            for into, share in (("test", 1 / 5), ("dev", 1 / 4)):
                table = hold_out(table, among="train", into=into, share=share, seed=SEED)
        return table["split"]


def _questions(found: Found) -> Iterator[tuple[str, str, Block]]:
    """Name, split, and the lines of article, question and answer."""
    if "questions" in found.files:
        archive = found.files["questions"]
        splits = {folder: split for split, folder in FOLDERS.items()}
        for name, content in members(archive, _is_question):
            if name.parent.name in splits:
                yield name.stem, splits[name.parent.name], _native(content, f"{archive}, {name}")
    elif "preprocessed" in found.files:
        for split in SPLITS:
            yield from _preprocessed(member_lines(found.files["preprocessed"], _called(f"{split}.txt")), split)
    else:
        for role, path in found.files.items():
            if path.is_dir():
                for name, content in members(path, _is_question):
                    yield name.stem, role, _native(content, str(path / name))
            else:
                yield from _preprocessed(located_lines(path), role.removesuffix(".txt"))


def _native(content: bytes, where: str) -> Block:
    text = decode(content, where).split("\n")
    blocks = list(_blocks((f"{where}, line {number}", line) for number, line in enumerate(text, start=1)))
    if len(blocks) < 4:
        raise BadInput(f"{where}: {len(blocks)} blocks between blank lines; needs address, article, question, answer")
    return [(block[0][0], " ".join(line for _, line in block)) for block in blocks[1:4]]


def _preprocessed(located: Iterable[tuple[str, str]], split: str) -> Iterator[tuple[str, str, Block]]:
    for number, block in enumerate(_blocks(located), start=1):
        if len(block) != 3:
            raise BadInput(f"{block[0][0]}: {len(block)} lines instead of question, answer, article, then a blank line")
        question, answer, article = block
        yield str(number), split, [article, question, answer]


def _blocks(located: Iterable[tuple[str, str]]) -> Iterator[Block]:
    block: Block = []
    for where, line in located:
        if line.strip():
            block.append((where, line.strip()))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _is_question(name: PurePosixPath) -> bool:
    return name.suffix == ".question" and not name.name.startswith(".")  # what macOS puts into archives


def _called(wanted: str) -> Wanted:
    return lambda name: name.name == wanted


def _number(entity: str) -> int:
    return int(entity.removeprefix("@entity"))
