import numpy as np
import polars as pl
import pytest
from scipy import stats

from heedful.errors import BadConfig, BadInput
from heedful.experiments import correlation, summary
from heedful.ragged import Ragged
from heedful.rank_correlation import top_distance
from tests.making import instance, make_evidence, make_importance


@pytest.mark.parametrize("outputs", [1, 3])
def test_taus_are_scipys_at_the_decided_output(outputs: int) -> None:
    evidence = make_evidence(4, n=20, outputs=outputs, longest=9)
    importance = make_importance(evidence)
    frame = correlation(evidence, importance, top=3)
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
            distance = top_distance(Ragged.from_rows([x]), Ragged.from_rows([y]), top=3)[0]
            assert frame[f"top_{pair}"][row] == (pytest.approx(distance) if len(x) > 1 else None)
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
    with pytest.raises(BadInput, match="rename it"):
        correlation(evidence, importance.with_columns(measure=pl.lit("attention")))
    with pytest.raises(BadConfig, match="top = 0"):
        correlation(evidence, importance, top=0)


def test_small_differences_of_importance_are_seen() -> None:
    evidence = instance([0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0])
    for values in ([1e-50, 2e-50, 3e-50, 4e-50], [1.0, 1 + 1e-9, 1 + 2e-9, 1 + 3e-9]):
        importance = pl.DataFrame({"id": ["only"], "measure": ["mine"], "output": [None], "values": [values]})
        assert correlation(evidence, importance)["tau_attention_mine"].to_list() == [1.0]


def test_no_instances_have_no_rows() -> None:
    evidence = make_evidence()
    assert len(correlation(evidence.slice(0, 0), make_importance(evidence))) == 0


def test_a_p_value_at_the_limit_is_significant() -> None:
    frame = pl.DataFrame({"decision": [0, 0], "p_attention_gradient": [0.05, 0.051]})
    table = summary(frame).filter(pl.col("decision").is_null())
    assert table["quantity"].to_list() == ["significant_attention_gradient"]
    assert table["mean"].to_list() == [0.5]
