"""What Serrano & Smith's training adds: patience, falling rates, dropout, limits of gradients, vectors and batches."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from heedful.models.batches import Inputs
from heedful.models.checkpoint import Checkpoint
from heedful.models.classifier import Classifier
from heedful.models.documents import Dropout
from heedful.models.embedding_gradients import Tables
from heedful.models.options import TrainingOptions
from heedful.models.schedule import finished, learning_rate, training_batches
from heedful.models.training import Examples, make_optimiser, train, train_step
from heedful.ragged import Ragged
from tests.models.making import WORDS, Killed, killer, make_documents, make_examples, make_model

DROPOUT = Dropout(0.3, 0.2, 0.1)


def history(*accuracies: float) -> list[dict[str, Any]]:
    return [{"dev": {"accuracy": accuracy, "roc_auc": None}} for accuracy in accuracies]


def test_training_ends_when_patience_runs_out() -> None:
    options = TrainingOptions(epochs=10, patience=2, select="accuracy")
    assert not finished(history(0.5, 0.7, 0.6), options)
    assert finished(history(0.5, 0.7, 0.6, 0.7), options)  # as good is not better
    assert not finished(history(0.5, 0.7, 0.6, 0.8), options)
    assert not finished([], options)
    assert finished(history(*[0.5] * 10), TrainingOptions(epochs=10))
    assert not finished(history(*[0.5] * 9), TrainingOptions(epochs=10))  # no patience asked for


def test_the_rate_falls_after_every_epoch_that_is_not_the_best() -> None:
    options = TrainingOptions(learning_rate=0.8, decay=0.5, select="accuracy")
    assert learning_rate([], options) == 0.8
    assert learning_rate(history(0.5, 0.7), options) == 0.8
    assert learning_rate(history(0.5, 0.7, 0.6, 0.7, 0.9), options) == pytest.approx(0.2)
    assert learning_rate(history(0.5, 0.4), TrainingOptions(learning_rate=0.8)) == 0.8


def test_rates_are_those_of_torchs_scheduler() -> None:
    accuracies = [0.5, 0.50004, 0.5001, 0.51, 0.51, 0.50, 0.5100001, 0.6]
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([parameter], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, mode="max", factor=0.5, patience=0)
    options = TrainingOptions(learning_rate=1.0, decay=0.5, select="accuracy")
    for done, accuracy in enumerate(accuracies, start=1):
        scheduler.step(accuracy)
        assert learning_rate(history(*accuracies[:done]), options) == optimiser.param_groups[0]["lr"]


def documents(n: int = 40, seed: int = 0) -> Examples:
    """Documents of sentences whose label is told by one word."""
    draw = np.random.default_rng(seed)
    sizes = [draw.integers(1, 6, size=draw.integers(1, 5)).tolist() for _ in range(n)]
    inputs, labels = make_documents(sizes, seed), draw.integers(0, 3, size=n)
    words = np.where(inputs.tokens.values < 10, 10, inputs.tokens.values)
    words[inputs.tokens.offsets[:-1] + draw.integers(0, inputs.tokens.lengths)] = 4 + labels
    return Examples(Inputs(inputs.tokens.like(words), sentences=inputs.sentences), labels.astype(np.int64))


def run(model: Classifier, folder: Path, *, on_step: Any = lambda step: None, **options: Any) -> list[dict[str, Any]]:
    settings = TrainingOptions(
        **{"epochs": 4, "batch": 8, "class_weights": False, "select": "accuracy", "decay": 0.5, **options}
    )
    return train(
        model,
        documents(),
        documents(20, seed=1),
        settings,
        classes=("a", "b", "c"),
        seed=0,
        checkpoint=Checkpoint(folder),
        on_step=on_step,
    )


def han(dropout: Dropout = DROPOUT) -> Classifier:
    return make_model("bigru", kind="han", outputs=3, dropout=dropout)


@pytest.mark.parametrize("moment", [2, 7, 13])
def test_dropout_and_rates_are_the_same_after_a_kill(tmp_path: Path, moment: int) -> None:
    whole, killed = han(), han()
    expected = run(whole, tmp_path / "a", clip_norm=1.0, max_norm=2.0, learning_rate=0.01)
    with pytest.raises(Killed):
        run(killed, tmp_path / "b", on_step=killer(moment), clip_norm=1.0, max_norm=2.0, learning_rate=0.01)
    torch.rand(3)  # whatever else was drawn in between
    resumed = han()
    assert run(resumed, tmp_path / "b", clip_norm=1.0, max_norm=2.0, learning_rate=0.01) == expected
    for name, parameter in whole.named_parameters():
        assert torch.equal(parameter, resumed.get_parameter(name)), name


def test_the_callers_generator_is_left_alone(tmp_path: Path) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    run(han(), tmp_path, epochs=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_hierarchical_model_learns_what_there_is_to_learn(tmp_path: Path) -> None:
    records = run(han(Dropout()), tmp_path, epochs=30, learning_rate=0.02, decay=1.0)
    assert max(record["dev"]["accuracy"] for record in records) > 0.9


def test_patience_ends_training_and_the_best_epoch_is_kept(tmp_path: Path) -> None:
    records = run(han(), tmp_path, epochs=50, patience=3, learning_rate=1e-6)
    assert len(records) < 50
    accuracies = [record["dev"]["accuracy"] for record in records]
    assert len(records) - 1 - int(np.argmax(accuracies)) == 3


def one_step(model: Classifier, **options: Any) -> dict[str, torch.Tensor]:
    """A step's gradients, as the optimiser meets them."""
    examples, settings = documents(), TrainingOptions(**options)
    optimiser, tables = make_optimiser(model, settings), Tables(model)
    kept: dict[str, torch.Tensor] = {}
    optimiser.step = lambda: kept.update(  # type: ignore[method-assign]
        {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    )
    labels = torch.from_numpy(examples.labels)
    train_step(
        model,
        optimiser,
        tables,
        examples.inputs,
        lambda logits: 100 * torch.nn.functional.cross_entropy(logits, labels),
        options=settings,
    )
    return kept


def test_gradients_are_clipped() -> None:
    free, by_norm, by_value = (
        one_step(han(Dropout()), **limit) for limit in ({}, {"clip_norm": 0.5}, {"clip_value": 0.1})
    )
    norm = torch.stack([gradient.norm() for gradient in free.values()]).norm()
    assert norm > 0.5
    for name, gradient in free.items():
        assert torch.allclose(by_norm[name], gradient * 0.5 / norm, atol=1e-6)
        assert torch.allclose(by_value[name], gradient.clamp(-0.1, 0.1), atol=1e-6)


def test_vectors_are_bounded_when_they_are_read() -> None:
    model = han()
    rows = torch.from_numpy(np.unique(documents().inputs.tokens.values).astype(np.int64))
    before = model.embedding.detach().clone()
    one_step(model, max_norm=1.0)
    assert (model.embedding[rows].norm(dim=1) <= 1 + 1e-5).all()
    unread = np.setdiff1d(np.arange(WORDS), rows)
    assert torch.equal(model.embedding[unread], before[unread])


def test_the_vectors_of_a_trained_model_are_bounded(tmp_path: Path) -> None:
    model = han()
    run(model, tmp_path, epochs=2, max_norm=1.0, learning_rate=0.1)
    assert (model.embedding.norm(dim=1) <= 1 + 1e-5).all()


def test_batches_have_so_many_tokens_at_most() -> None:
    draw = np.random.default_rng(0)
    flat = Inputs(Ragged.from_rows([np.ones(size) for size in draw.integers(1, 60, size=150)], dtype=np.int32))
    batches = training_batches(flat, size=16, seed=0, epoch=0, tokens=200)
    assert sorted(np.concatenate(batches).tolist()) == list(range(150))
    assert max(len(batch) for batch in batches) == 16
    assert all(len(batch) == 1 or len(batch) * flat.tokens.lengths[batch].max() <= 200 for batch in batches)


def test_batches_of_documents_are_bounded_by_their_longest_sentence() -> None:
    inputs = documents(60).inputs
    assert inputs.sentences is not None
    longest = inputs.sentences.max()
    batches = training_batches(inputs, size=16, seed=0, epoch=0, tokens=20)
    assert sorted(np.concatenate(batches).tolist()) == list(range(60))
    assert all(len(batch) * longest[batch].max() <= 20 for batch in batches)
    assert any(len(batch) * inputs.tokens.lengths[batch].max() > 20 for batch in batches)


def test_one_example_is_enough_for_a_limit() -> None:
    flat = Inputs(make_examples(3).inputs.tokens)
    assert [len(batch) for batch in training_batches(flat, size=8, seed=0, epoch=0, tokens=1)] == [1, 1, 1]
