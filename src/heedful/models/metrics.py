"""How well a model classifies: scikit-learn's report, accuracy, ROC-AUC and average precision."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.evidence import decide
from heedful.evidence_checks import NO_LABEL


def classification_metrics(labels: NDArray[Any], output: NDArray[Any], classes: tuple[str, ...]) -> dict[str, Any]:
    """Metrics of outputs (n, K); what needs every class is None where one does not occur. An answer that is none of the
    classes (NO_LABEL) counts as missed.

    What is said class by class, and its means, are of the classes that occur. `roc_auc` and `average_precision` are
    those of the second class for two classes, and the mean over classes against the rest for more.
    """
    from sklearn.metrics import average_precision_score, classification_report, roc_auc_score

    indices = list(range(len(classes)))
    decisions = decide(output)
    occurring = sorted({*labels.tolist(), *decisions.tolist()} - {NO_LABEL})
    report = classification_report(labels, decisions, labels=occurring, output_dict=True, zero_division=0.0)
    hits = np.equal.outer(labels, indices)  # (n, classes)
    chances = np.column_stack([1 - output, output]) if output.shape[1] == 1 else output
    judged = [1] if len(classes) == 2 else indices
    mixed = all(0 < hits[:, index].sum() < len(labels) for index in judged)

    def mean_of(score: Any) -> float | None:
        return float(np.mean([score(hits[:, index], chances[:, index]) for index in judged])) if mixed else None

    return {
        "n": len(labels),
        "accuracy": float((decisions == labels).mean()),
        "macro_f1": float(report["macro avg"]["f1-score"]),
        "roc_auc": mean_of(roc_auc_score),
        "average_precision": mean_of(average_precision_score),
        "classes": {classes[index]: _plain(report[str(index)]) for index in occurring},
        "macro": _plain(report["macro avg"]),
        "weighted": _plain(report["weighted avg"]),
    }


def _plain(row: dict[str, Any]) -> dict[str, float]:
    return {name.replace("-", "_"): float(value) for name, value in row.items()}
