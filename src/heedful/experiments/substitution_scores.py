"""How well a model decides with weights that are not its own, over all instances."""

import numpy as np
import polars as pl

from heedful.experiments.arrays import Indices
from heedful.experiments.estimates import estimates
from heedful.experiments.frames import check_frame
from heedful.experiments.score_draws import score_draws
from heedful.experiments.substitution import KINDS
from heedful.measures import percentiles
from heedful.validation import NO_LABEL

_SCORES = ("accuracy", "macro_f1")
_COLUMNS = (*_SCORES, "agreement", *(f"{score}_change" for score in _SCORES))
_KINDS = dict.fromkeys((f"{name}{end}" for name in _COLUMNS for end in ("", "_low", "_high")), pl.Float64)


def substitution_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """Accuracy and macro F1 with the model's `own` weights and with each substitute, as in a run's metrics.

    The mean of F1 is over the classes that occur as label or decision. `agreement` is the share of all instances whose
    decision stays; `accuracy_change` and `macro_f1_change` are what a substitute adds to the score of the own weights.
    An instance without a label counts as missed; where nothing is labelled, scores are null. Intervals of 95 % by so
    many bootstrap draws of instances in `<figure>_low` and `<figure>_high` (null without draws).
    """
    kinds = ("own", *KINDS)
    names = ["decision", *(f"{kind}_decision" for kind in KINDS)]
    check_frame(frame, "substitution", ["label", *names])
    agreements = estimates(
        frame.select((pl.col(name) == pl.col("decision")).alias(name) for name in names), seed=seed, draws=draws
    )
    rows: list[dict[str, object]] = []
    for kind, name in zip(kinds, names, strict=True):
        told = agreements[name]
        agreement = {"agreement": told.mean, "agreement_low": told.low, "agreement_high": told.high}
        rows.append({"weights": kind, **agreement})
    labels = frame["label"].fill_null(NO_LABEL).to_numpy().astype(np.int64)
    if (labels != NO_LABEL).any():
        decisions = frame.select(names).cast(pl.Int64).to_numpy()
        for row, scores in zip(rows, _scores(labels, decisions, seed, draws), strict=True):
            row.update(scores)
    return pl.DataFrame(rows, schema={"weights": pl.String, **_KINDS})


def _scores(labels: Indices, decisions: Indices, seed: int, draws: int) -> list[dict[str, float | None]]:
    """Of each column of decisions (n, S); the first one is what changes are told from."""
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
