import polars as pl
import pytest
from sklearn.model_selection import train_test_split

from heedful.corpora.splitting import hold_out, in_order_of, within_lengths
from heedful.errors import BadInput

TABLE = pl.DataFrame(
    {
        "id": [f"d{number}" for number in range(40)],
        "label": ["a", "a", "a", "b"] * 10,
        "split": ["train"] * 30 + ["test"] * 10,
        "length": range(40),
    }
)


@pytest.mark.parametrize("stratified", [True, False])
def test_the_same_rows_as_scikit_learn(stratified):
    moved = hold_out(TABLE, among="train", into="dev", share=0.2, seed=7, stratified=stratified)
    labels = TABLE["label"].to_list()[:30] if stratified else None
    _, expected = train_test_split(range(30), test_size=0.2, random_state=7, stratify=labels)
    assert moved.filter(pl.col("split") == "dev")["length"].to_list() == sorted(expected)
    assert moved["split"].to_list()[30:] == ["test"] * 10


def test_bounds_are_strict_and_a_bound_not_given_does_not_bind():
    kept = within_lengths(TABLE, above=5, below=20)
    assert kept.drop_nulls("split")["length"].to_list() == list(range(6, 20))
    assert within_lengths(TABLE, above=5).drop_nulls("split")["length"].to_list() == list(range(6, 40))


def test_order_comes_back():
    shuffled = TABLE.sample(fraction=1, shuffle=True, seed=3)
    assert in_order_of(shuffled, shuffled.sort("id")).equals(shuffled["split"])


def test_too_few():
    with pytest.raises(BadInput, match="class 'b' has one instance"):
        hold_out(TABLE[:5], among="train", into="dev", share=0.2, seed=0, stratified=True)
    with pytest.raises(BadInput, match="8 instances of 2 classes are too few to set 15% aside for dev"):
        hold_out(TABLE[:8], among="train", into="dev", share=0.15, seed=0, stratified=True)
