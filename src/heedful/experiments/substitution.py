"""How well does a model decide with uniform, random or permuted weights? (cf. Wiegreffe & Pinter 2019, section 3.1)"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from heedful.evidence import Evidence, probabilities
from heedful.evidence_checks import NO_LABEL
from heedful.experiments.experiment import Experiment, Headline, bounded, check_frame
from heedful.experiments.summary import estimates, interval_kinds
from heedful.experiments.views import view_of
from heedful.measures import percentiles, tvd
from heedful.ragged import Floats, Indices, Ragged
from heedful.randomness import Stream, keys

KINDS = ("uniform", "random", "permuted")
_SCORES = ("accuracy", "macro_f1")
_COLUMNS = (*_SCORES, "agreement", *(f"{score}_change" for score in _SCORES))


@bounded
def substitution(evidence: Evidence, *, seed: int = 0) -> pl.DataFrame:
    """One row an instance: for `uniform`, `random` (Dirichlet(1)) and `permuted` weights, one seeded draw each, the TVD
    from the model's own output, `<kind>_tvd`, the decision, `<kind>_decision`, and `<kind>_changed`. `decision` is the
    model's own, `label` the true class where it is known."""
    view = view_of(evidence)
    output = view.output
    columns: dict[str, object] = {
        "id": pl.Series(list(evidence.ids), dtype=pl.String),
        "label": evidence.label_column(),
        "decision": view.decided.astype(np.int32),
    }
    for kind, weights in substitutes(view.weights, evidence.ids, seed).items():
        sums = view.under(weights)
        columns[f"{kind}_tvd"] = tvd(probabilities(sums.logits), output)
        columns[f"{kind}_decision"] = sums.decided.astype(np.int32)
        columns[f"{kind}_changed"] = sums.decided != view.decided
    return pl.DataFrame(columns)


SUBSTITUTION = Experiment(
    name="substitution",
    function=substitution,
    question="How well does the model decide with uniform, random or permuted weights?",
    headline=Headline(pl.col("uniform_changed"), "Giving every {item} equal weight changes {:.1%} of decisions"),
    random=True,
    exact="yes, for seeded draws",
)


def substitutes(weights: Ragged, ids: Sequence[str], seed: int) -> dict[str, Ragged]:
    """The weights (N,) that replace the model's own, by kind."""
    rows = weights.row_of_value
    names = keys(ids)[rows]  # (N,)
    positions = np.arange(len(rows)) - weights.offsets[rows]  # (N,)
    drawn = -np.log(Stream(seed, "substitution: random").uniform(names, positions))  # exponential: Dirichlet(1)
    total = weights.like(drawn).sum()
    # sorting by row, then by random numbers, shuffles every row at once
    shuffled = np.lexsort((Stream(seed, "substitution: permuted").uniform(names, positions), rows))
    return {
        "uniform": weights.like(1.0 / weights.lengths[rows]),
        "random": weights.like(drawn / total[rows]),
        "permuted": weights.like(weights.values[shuffled]),
    }


def substitution_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """Accuracy and macro F1 with the model's `own` weights and with each substitute, as in a run's metrics.

    The mean of F1 is over the classes that occur as label or decision. `agreement` is the share of instances whose
    decision stays; `accuracy_change` and `macro_f1_change` are differences from the model's own weights. An instance
    without a label counts as missed; where nothing is labelled, scores are null. 95 % bootstrap intervals:
    `<figure>_low`, `<figure>_high` (null without draws).
    """
    kinds = ("own", *KINDS)
    names = ["decision", *(f"{kind}_decision" for kind in KINDS)]
    check_frame(frame, "substitution", ["label", *names])
    agreements = estimates(
        frame.select((pl.col(name) == pl.col("decision")).alias(name) for name in names), seed=seed, draws=draws
    )
    rows: list[dict[str, object]] = []
    for kind, name in zip(kinds, names, strict=True):
        rows.append({"weights": kind, **agreements[name].columns("agreement")})
    labels = frame["label"].fill_null(NO_LABEL).to_numpy().astype(np.int64)
    if (labels != NO_LABEL).any():
        decisions = frame.select(names).cast(pl.Int64).to_numpy()
        for row, scores in zip(rows, _scores(labels, decisions, seed, draws), strict=True):
            row.update(scores)
    return pl.DataFrame(rows, schema={"weights": pl.String, **interval_kinds(_COLUMNS)})


def _scores(labels: Indices, decisions: Indices, seed: int, draws: int) -> list[dict[str, float | None]]:
    """Scores of each column of decisions (n, S), and their changes from the first."""
    from sklearn.metrics import f1_score  # takes long to load, and only this needs it

    rows: list[dict[str, float | None]] = []
    for decided in decisions.T:
        occurring = sorted({*labels.tolist(), *decided.tolist()} - {NO_LABEL})
        macro = f1_score(labels, decided, average="macro", labels=occurring, zero_division=0.0)
        rows.append({"accuracy": float((labels == decided).mean()), "macro_f1": float(macro)})
    own = rows[0]
    for row in rows[1:]:
        row |= {f"{score}_change": row[score] - own[score] for score in _SCORES}  # type: ignore[operator]
    if draws:
        for score, drawn in zip(_SCORES, score_draws(labels, decisions, seed=seed, draws=draws), strict=True):
            for index, row in enumerate(rows):
                for name, values in ((score, drawn), (f"{score}_change", drawn - drawn[:, :1])):
                    interval = percentiles(values[:, index]) if name in row else None
                    row[f"{name}_low"], row[f"{name}_high"] = interval or (None, None)
    return rows


def score_draws(labels: Indices, decisions: Indices, *, seed: int, draws: int) -> tuple[Floats, Floats]:
    """Bootstrap draws of accuracy and macro F1, (draws, S) each, for labels (n,) and S columns of decisions (n, S). All
    columns share the draws, so that they can be subtracted.

    Instances with the same label and decisions are drawn together, as counts: there are few different ones. The mean of
    F1 is over the classes that occur in a draw as label or decision; an instance without a label counts as missed.
    """
    alike, counts = np.unique(np.column_stack([labels, decisions]), axis=0, return_counts=True)  # (U, 1 + S), (U,)
    generator = Stream(seed, "bootstrap of scores").generator()
    times = generator.multinomial(len(labels), counts / len(labels), size=draws).astype(np.float64)  # (draws, U)
    classes = np.setdiff1d(alike, [NO_LABEL])  # (C,)
    label = np.equal.outer(alike[:, 0], classes)  # (U, C)
    accuracies, scores = [], []
    for decision in alike.T[1:]:
        decided = np.equal.outer(decision, classes)
        right = times @ (label & decided)  # (draws, C)
        sizes = times @ (label.astype(np.float64) + decided)  # twice what F1 divides by
        f1 = np.divide(2 * right, sizes, out=np.full_like(sizes, np.nan), where=sizes > 0)
        accuracies.append(right.sum(axis=1) / len(labels))
        scores.append(np.nanmean(f1, axis=1))
    return np.stack(accuracies, axis=1), np.stack(scores, axis=1)
