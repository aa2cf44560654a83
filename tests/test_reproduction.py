"""Figures of the paper, from real data; minutes of training, so left to `make test-all`."""

from pathlib import Path

import numpy as np
import pytest

import heedful


@pytest.mark.slow
def test_sst_bilstm_reaches_the_released_codes_score(real_data: Path, tmp_path: Path) -> None:
    """Macro F1 with random vectors: the released code had 0.779 with one seed; we ask for 0.77 as a mean of three."""
    scores = []
    for seed in range(3):
        run = heedful.run("sst", seed=seed, out=tmp_path, data=real_data)
        assert run.manifest["corpus"]["counts"]["train"] == [3034, 3321]
        assert run.manifest["corpus"]["counts"]["test"] == [863, 862]
        evidence = run.evidence
        assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)
        scores.append(run.metrics["test"]["macro_f1"])
    assert np.mean(scores) >= 0.77


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["cnn", "average"])
def test_sst_runs_with_the_other_encoders(real_data: Path, tmp_path: Path, encoder: str) -> None:
    run = heedful.run("sst", encoder=encoder, out=tmp_path, data=real_data, training={"epochs": 3})
    assert run.metrics["test"]["macro_f1"] > 0.72
