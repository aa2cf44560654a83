"""Figures that the papers published, to be set beside ours."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import NamedTuple

import polars as pl


class Tau(NamedTuple):
    """A cell of Jain & Wallace's Table 2."""

    mean: float
    std: float
    significant: float  # share of instances with p <= 0.05


class CorpusFigures(NamedTuple):
    """A row of Jain & Wallace's Table 1."""

    vocabulary: int
    mean_length: int
    train: tuple[int, ...]  # instances by class, or of all classes
    test: tuple[int, ...]
    performance: float  # on test, of the BiLSTM with additive attention
    metric: str  # f1, micro-f1 or accuracy; the paper does not say which mean of the classes' F1 it gives


def table1(corpus: str) -> CorpusFigures | None:
    """What the paper says of a corpus; None where it says nothing."""
    rows = _read("jain_wallace_table1.csv").filter(pl.col("corpus") == corpus)
    if not len(rows):
        return None
    row = rows.row(0, named=True)
    train, test = (tuple(map(int, row[f"{split}_per_class"].split("/"))) for split in ("train", "test"))
    return CorpusFigures(
        row["vocabulary"], row["mean_length"], train, test, row["test_performance_bilstm"], row["metric"]
    )


def table2(corpus: str, encoder: str, measure: str, decision: int | None) -> Tau | None:
    """What the paper gives for Kendall's tau of attention and a measure, by class or (None) over all; None where it
    gives nothing."""
    short = {"gradient": "gradient", "leave_one_out": "loo"}.get(measure)
    frame = _read("jain_wallace_table2.csv")
    columns = [f"{short}_{encoder}_{name}" for name in Tau._fields]
    group = "overall" if decision is None else str(decision)
    row = frame.filter((pl.col("corpus") == corpus) & (pl.col("class") == group))
    if not len(row) or not set(columns) <= set(frame.columns):
        return None
    return Tau(*row.select(columns).row(0))


# where the released code of Jain & Wallace has the classes in another order than the paper
_RELEASED_CLASSES = {"snli": ("contradiction", "entailment", "neutral"), "mimic-anemia": ("chronic", "acute")}


def released_code() -> pl.DataFrame:
    """All values committed beside the released code of Jain & Wallace, a later re-run and not the paper's tables: one
    row a `quantity` (`tau_gradient`, `tau_leave_one_out`, `test_metric`), `corpus`, `encoder`, `attention`, `class`
    (an index in the order of that code, or `overall`) and `statistic`; `value` is null where it is undefined there.
    """
    return _read("jain_wallace_released_code.csv")


def released_tau(
    corpus: str, encoder: str, attention: str, measure: str, *, decision: int | None, classes: Sequence[str]
) -> Tau | None:
    """What the released code gave for Kendall's tau of attention and a measure, by class or (None) over all; None where
    it gave nothing. `decision` is an index into `classes`, whatever their order: it is the names that count."""
    group = "overall"
    if decision is not None:
        there = _RELEASED_CLASSES.get(corpus, classes)
        if classes[decision] not in there:
            return None
        group = str(there.index(classes[decision]))
    key = (f"tau_{measure}", corpus, encoder, attention, group)
    mean, std, significant = (_released().get((*key, name)) for name in ("mean", "std", "significant_fraction"))
    return None if mean is None or std is None or significant is None else Tau(mean, std, significant)


def released_metric(corpus: str, encoder: str, attention: str, metric: str) -> float | None:
    """What the released code gave for a test metric, named as in metrics.json; None where it gave nothing."""
    return _released().get(("test_metric", corpus, encoder, attention, "overall", _METRICS.get(metric, metric)))


def gradient_beats_attention(corpus: str, model: str, encoder: str) -> float | None:
    """In which share of the test documents of several sentences Serrano & Smith's gradient ranking changed the decision
    with fewer removals than attention; None where they give nothing. Documents that neither changes are counted."""
    frame = _read("serrano_smith.csv")
    of = {"quantity": "grad_beats_attn_fraction", "corpus": corpus, "model": model, "encoder": encoder}
    values = frame.filter(pl.all_horizontal(pl.col(name) == value for name, value in of.items()))["value"]
    return float(values[0]) if len(values) else None


_METRICS = {
    "accuracy": "Overall/accuracy",
    "macro_f1": "macro avg/f1-score",
    "roc_auc": "Overall/roc_auc",
    "average_precision": "Overall/pr_auc",
}


@cache
def _released() -> dict[tuple[str, ...], float]:
    """Values by all the columns before them."""
    return {tuple(row[:-1]): row[-1] for row in released_code().iter_rows() if row[-1] is not None}


@cache
def _read(name: str) -> pl.DataFrame:
    return pl.read_csv(BytesIO(files(__name__).joinpath(name).read_bytes()), infer_schema_length=None)
