from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.plain import PlainBiLSTM
from heedful.errors import BadConfig
from heedful.models.batches import Padded, with_sentinels
from heedful.models.checkpoint import Checkpoint
from heedful.models.classifier import Classifier
from heedful.models.embedding_gradients import Tables
from heedful.models.options import TrainingOptions
from heedful.models.schedule import selected_epoch, training_batches
from heedful.models.training import Examples, batch_loss, class_weights, make_optimiser, train, train_step
from tests.models.making import Killed, killer, make_examples, make_inputs, make_model


def _train(model: Classifier, folder: Path, **options: Any) -> list[dict[str, Any]]:
    on_step = options.pop("on_step", lambda step: None)
    examples, dev = make_examples(), make_examples(20, seed=1)
    settings = TrainingOptions(**{"epochs": 3, "batch": 8, **options})
    return train(
        model, examples, dev, settings, classes=("a", "b"), seed=0, checkpoint=Checkpoint(folder), on_step=on_step
    )


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_steps_are_those_of_plain_dense_adam(amsgrad: bool, outputs: int) -> None:
    """Same losses and same parameters as packed sequences, a dense embedding gradient and the default Adam."""
    options = TrainingOptions(amsgrad=amsgrad, learning_rate=0.01, l2=0.01)
    model = make_model(outputs=outputs)
    plain = PlainBiLSTM(model)
    examples = make_examples(classes=max(2, outputs))
    weights = class_weights(examples.labels, max(2, outputs))
    ours, tables = make_optimiser(model, options), Tables(model)
    theirs = torch.optim.Adam(plain.parameters(), lr=0.01, weight_decay=0.01, amsgrad=amsgrad)
    framed, labels = with_sentinels(examples.inputs.tokens), torch.from_numpy(examples.labels)
    for epoch in range(3):
        for rows in training_batches(examples.inputs, size=8, seed=0, epoch=epoch):
            loss_of = partial(batch_loss, labels=labels[rows], weights=weights, reduction="mean")
            loss = loss_of(plain(Padded.of(framed.take(rows))))
            theirs.zero_grad()
            loss.backward()
            theirs.step()
            step = train_step(model, ours, tables, examples.inputs.take(rows), loss_of, options=options)
            assert step == pytest.approx(loss.item(), abs=1e-4)
    assert torch.allclose(model.embedding, plain.embedding.weight, atol=1e-3)
    assert torch.allclose(model.decoder.linear.weight, plain.decoder.weight, atol=1e-3)
    assert (tables.text.values == 0).all()
    assert (model.embedding[0] == 0).all()


def test_a_model_learns_what_there_is_to_learn(tmp_path: Path) -> None:
    history = _train(make_model(), tmp_path, epochs=12, learning_rate=0.02)
    assert history[-1]["loss"] < history[0]["loss"] / 2
    assert max(record["dev"]["accuracy"] for record in history) > 0.9


@pytest.mark.parametrize("moment", [3, 8, 9, 20])
def test_training_killed_and_resumed_ends_the_same(tmp_path: Path, moment: int) -> None:
    undisturbed, killed = make_model(), make_model()
    expected = _train(undisturbed, tmp_path / "a")
    with pytest.raises(Killed):
        _train(killed, tmp_path / "b", on_step=killer(moment))
    resumed = make_model(seed=99)  # whatever it starts from, the checkpoint decides (but for a kill in the first epoch)
    resumed.load_state_dict(make_model().state_dict())
    assert _train(resumed, tmp_path / "b") == expected
    for name, parameter in undisturbed.state_dict().items():
        assert torch.equal(parameter, resumed.state_dict()[name])
    assert (tmp_path / "a/best.safetensors").read_bytes() == (tmp_path / "b/best.safetensors").read_bytes()


def test_class_weights_balance_the_classes() -> None:
    assert class_weights(np.array([0, 0, 0, 1]), 2).tolist() == [1.0, 3.0]
    weights = class_weights(np.array([0, 0, 1, 1, 2, 2, 2, 2]), 3).numpy()
    assert np.allclose(weights * [2, 2, 4], 8 / 3)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_loss_is_the_weighted_negative_log_likelihood(reduction: str) -> None:
    labels, weights = torch.tensor([0, 1, 1]), torch.tensor([1.0, 3.0])
    logits = torch.tensor([[0.3], [-0.2], [2.0]])
    chance = torch.sigmoid(logits[:, 0])
    expected = torch.stack([-torch.log(1 - chance[0]), -3 * torch.log(chance[1]), -3 * torch.log(chance[2])])
    two = torch.cat([torch.zeros(3, 1), logits], dim=1)
    for form in (logits, two):  # one sigmoid output is the two-class model with scores [0, S]
        loss = batch_loss(form, labels, weights, reduction)
        assert loss.item() == pytest.approx(getattr(expected, reduction)().item(), abs=1e-6)


def test_l2_spares_the_attention_if_told_to() -> None:
    for spared in (True, False):
        optimiser = make_optimiser(make_model(), TrainingOptions(l2=0.5, l2_on_attention=not spared))
        assert [group["weight_decay"] for group in optimiser.param_groups] == [0.5, 0.0 if spared else 0.5]


def test_selection_takes_the_first_best_epoch_and_accuracy_where_auc_is_undefined() -> None:
    def history(values: list[tuple[float | None, float]]) -> list[dict[str, Any]]:
        return [{"dev": {"roc_auc": auc, "accuracy": accuracy}} for auc, accuracy in values]

    assert selected_epoch(history([(0.5, 1.0), (0.9, 0.1), (0.9, 0.9)]), "roc_auc") == 1
    assert selected_epoch(history([(None, 0.2), (None, 0.4)]), "roc_auc") == 1
    assert selected_epoch(history([(0.1, 0.9), (0.9, 0.1)]), "accuracy") == 0


def test_divergence_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"diverged in epoch \d+.*lower learning_rate"):
        _train(make_model(), tmp_path, epochs=30, learning_rate=1e38)


def test_batches_hold_every_instance_once_and_change_between_epochs() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, size=101)
    inputs = make_inputs(lengths.tolist(), query=False)
    first, again, second = (training_batches(inputs, size=8, seed=0, epoch=epoch) for epoch in (0, 0, 1))
    assert sorted(np.concatenate(first).tolist()) == list(range(101))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert max(np.ptp(lengths[batch]) for batch in first) <= 12  # of similar length: 8 of 101 and a blur of 10 %


def test_one_example_is_enough(tmp_path: Path) -> None:
    examples = make_examples(2)
    single = Examples(examples.inputs, np.array([0, 1]))
    history = train(
        make_model(),
        single,
        Examples(single.inputs.take(np.array([0])), np.array([0])),
        TrainingOptions(epochs=1),
        classes=("a", "b"),
        seed=0,
        checkpoint=Checkpoint(tmp_path),
    )
    assert history[0]["dev"]["roc_auc"] is None
    assert (tmp_path / "best.safetensors").exists()
