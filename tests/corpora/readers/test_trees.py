import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora.readers.sst import read_tree
from heedful.errors import BadInput

LABELS = st.integers(0, 4)
WORDS = st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="()"), min_size=1, max_size=6)
TREES = st.recursive(
    st.tuples(LABELS, WORDS), lambda below: st.tuples(LABELS, st.lists(below, min_size=1, max_size=3)), max_leaves=20
)


def written(node):
    label, inside = node
    return f"({label} {inside if isinstance(inside, str) else ' '.join(map(written, inside))})"


def leaves(node):
    inside = node[1]
    return [inside] if isinstance(inside, str) else [leaf for child in inside for leaf in leaves(child)]


@given(TREES)
def test_root_and_leaves_come_back(node):
    assert read_tree(written(node), "here") == (node[0], leaves(node))


def test_depth_has_no_limit():
    depth = 50_000
    assert read_tree("(1 " * depth + "(3 word)" + ")" * depth, "here") == (1, ["word"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(3 (2 good) (2 film)", r"here: 1 bracket\(s\) never closed"),
        ("(3 (2 good)) (2 film))", r"here: '\(' outside the tree"),
        ("(3 (2 good)))", r"here: '\)' outside the tree"),
        ("(3 (good film))", "here: 'good' where a node's label"),
        ("(3 ( (2 a)))", r"here: '\(' where a node's label"),
        ("word", "here: 'word' outside the tree"),
        ("", "here: no tree"),
    ],
)
def test_bad_trees(text, message):
    with pytest.raises(BadInput, match=message):
        read_tree(text, "here")
