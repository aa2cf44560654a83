import numpy as np
import pytest

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments import truth
from heedful.ragged import Ragged


def _evidence(weights: list[list[float]], deciding: list[list[bool]] | None) -> Evidence:
    rows = Ragged.from_rows(weights, dtype=np.float32)
    return Evidence(
        ids=[str(index) for index in range(len(weights))],
        tokens=rows.like(np.array(["x"] * len(rows.values), dtype=object)),
        weights=rows,
        output=np.full((len(weights), 1), 0.5, dtype=np.float32),
        truth=None if deciding is None else Ragged.from_rows(deciding, dtype=bool),
    )


def test_mass_share_and_top() -> None:
    frame = truth(_evidence([[0.5, 0.25, 0.25], [0.1, 0.9]], [[True, False, True], [True, False]]))
    assert frame["mass"].to_list() == pytest.approx([0.75, 0.1])
    assert frame["share"].to_list() == pytest.approx([2 / 3, 1 / 2])
    assert frame["top"].to_list() == [True, False]
    assert frame["decision"].to_list() == [0, 0]


def test_ties_one_item_and_nothing_known_are_defined() -> None:
    frame = truth(_evidence([[0.5, 0.5], [1.0], [0.3, 0.7]], [[False, True], [True], [False, False]]))
    assert frame["top"].to_list() == [False, True, None]
    assert frame["mass"].to_list() == [0.5, 1.0, None]


def test_evidence_without_truth_says_so() -> None:
    with pytest.raises(BadInput, match="no column 'truth'"):
        truth(_evidence([[1.0]], None))
