"""The figures that were published."""

import polars as pl
import pytest

from heedful.published import released_code, released_metric, released_tau, table2


def test_all_values_of_the_released_code() -> None:
    frame = released_code()
    assert len(frame) == 2454
    assert frame.columns == ["quantity", "corpus", "encoder", "attention", "class", "statistic", "value"]
    assert set(frame["quantity"]) == {"tau_gradient", "tau_leave_one_out", "test_metric"}
    assert frame["value"].dtype == pl.Float64
    assert frame.drop("value").is_unique().all()


def test_a_cell_is_not_the_papers() -> None:
    found = released_tau("sst", "bilstm", "additive", "gradient", decision=0, classes=("negative", "positive"))
    paper = table2("sst", "bilstm", "gradient", 0)
    assert found is not None
    assert paper is not None
    assert found.mean == pytest.approx(0.343, abs=5e-4)
    assert paper.mean == 0.40


def test_classes_go_by_their_names() -> None:
    """The released code sorts those of SNLI, and has anemia the other way round."""
    raw = released_code().filter(
        (pl.col("corpus") == "snli")
        & (pl.col("encoder") == "bilstm")
        & (pl.col("attention") == "additive")
        & (pl.col("quantity") == "tau_leave_one_out")
        & (pl.col("statistic") == "mean")
    )
    there = dict(raw.select("class", "value").iter_rows())
    for classes in (("neutral", "contradiction", "entailment"), ("contradiction", "entailment", "neutral")):
        for index, name in enumerate(classes):
            told = released_tau("snli", "bilstm", "additive", "leave_one_out", decision=index, classes=classes)
            assert told is not None
            assert told.mean == there[str(["contradiction", "entailment", "neutral"].index(name))]
    acute = [
        released_tau("mimic-anemia", "bilstm", "additive", "gradient", decision=classes.index("acute"), classes=classes)
        for classes in (("acute", "chronic"), ("chronic", "acute"))
    ]
    assert acute[0] == acute[1] is not None
    assert released_tau("snli", "bilstm", "additive", "gradient", decision=0, classes=("yes", "no", "maybe")) is None


def test_what_is_undefined_or_not_there() -> None:
    two = ("a", "b")
    assert released_tau("newsgroups", "cnn", "dot", "gradient", decision=1, classes=two) is None  # NaN in their file
    assert released_tau("planted", "bilstm", "additive", "gradient", decision=None, classes=two) is None
    assert released_tau("sst", "bilstm", "additive", "integrated_gradients", decision=None, classes=two) is None
    assert released_metric("planted", "bilstm", "additive", "accuracy") is None


def test_metrics_by_our_names() -> None:
    assert released_metric("sst", "bilstm", "additive", "macro_f1") == pytest.approx(0.806, abs=5e-4)
    assert released_metric("babi-2", "bilstm", "additive", "accuracy") == pytest.approx(0.653, abs=5e-4)
