"""Figures of the paper, from real data; minutes of training, so left to `make test-all`."""

from pathlib import Path

import numpy as np
import pytest

import heedful
from heedful.experiments import adversary
from heedful.published import gradient_beats_attention, table2
from heedful.runs.directory import Run


@pytest.fixture(scope="module")
def runs(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """SST with every encoder."""
    out = tmp_path_factory.mktemp("runs")
    return {name: heedful.run("sst", encoder=name, out=out, data=real_data) for name in ("bilstm", "cnn", "average")}


@pytest.mark.slow
def test_sst_bilstm_reaches_the_released_codes_score(real_data: Path, runs: dict[str, Run]) -> None:
    """Macro F1 with random vectors: the released code had 0.779 with one seed; we ask for 0.77 as a mean of three."""
    out = runs["bilstm"].folder.parent
    scores = []
    for seed in range(3):
        run = heedful.run("sst", seed=seed, out=out, data=real_data, experiments=[])
        assert run.manifest["corpus"]["counts"]["train"] == [3034, 3321]
        assert run.manifest["corpus"]["counts"]["test"] == [863, 862]
        evidence = run.evidence
        assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)
        scores.append(run.metrics["test"]["macro_f1"])
    assert np.mean(scores) >= 0.77


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["cnn", "average"])
def test_sst_runs_with_the_other_encoders(runs: dict[str, Run], encoder: str) -> None:
    assert runs[encoder].metrics["test"]["macro_f1"] > 0.72


@pytest.mark.slow
def test_attention_agrees_with_importance_far_better_without_context(runs: dict[str, Run]) -> None:
    """The pattern of Table 2: Average far above BiLSTM."""
    tau = {name: run.results("correlation") for name, run in runs.items()}
    for measure in ("gradient", "leave_one_out"):
        mean = {name: frame[f"tau_attention_{measure}"].mean() for name, frame in tau.items()}
        assert mean["average"] > max(mean["bilstm"], mean["cnn"]) + 0.2
    for decision in (0, 1):
        published = table2("sst", "average", "gradient", decision)
        assert published is not None
        ours = tau["average"].filter(tau["average"]["decision"] == decision)["tau_attention_gradient"].mean()
        assert abs(ours - published.mean) < published.std


@pytest.mark.slow
def test_the_search_stops_short_of_the_exact_adversary(runs: dict[str, Run]) -> None:
    """On SST with the BiLSTM the released code's search gave 0.496, where an exact answer was 0.628."""
    exact = runs["bilstm"].results("adversary")
    found = adversary(runs["bilstm"].evidence, method="search", preset="released")
    assert exact["certified"].all()
    assert exact["jsd"].mean() == pytest.approx(0.63, abs=0.02)
    assert found["jsd"].mean() == pytest.approx(0.50, abs=0.03)


def test_published_figures_are_found_where_the_paper_has_them() -> None:
    assert table2("sst", "bilstm", "gradient", 1) == (0.38, 0.19, 0.58)
    assert table2("imdb", "average", "gradient", 0) == (0.65, 0.05, 1.00)
    assert table2("sst", "bilstm", "leave_one_out", 0) == (0.34, 0.20, 0.47)
    assert table2("sst", "average", "leave_one_out", 0) is None
    assert table2("sst", "cnn", "gradient", 0) is None
    assert table2("planted", "bilstm", "gradient", 0) is None
    assert table2("sst", "bilstm", "integrated_gradients", 0) is None
    assert gradient_beats_attention("yelp", "flan", "bigru") == pytest.approx(0.7056, abs=1e-4)
    assert gradient_beats_attention("imdb-ratings", "han", "cnn") == pytest.approx(0.5309, abs=1e-4)
    assert gradient_beats_attention("imdb-ratings", "han", "average") is None
    assert gradient_beats_attention("sst", "classifier", "bilstm") is None
