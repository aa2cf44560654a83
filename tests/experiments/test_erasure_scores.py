import polars as pl
import pytest

from heedful.errors import BadInput
from heedful.experiments import erasure_scores, removal
from tests.making import make_evidence


def test_scores_are_means_over_instances_of_several_items() -> None:
    frame = pl.DataFrame(
        {
            "items": [1, 4, 4, 10],
            "delete_leave_one_out_count": [1, 1, None, 5],
            "delete_leave_one_out_fraction": [1.0, 0.25, None, 0.5],
            "delete_leave_one_out_comprehensiveness": [9.0, 0.3, 0.2, 0.1],
            "delete_leave_one_out_sufficiency": [9.0, 0.1, 0.1, 0.4],
        }
    )
    row = erasure_scores(frame, draws=100).row(0, named=True)
    assert (row["way"], row["ranking"], row["n"], row["never"]) == ("delete", "leave_one_out", 3, 1)
    assert row["fraction_all"] == pytest.approx((0.25 + 1 + 0.5) / 3)
    assert (row["comprehensiveness"], row["sufficiency"]) == pytest.approx((0.2, 0.2))
    assert 0.25 <= row["fraction_all_low"] < row["fraction_all"] < row["fraction_all_high"] <= 1
    assert erasure_scores(frame, draws=0)["fraction_all_low"].null_count() == 1


def test_frames_of_other_experiments_are_refused() -> None:
    with pytest.raises(BadInput, match="the frame of `erasure` is needed, and this one has no column 'delete_att"):
        erasure_scores(removal(make_evidence()))
