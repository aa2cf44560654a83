import polars as pl
import pytest

from heedful.errors import BadInput
from heedful.experiments import adversary_scores

FOUND = pl.DataFrame(
    {
        "id": list("abcd"),
        "jsd": [0.6, 0.5, 0.4, 0.3],
        "upper": [0.6, 0.6, 0.4, 0.3],
        "certified": [True, False, True, True],
    }
)


def test_the_search_is_compared_where_it_keeps_to_epsilon() -> None:
    search = pl.DataFrame({"id": list("abcd"), "jsd": [0.4, 0.5, 0.69, 0.0], "tvd": [0.01, 0.001, 0.04, 0.0]})
    scores = adversary_scores(FOUND, search, epsilon=0.01, draws=50)
    assert scores["jsd"].mean == pytest.approx(0.45)
    assert scores["upper"].mean == pytest.approx(0.475)
    assert scores["certified"].mean == 0.75
    assert scores["search_jsd"].mean == pytest.approx(0.3975)  # of all, as the paper has it
    assert scores["within"].mean == 0.75
    assert (scores["beaten"].mean, scores["beaten"].n) == (pytest.approx(2 / 3), 3)
    assert scores["missed"].mean == pytest.approx((0.2 + 0 + 0.3) / 3)
    assert scores["missed"].low is not None


def test_without_a_search_there_is_nothing_to_compare() -> None:
    assert list(adversary_scores(FOUND, None, epsilon=0.01, draws=0)) == ["jsd", "upper", "certified"]


def test_frames_of_other_instances_are_refused() -> None:
    search = pl.DataFrame({"id": list("abce"), "jsd": [0.1] * 4, "tvd": [0.0] * 4})
    with pytest.raises(BadInput, match="different instances"):
        adversary_scores(FOUND, search, epsilon=0.01)
    with pytest.raises(BadInput, match="no column 'upper'"):
        adversary_scores(search, None, epsilon=0.01)
