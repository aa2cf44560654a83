import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.ragged import Ragged, length_batches
from tests.strategies import lengths, positive_lengths, ragged_floats


@given(ragged_floats())
def test_rows_padding_and_back(rows: Ragged) -> None:
    padded, mask = rows.pad(fill=9)
    assert padded.shape == (len(rows), rows.lengths.max())
    assert np.all(padded[~mask] == 9)
    again = Ragged.from_padded(padded, mask)
    assert np.array_equal(again.values, rows.values)
    assert np.array_equal(again.offsets, rows.offsets)


@given(ragged_floats(), st.data())
def test_take_gives_the_named_rows(rows: Ragged, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=10))
    taken = rows.take(chosen)
    assert [row.tolist() for row in taken] == [rows[index].tolist() for index in chosen]


@given(ragged_floats(), st.integers(-9, 9), st.integers(-9, 9))
def test_slices_count_as_in_python(rows: Ragged, start: int, stop: int) -> None:
    assert [row.tolist() for row in rows.slice(start, stop)] == [row.tolist() for row in list(rows)[start:stop]]


def test_sums_count_truth_values_and_do_not_overflow() -> None:
    assert Ragged.from_rows([[True, True], [False]], dtype=bool).sum().tolist() == [2, 0]
    assert Ragged.from_rows([[100, 100]], dtype=np.int8).sum().tolist() == [200]


def test_a_mask_picks_the_rows_where_it_is_true() -> None:
    rows = Ragged.from_rows([[1, 2], [3], [4, 5, 6]])
    assert [row.tolist() for row in rows.take(np.array([True, False, True]))] == [[1, 2], [4, 5, 6]]
    for wrong in (np.array([True]), np.array([1.9])):
        with pytest.raises(IndexError):
            rows.take(wrong)


def test_rows_that_are_not_there_cannot_be_taken() -> None:
    with pytest.raises(IndexError):
        Ragged.from_rows([[1.0]]).take([1])


@given(ragged_floats())
def test_sum_is_the_sum_of_each_row_and_zero_of_an_empty_one(rows: Ragged) -> None:
    assert np.allclose(rows.sum(), [row.sum() for row in rows])


@given(ragged_floats(positive_lengths))
def test_max_is_the_maximum_of_each_row(rows: Ragged) -> None:
    assert rows.max().tolist() == [row.max() for row in rows]


def test_max_of_an_empty_row_is_an_error() -> None:
    with pytest.raises(ValueError, match="empty row"):
        Ragged.from_rows([[1.0], []]).max()


def test_sums_of_matrices_keep_their_columns() -> None:
    rows = Ragged.from_lengths(np.arange(8.0).reshape(4, 2), [3, 0, 1])
    assert rows.sum().tolist() == [[6, 9], [0, 0], [6, 7]]


@pytest.mark.parametrize(
    ("offsets", "problem"), [([1, 2], "start at 0"), ([0, 2, 1], "never fall"), ([0, 5], "but there are 2 values")]
)
def test_offsets_that_do_not_fit_are_refused(offsets: list[int], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Ragged(np.zeros(2), np.array(offsets))


def test_rows_beyond_the_end_are_an_error_and_negative_ones_count_from_it() -> None:
    rows = Ragged.from_rows([[1], [2, 3]])
    assert rows[-1].tolist() == [2, 3]
    with pytest.raises(IndexError, match="row 2 of 2"):
        rows[2]


@given(lengths, st.integers(1, 4), st.integers(1, 20))
def test_batches_hold_every_row_once_within_their_limits(sizes: list[int], rows: int, cells: int) -> None:
    array = np.array(sizes, dtype=np.int64)
    batches = length_batches(array, rows=rows, cells=cells)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(sizes)))
    for batch in batches:
        assert len(batch) <= rows
        assert len(batch) == 1 or len(batch) * array[batch].max() <= cells
