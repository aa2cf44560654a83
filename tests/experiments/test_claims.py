"""The paper's findings in frames made for the purpose."""

import polars as pl
import pytest

from heedful.experiments import claims, removal, single_weight
from tests.making import make_evidence


def removed(counts: list[tuple[int | None, int | None, int | None]], *, items: int = 9) -> pl.DataFrame:
    names = ("attention_count", "gradient_count", "random_count")
    return pl.DataFrame(counts, schema=dict.fromkeys(names, pl.Int32), orient="row").with_columns(items=pl.lit(items))


def verdicts(frame: pl.DataFrame) -> dict[str, tuple[float | None, float | None, bool | None]]:
    return {row["claim"]: (row["share"], row["against"], row["holds"]) for row in frame.iter_rows(named=True)}


def test_wins_are_of_all_instances_and_tested() -> None:
    found = verdicts(claims(None, removed([(3, 1, 5)] * 30 + [(1, 2, None)] * 5 + [(None, None, None)] * 5)))
    assert found["zeroing in gradient order flips decisions sooner than in attention order"] == (0.75, 0.125, True)
    assert found["zeroing in attention order flips decisions sooner than in random order"] == (0.875, 0.0, True)
    assert found["zeroing in gradient x attention order flips decisions sooner than in attention order"] == (
        None,
        None,
        None,
    )


def test_the_opposite_does_not_hold_and_too_little_tells_nothing() -> None:
    claim = "zeroing in gradient order flips decisions sooner than in attention order"
    assert verdicts(claims(None, removed([(1, 2, 1)] * 20)))[claim] == (0.0, 1.0, False)
    assert verdicts(claims(None, removed([(2, 1, 1)] * 3)))[claim] == (1.0, 0.0, None)
    assert verdicts(claims(None, removed([(2, 1, 1)] * 20, items=1)))[claim] == (None, None, None)


def test_some_instances_only() -> None:
    frame = removed([(3, 1, 5)] * 20 + [(1, 3, 5)] * 20)
    only = pl.Series([True] * 20 + [False] * 20)
    claim = "zeroing in gradient order flips decisions sooner than in attention order"
    assert verdicts(claims(None, frame, only=only))[claim] == (1.0, 0.0, True)


@pytest.mark.parametrize("outputs", [1, 3])
def test_single_removals_that_change_decisions_are_counted(outputs: int) -> None:
    evidence = make_evidence(4, n=80, outputs=outputs)
    frame = single_weight(evidence)
    several = frame.filter(pl.col("items") > 1)
    changed = several["attention_flips"].mean()
    (share, against, holds), *_ = verdicts(claims(frame, removal(evidence))).values()
    assert share == pytest.approx(1 - changed)
    assert against == pytest.approx(changed)
    assert holds == (changed < 0.5)


def test_nothing_performed_is_nothing_told() -> None:
    assert len(claims(None, None)) == 0
    single = single_weight(make_evidence(longest=1))
    assert claims(single, None).row(0)[1:] == (0, None, None, None)
