import numpy as np
import polars as pl
import pytest
from scipy import stats

from heedful.errors import BadConfig, BadInput
from heedful.experiments import correlation, summary
from tests.making import make_evidence, make_importance


@pytest.mark.parametrize("outputs", [1, 3])
def test_taus_are_scipys_at_the_decided_output(outputs: int) -> None:
    evidence = make_evidence(4, n=20, outputs=outputs, longest=9)
    importance = make_importance(evidence)
    frame = correlation(evidence, importance)
    decided = evidence.decisions if outputs > 1 else np.zeros(len(evidence), dtype=int)
    for row, name in enumerate(evidence.ids):
        mine = importance.filter(pl.col("id") == name)
        gradient = mine.filter((pl.col("measure") == "gradient") & (pl.col("output") == decided[row]))["values"][0]
        deletion = mine.filter(pl.col("measure") == "leave_one_out")["values"][0]
        pairs = {
            "attention_gradient": (evidence.weights[row], np.abs(gradient)),
            "attention_leave_one_out": (evidence.weights[row], np.abs(deletion)),
            "gradient_leave_one_out": (np.abs(gradient), np.abs(deletion)),
        }
        for pair, (x, y) in pairs.items():
            if len(x) == 1:
                assert frame[f"tau_{pair}"][row] is None
                continue
            expected = stats.kendalltau(x, y)
            assert frame[f"tau_{pair}"][row] == pytest.approx(expected.statistic)
            assert frame[f"p_{pair}"][row] == pytest.approx(expected.pvalue)


def test_the_summary_is_by_decided_class_and_overall() -> None:
    evidence = make_evidence(4, n=40, longest=9)
    frame = correlation(evidence, make_importance(evidence))
    table = summary(frame)
    tau, p_value = frame["tau_attention_gradient"], frame["p_attention_gradient"]
    row = table.filter((pl.col("quantity") == "tau_attention_gradient") & pl.col("decision").is_null())
    assert row["mean"].item() == pytest.approx(tau.mean())
    assert row["std"].item() == pytest.approx(tau.std(ddof=0))
    assert (row["n"].item(), row["undefined"].item()) == (len(tau) - tau.null_count(), tau.null_count())
    for decided in (0, 1):
        chosen = p_value.filter(frame["decision"] == decided).drop_nulls()
        quantity = pl.col("quantity") == "significant_attention_gradient"
        row = table.filter(quantity & (pl.col("decision") == decided))
        assert row["mean"].item() == pytest.approx((chosen <= 0.05).mean())


def test_importance_that_does_not_fit_is_refused_by_name() -> None:
    evidence = make_evidence(n=3)
    importance = make_importance(evidence)
    with pytest.raises(BadInput, match="no row for instance 'i1'"):
        correlation(evidence, importance.filter(pl.col("id") != "i1"))
    with pytest.raises(BadInput, match="more than one row"):
        correlation(evidence, pl.concat([importance, importance]))
    with pytest.raises(BadInput, match="'gradient', instance 'i0': the number of values"):
        correlation(evidence, importance.with_columns(pl.col("values").list.concat([1.0])))
    with pytest.raises(BadInput, match="NaN"):
        correlation(evidence, importance.with_columns(pl.col("values").list.eval(pl.element() * float("nan"))))
    with pytest.raises(BadInput, match="no column 'measure'"):
        correlation(evidence, importance.drop("measure"))
    with pytest.raises(BadConfig, match="top = 0"):
        correlation(evidence, importance, top=0)
