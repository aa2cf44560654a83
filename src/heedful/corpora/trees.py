"""Labelled trees in brackets, as in the Stanford Sentiment Treebank: `(3 (2 good) (2 film))`."""

import re

from heedful.errors import BadInput

_PIECES = re.compile(r"[()]|[^\s()]+")


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
        raise BadInput(
            f"{where}: {depth} bracket(s) never closed; was the file cut short?" if depth else f"{where}: no tree"
        )
    return root, leaves
