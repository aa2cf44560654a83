"""Two models on the same instances."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from heedful.errors import BadInput
from heedful.experiments.agreement import agreement
from heedful.ragged import Ragged
from tests.making import make_evidence


@pytest.mark.parametrize("outputs", [1, 3])
def test_plainly_recomputed(outputs: int) -> None:
    first, second = make_evidence(1, n=20, outputs=outputs), make_evidence(1, n=20, outputs=outputs)
    turned = Ragged.from_rows([row[::-1] for row in second.weights], dtype=np.float32)
    second = replace(second, weights=turned)
    second = replace(second, output=second.output[::-1].copy())
    frame = agreement(first, second)
    for index, row in enumerate(frame.iter_rows(named=True)):
        p, q = first.weights[index].astype(float), second.weights[index].astype(float)
        ours = np.abs(first.output[index].astype(float) - second.output[index]).sum() / (1 if outputs == 1 else 2)
        assert row["jsd"] == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-6)
        assert row["tvd"] == pytest.approx(ours)
        assert row["same"] == (first.decisions[index] == second.decisions[index])


def test_a_model_agrees_with_itself() -> None:
    evidence = make_evidence(2, n=9)
    frame = agreement(evidence, evidence)
    assert frame["jsd"].max() == 0
    assert frame["same"].all()


def test_other_instances_and_items_are_refused() -> None:
    evidence = make_evidence(3, n=6)
    words = evidence.tokens.values.copy()
    words[evidence.tokens.offsets[2]] = "another"
    with pytest.raises(BadInput, match="instance 'i2' has other items"):
        agreement(evidence, replace(evidence, tokens=evidence.tokens.like(words)))
    with pytest.raises(BadInput, match="'i0' is another one there"):
        agreement(evidence, replace(evidence, ids=["other", *evidence.ids[1:]]))
    with pytest.raises(BadInput, match="6 and 5 of them"):
        agreement(evidence, evidence.slice(0, 5))
    with pytest.raises(BadInput, match="outputs of 1 and of 3"):
        agreement(evidence, make_evidence(3, n=6, outputs=3))
