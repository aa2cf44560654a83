import numpy as np
import pytest

from heedful.models.metrics import classification_metrics


def test_two_classes() -> None:
    metrics = classification_metrics(np.array([0, 0, 1, 1]), np.array([[0.1], [0.6], [0.7], [0.9]]), ("no", "yes"))
    assert metrics["accuracy"] == 0.75
    assert metrics["roc_auc"] == 1.0
    assert metrics["average_precision"] == 1.0
    assert metrics["classes"]["no"] == {"precision": 1.0, "recall": 0.5, "f1_score": pytest.approx(2 / 3), "support": 2}
    assert metrics["macro_f1"] == pytest.approx((2 / 3 + 0.8) / 2)


def test_more_classes_are_judged_against_the_rest() -> None:
    output = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.4, 0.1]])
    metrics = classification_metrics(np.array([0, 1, 2, 1]), output, ("a", "b", "c"))
    assert metrics["accuracy"] == 0.75
    assert metrics["roc_auc"] == 1.0


def test_one_class_only_is_defined() -> None:
    metrics = classification_metrics(np.array([1, 1]), np.array([[0.2], [0.7]]), ("a", "b"))
    assert metrics["roc_auc"] is None
    assert metrics["average_precision"] is None
    assert metrics["accuracy"] == 0.5


def test_awkward_class_names_do_not_collide() -> None:
    metrics = classification_metrics(np.array([0, 1]), np.array([[0.2], [0.7]]), ("accuracy", "macro avg"))
    assert metrics["classes"]["accuracy"]["support"] == 1
    assert metrics["classes"]["macro avg"]["support"] == 1
