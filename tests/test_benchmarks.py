"""Benchmarks are run by hand; that they still fit the code is seen here."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import torch

from benchmarks import audit
from benchmarks.leave_one_out import chain_multiply_adds, fast_leave_one_out, leave_one_out_result
from benchmarks.permutation import permutation_result
from benchmarks.plain import paper_model
from benchmarks.prefix import prefix_result
from benchmarks.products import Products
from benchmarks.removal import Documents, first_flip_result, single_result
from benchmarks.report import Result
from benchmarks.scan import scan_result
from heedful.models.batches import Inputs
from heedful.ragged import Ragged

MODULES = (
    "__main__",
    "adversary",
    "audit",
    "calibration.__main__",
    "calibration.factory.__main__",
    "documents",
    "gradients",
    "growth",
    "leave_one_out",
    "permutation",
    "plain",
    "prefix",
    "products",
    "removal",
    "report",
    "reproduction",
    "scan",
    "second",
    "site",
    "sweep",
    "training",
)
TINY = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_can_be_loaded(name: str) -> None:
    import_module(f"benchmarks.{name}")


def test_both_ways_agree() -> None:
    """A benchmark raises where they do not."""
    lengths = np.array([3, 5, 4])
    tokens = Ragged.from_lengths(np.arange(4, 16, dtype=np.int32), lengths)
    documents = Documents.drawn(lengths, 3, lean=0.1)
    assert first_flip_result("removal", documents, least=0).ratio > 0
    assert single_result("single removals", documents, least=0).ratio > 0
    assert permutation_result("permutation", lengths, least=0).ratio > 0
    assert leave_one_out_result("leave-one-out", paper_model("average", 20), Inputs(tokens), least=0).ratio > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "SHAPE", TINY)
        patch.delenv(audit.FOLDER, raising=False)
        assert audit.replay_result(words=5, texts=2, least=0).ratio > 0
        assert audit.audit_result(texts=3, least=0).ratio > 0
    assert prefix_result(texts=2, tokens=6, width=12, layers=2, heads=2, repeats=1, least=0).ratio > 0
    limited = leave_one_out_result("chains", paper_model("bilstm", 20), Inputs(tokens), least=0, least_share=0.01)
    assert limited.share is not None
    assert limited.share > 0
    assert scan_result("scan", runs=4, instances=3, least=0).ratio > 0


def test_a_share_that_falls_is_seen() -> None:
    kept = Result("a", plain_seconds=4, fast_seconds=2, least=2, limit_seconds=1.2, least_share=0.6)
    assert kept.share == 0.6
    assert kept.kept_up
    assert not replace(kept, limit_seconds=1.1).kept_up
    assert not replace(kept, plain_seconds=3).kept_up


def test_the_products_of_a_computation_are_counted() -> None:
    first, second = torch.rand(4, 3), torch.rand(3, 5)
    products = Products.of(
        lambda: torch.rand(4, 5).addmm_(first, second) + first @ second + (second @ torch.rand(5)).sum()
    )
    assert products.multiply_adds == 2 * 4 * 3 * 5  # not those with a vector
    assert products.seconds() > 0


@pytest.mark.parametrize("sizes", [[40, 40, 40], [3, 17, 90]])
def test_leave_one_out_multiplies_little_more_than_it_must(sizes: list[int]) -> None:
    """A limit with products that could be spared would flatter the share."""
    tokens = Ragged.from_lengths(np.arange(sum(sizes), dtype=np.int32) % 16 + 4, np.array(sizes))
    model, inputs = paper_model("bilstm", 20), Inputs(tokens)
    done = Products.of(lambda: fast_leave_one_out(model, inputs)).multiply_adds
    reading = 2 * sum(size + 2 for size in sizes) * 128 * (4 * 128 + 128 + 1) + 2 * 20 * 300 * 4 * 128
    assert done < 1.03 * (chain_multiply_adds(model, inputs) + reading)
