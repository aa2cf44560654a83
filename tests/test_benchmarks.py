"""Benchmarks are run by hand; that they still fit the code is seen here."""

from importlib import import_module

import numpy as np
import pytest

from benchmarks import audit
from benchmarks.leave_one_out import leave_one_out_result
from benchmarks.permutation import permutation_result
from benchmarks.plain import paper_model
from benchmarks.prefix import prefix_result
from benchmarks.removal import Documents, first_flip_result, single_result
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
    "leave_one_out",
    "permutation",
    "plain",
    "prefix",
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
    assert scan_result("scan", runs=4, instances=3, least=0).ratio > 0
