import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.corpora.labels import listed, merged, same_key, variants


@pytest.mark.parametrize(
    ("one", "other"),
    [("World", "world "), ("Sci-Tech", "sci tech"), ("a_b", "A B"), ("1", "1.0"), ("Straße", "STRASSE")],
)
def test_labels_that_differ_only_in_their_writing(one, other):
    assert same_key(one) == same_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1", "-1"), ("1", "10"), ("-", "_"), ("-", "+"), ("good", "goods"), ("1", "01x")]
)
def test_labels_that_differ(one, other):
    assert same_key(one) != same_key(other)


def test_the_most_frequent_form_stands_for_the_others():
    groups = variants(["World"] * 3 + ["world"] + ["WORLD"] * 3 + ["Sports"])
    assert merged(groups) == {"World": "WORLD", "world": "WORLD"}  # of equals the first in the alphabet
    assert listed(groups) == "'WORLD' (3) and 'World' (3) and 'world' (1)"
    assert merged(variants(["a", "b"])) == {}


@given(st.lists(st.text(max_size=4)))
def test_merging_leaves_one_form_of_each(labels):
    forms = merged(variants(labels))
    assert variants(forms.get(label, label) for label in labels) == []
