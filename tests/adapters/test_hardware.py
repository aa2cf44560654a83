"""Devices and precisions: what this machine has is run; of other devices, that no tensor is left behind on the CPU."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from heedful.adapters import hardware
from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.module import Module
from heedful.adapters.subject import Subject, padded
from heedful.errors import BadConfig, BadInput
from tests.adapters.test_huggingface import made, reversal
from tests.adapters.tiny import FAMILIES, TEXTS, UNUSUAL, classifier, word_pieces

COARSE = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def test_the_first_accelerator_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert hardware.device_named("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert hardware.device_named("auto") == torch.device("mps")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert hardware.device_named("auto") == torch.device("cuda")
    assert hardware.device_named("cuda:1") == torch.device("cuda:1")
    with pytest.raises(BadConfig, match="cuda:2: torch cannot use it on this machine; choose auto or cpu"):
        hardware.device_named("cuda:2")


@pytest.mark.parametrize("name", ["gpu", "meta", "xpu", ""])
def test_unknown_devices_are_refused(name: str) -> None:
    with pytest.raises(BadConfig, match="choose auto, cpu, cuda, mps"):
        hardware.device_named(name)


def test_batches_suit_the_memory_of_their_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5 << 30, 8 << 30))
    assert hardware.batch_memory(torch.device("cuda")) == 1 << 30
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 6 << 30)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 1 << 30)
    assert hardware.batch_memory(torch.device("mps")) == 1 << 30
    cpu = torch.device("cpu")
    assert hardware.batch_memory(cpu) <= hardware.MOST
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"available": 100}))
    assert hardware.batch_memory(cpu) == 20


def test_a_model_on_several_devices_is_refused() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2, device="meta"))
    with pytest.raises(BadInput, match="is spread over cpu, meta: move it to one device"):
        hardware.device_of(model)


def test_precisions_too_coarse_to_measure_with_are_refused() -> None:
    model = torch.nn.Linear(2, 2).to(torch.float8_e4m3fn)
    with pytest.raises(BadInput, match="weights of float8_e4m3fn, too coarse"):
        hardware.precision_of(model)


def test_the_coarsest_precision_counts() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2).to(torch.bfloat16))
    assert hardware.precision_of(model) == torch.bfloat16
    assert hardware.precision_of(torch.nn.ReLU()) == torch.float32


@pytest.mark.parametrize("precision", COARSE)
@pytest.mark.parametrize("family", [*FAMILIES, *UNUSUAL])
def test_models_of_coarse_precision_keep_the_contracts_within_its_rounding(family: str, precision: str) -> None:
    subject = HuggingFace(classifier(family).to(COARSE[precision]), word_pieces())
    exact = made(family)
    texts = subject.encode(TEXTS)
    assert subject.about["dtype"] == precision
    assert subject.rounding == torch.finfo(COARSE[precision]).eps > exact.rounding
    contract = subject.check(texts)
    assert contract.replay is not None
    for changes in (None, reversal):
        coarse, fine = (model.read(texts, changes) for model in (subject, exact))
        size = max(1.0, float(np.abs(fine.logits).max()))
        assert np.abs(coarse.logits - fine.logits).max() < 16 * subject.rounding * size
        np.testing.assert_allclose(coarse.weights.sum(), 1, atol=1e-6)


@pytest.mark.parametrize("precision", COARSE)
def test_models_are_loaded_in_their_own_precision_or_in_single(tmp_path: Path, precision: str) -> None:
    classifier("bert").to(COARSE[precision]).save_pretrained(tmp_path)
    word_pieces().save_pretrained(tmp_path)
    own, single = (HuggingFace.load(str(tmp_path), device="cpu", float32=float32) for float32 in (False, True))
    assert (own.about["dtype"], single.about["dtype"]) == (precision, "float32")
    texts = own.encode(TEXTS)
    assert np.abs(own.read(texts).logits - single.read(texts).logits).max() > 1e-6
    assert single.check(texts).identity < 1e-5


class Elsewhere(TorchDispatchMode):
    """Takes the place of an accelerator: every operation must find its tensors on one device, and only copies lead from
    one to another. Meta tensors have no numbers: what is read from them is made up."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        copied = function is torch.ops.aten._to_copy.default
        if copied and args[0].is_meta and kwargs.get("device") == torch.device("cpu"):
            return torch.ones(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        if function is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return False
        tensors = [each for each in tree_iter((args, kwargs)) if isinstance(each, torch.Tensor) and each.ndim]
        assert copied or len({each.device for each in tensors}) < 2, function
        return function(*args, **kwargs)


def read_in_every_way(subject: Subject, texts: Any) -> None:
    batch = padded(texts, np.arange(len(texts)))
    subject.forward(batch)
    subject.forward(batch, change=reversal(batch))
    states, prefixes, some = subject.prepare(batch), subject.begin(batch), torch.tensor([3, 0, 3])
    if prefixes is not None:
        subject.resume(batch.take(some), prefixes.take(some), 1)
    if states is not None:
        subject.replay(batch.take(some), states.take(some), reversal(batch.take(some)))
    for found in subject.differentiable(texts, attention_fixed=True):
        logits, product = found.read()
        product(torch.ones_like(logits))


@pytest.mark.parametrize("kind", [*FAMILIES, "gemma2", "modernbert mean"])
@pytest.mark.parametrize("map_", ["cls", "layer:1", "rollout", "norm"])
def test_no_tensor_of_a_transformer_is_left_on_the_cpu(kind: str, map_: str) -> None:
    subject = made(kind, map=map_)
    texts = subject.encode(TEXTS)
    subject.model.to("meta")
    subject.device = torch.device("meta")
    if subject.projection is not None:
        subject.projection = subject.projection.to("meta")
    with Elsewhere():
        read_in_every_way(subject, texts)


class Pooled(torch.nn.Module):
    """Additive attention over embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.score = torch.nn.Embedding(40, 6), torch.nn.Linear(6, 1)
        self.weights, self.out = torch.nn.Softmax(dim=1), torch.nn.Linear(6, 2)

    def forward(self, tokens: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        states = self.table(tokens).tanh()
        weights = self.weights(self.score(states)[..., 0].masked_fill(~real, torch.finfo(states.dtype).min))
        return self.out((weights[:, None].to(states) @ states)[:, 0])


def pooled(prepare: Callable[[torch.nn.Module], Any] = lambda model: model) -> Module:
    torch.manual_seed(0)
    model = Pooled()
    prepare(model)
    ids = word_pieces()
    return Module(
        model,
        attention="weights",
        embedding="table",
        tokenize=lambda text: ids(text)["input_ids"],
        classes=["no", "yes"],
    )


@pytest.mark.parametrize("precision", COARSE)
def test_modules_of_coarse_precision_keep_the_contracts_within_its_rounding(precision: str) -> None:
    from heedful.adapters.checking import check

    subject, exact = pooled(lambda model: model.to(COARSE[precision])), pooled()
    texts = subject.encode(TEXTS)
    contract = check(subject, texts)
    assert contract.identity <= 8 * subject.rounding
    assert np.abs(subject.read(texts, reversal).logits - exact.read(texts, reversal).logits).max() < 0.1
