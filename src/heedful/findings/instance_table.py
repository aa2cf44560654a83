"""One row per instance: the figures of all experiments, for charts, lists and comparisons."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from heedful.evidence import chance, collect, decide, scan
from heedful.files import scan_parquet
from heedful.runs.directory import STAGES, Run
from heedful.workspace.folder import damage_named

Kind = Literal["figure", "count", "flag", "class"]


class Column(NamedTuple):
    """A figure of an instance."""

    name: str  # in the report
    title: str
    meaning: str
    kind: Kind
    experiment: str  # that found it; `evidence` for what the model itself says
    source: str  # its column there


_RANKINGS = {
    "attention": "attention",
    "gradient": "the gradient",
    "gradient_attention": "gradient x attention",
    "contribution": "contribution",
    "random": "a random order",
    "ascending": "rising attention",
    "optimal": "the best choice there is",
}

# by experiment and kind: name, source, title and meaning of each column
_DECLARED: dict[tuple[str, Kind], list[tuple[str, str, str, str]]] = {
    ("evidence", "count"): [("items", "tokens", "items", "Attended items: words, or sentences in a HAN.")],
    ("evidence", "class"): [
        ("label", "label", "label", "The true class."),
        ("decision", "output", "decision", "The predicted class."),
    ],
    ("evidence", "flag"): [("wrong", "output", "wrong", "Whether the decision is wrong.")],
    ("evidence", "figure"): [("confidence", "output", "confidence", "Probability of the decision.")],
    ("correlation", "figure"): [
        ("tau_gradient", "tau_attention_gradient", "τ gradient", "Kendall's tau of attention and gradient."),
        ("p_gradient", "p_attention_gradient", "p gradient", "The p-value of that tau."),
        (
            *("tau_leave_one_out", "tau_attention_leave_one_out", "τ leave-one-out"),
            "Kendall's tau of attention and leave-one-out.",
        ),
        ("p_leave_one_out", "p_attention_leave_one_out", "p leave-one-out", "The p-value of that tau."),
        (
            *("tau_between", "tau_gradient_leave_one_out", "τ between"),
            "Kendall's tau of gradient and leave-one-out: how well two importance measures agree.",
        ),
    ],
    ("permutation", "figure"): [
        ("max_attention", "max_attention", "max attention", "The largest weight."),
        (
            *("permuted_tvd", "median", "TVD permuted"),
            "How far shuffling the weights moves the output (TVD, 0 to 1; median over shuffles).",
        ),
        ("permuted_changed", "changed", "changed by shuffles", "Share of shuffles that change the decision."),
    ],
    ("permutation", "flag"): [
        ("order_changes", "can_change", "some order changes it", "Whether some order of weights changes it.")
    ],
    ("adversary", "figure"): [
        (
            "jsd",
            "jsd",
            "ε-max JSD",
            "How different attention could be (JSD, at most 0.69) with nearly the same output.",
        ),
        ("jsd_upper", "upper", "JSD at most", "Upper bound of that JSD."),
        ("adversary_tvd", "tvd", "TVD adversarial", "How far that attention moves the output."),
    ],
    ("adversary_search", "figure"): [("jsd_search", "jsd", "JSD searched", "The JSD found by the paper's search.")],
    ("reach", "flag"): [
        ("attention_matters", "can_change", "attention can change it", "Whether any attention changes it.")
    ],
    ("substitution", "figure"): [
        ("uniform_tvd", "uniform_tvd", "TVD uniform", "How far uniform weights move the output.")
    ],
    ("substitution", "flag"): [
        ("uniform_changed", "uniform_changed", "changed by uniform", "Whether uniform weights change it.")
    ],
    ("single_weight", "figure"): [
        ("top_js", "attention_js", "JS top", "How far zeroing the most attended item moves the output."),
        (
            *("delta_js", "attention_delta_js", "ΔJS"),
            "How much further zeroing the most attended item moves the output than zeroing a random one.",
        ),
        ("delta_weight", "attention_delta_weight", "Δα", "Difference in weight of these two items."),
    ],
    ("single_weight", "flag"): [
        ("top_flips", "attention_flips", "top item decides", "Whether zeroing the top item changes it.")
    ],
    ("removal", "count"): [
        ("flip_set", "optimal_count", "flip set", "The fewest items to zero that change the decision."),
        ("removed", "attention_count", "zeroed", "Items zeroed, most attended first, until the decision changes."),
    ],
    ("removal", "figure"): [
        (source, source, f"{what} by {words}", f"Share of {what} zeroed, by {words}, when the decision changes.")
        for ranking, words in _RANKINGS.items()
        for source, what in ((f"{ranking}_fraction", "items"), (f"{ranking}_mass", "attention"))
    ],
    ("violation", "flag"): [
        ("violates", "violates", "argues against", "Whether the most attended item argues against the decision.")
    ],
    ("truth", "figure"): [("truth_mass", "mass", "on truth", "Attention on the items known to decide.")],
    ("truth", "flag"): [("truth_top", "top", "top is truth", "Whether the most attended item is known to decide.")],
}
COLUMNS = {
    name: Column(name, title, meaning, kind, experiment, source)
    for (experiment, kind), columns in _DECLARED.items()
    for name, source, title, meaning in columns
}


def columns_of(run: Run) -> list[Column]:
    """The columns that a run has: those of the experiments that were performed."""
    found = {"evidence": {"tokens", "output", "label"}}
    for experiment in {column.experiment for column in COLUMNS.values()} - {"evidence"}:
        done = run.done(experiment)
        found[experiment] = set(_scan(run, experiment).collect_schema().names()) if done else set()
    return [column for column in COLUMNS.values() if column.source in found[column.experiment]]


def instance_rows(run: Run, names: Iterable[str]) -> pl.DataFrame:
    """The named columns, and `id`, in the order of the evidence; what a run has not is left out."""
    wanted = set(names)
    columns = [column for column in columns_of(run) if column.name in wanted]
    frames = [_evidence_rows(run)]
    for experiment in dict.fromkeys(column.experiment for column in columns if column.experiment != "evidence"):
        chosen = {column.name: column.source for column in columns if column.experiment == experiment}
        with damage_named(run.folder / STAGES[experiment].files[0], pl.exceptions.PolarsError):
            frame = _scan(run, experiment).select(pl.col("id"), **{n: pl.col(s) for n, s in chosen.items()}).collect()
        frames.append(frame.drop("id") if frame["id"].equals(frames[0]["id"]) else _aligned(frames[0], frame))
    return pl.concat(frames, how="horizontal").select("id", *(column.name for column in columns))


def _aligned(rows: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    """Figures in the order of the evidence; an instance that an experiment knows nothing of has none."""
    return rows.select("id").join(frame, on="id", how="left", maintain_order="left").drop("id")


def _scan(run: Run, experiment: str) -> pl.LazyFrame:
    return scan_parquet(run.folder / STAGES[experiment].files[0])


def _evidence_rows(run: Run) -> pl.DataFrame:
    """What the model decided."""
    run.require("evidence")
    path = run.folder / "evidence.parquet"
    frame = scan(path)
    label = "label" if "label" in frame.collect_schema().names() else pl.lit(None, dtype=pl.Int32).alias("label")
    rows = collect(frame.select("id", pl.col("tokens").list.len().cast(pl.Int32).alias("items"), label, "output"), path)
    output = np.stack(rows["output"].to_list()) if len(rows) else np.zeros((0, 1))  # (n, K)
    decided = decide(output)
    wrong = (pl.Series(decided, dtype=pl.Int32) != pl.col("label")).fill_null(True)
    return rows.drop("output").with_columns(
        decision=pl.Series(decided, dtype=pl.Int32),
        confidence=pl.Series(chance(output, decided)),
        # where others have a label, the answer is none of the classes and cannot be given: missed, as in all scores
        wrong=pl.when(pl.col("label").is_not_null().any()).then(wrong),
    )
