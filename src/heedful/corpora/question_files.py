"""The two formats of the questions on CNN's news: native `.question` files, and preprocessed ones of all questions.

Both are streamed: there are 380,298 questions for training.
"""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from heedful.corpora.archives import Wanted, decode, lines, member_lines, members
from heedful.corpora.corpus import SPLITS
from heedful.corpora.finding import Found
from heedful.errors import BadInput

FOLDERS = {"train": "training", "dev": "validation", "test": "test"}

Block = list[tuple[str, str]]  # lines with their places


def questions(found: Found) -> Iterator[tuple[str, str, Block]]:
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
                located = ((f"{path}, line {number}", line) for number, line in lines(path))
                yield from _preprocessed(located, role.removesuffix(".txt"))


def _native(content: bytes, where: str) -> Block:
    text = decode(content, where).split("\n")
    blocks = list(_blocks((f"{where}, line {number}", line) for number, line in enumerate(text, start=1)))
    if len(blocks) < 4:
        raise BadInput(
            f"{where}: {len(blocks)} blocks instead of address, article, question and answer with blank lines between"
        )
    return [(block[0][0], " ".join(line for _, line in block)) for block in blocks[1:4]]


def _preprocessed(located: Iterable[tuple[str, str]], split: str) -> Iterator[tuple[str, str, Block]]:
    for number, block in enumerate(_blocks(located), start=1):
        if len(block) != 3:
            raise BadInput(
                f"{block[0][0]}: {len(block)} lines instead of question, answer and article, then a blank line"
            )
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
