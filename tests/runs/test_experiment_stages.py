import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from heedful import experiments
from heedful.errors import BadConfig, BadInput, NotFound
from heedful.evidence import Evidence
from heedful.importance import RUN_MEASURES as MEASURES
from heedful.importance.table import importance_table
from heedful.progress import Reporter
from heedful.report.heatmaps.instance import read_instance
from heedful.runs import experiment_stages as experimenting
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from heedful.runs.execution import perform
from heedful.verdict.rule import determined
from heedful.workspace.sample import drawn, ends, population
from tests.runs.small import VALUES, contents


@pytest.fixture
def finished(small_run: Run) -> Run:
    return small_run


class Titles(Reporter):
    """Remembers which tasks were begun."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def start(self, task: str, total: int | None = None) -> None:
        self.seen.append(task.partition(":")[0])


def test_results_are_those_of_the_experiments_on_the_runs_evidence(finished: Run) -> None:
    evidence = finished.evidence
    expected = {
        "permutation": experiments.permutation(evidence),
        "adversary": experiments.adversary(evidence),
        "reach": experiments.reach(evidence),
        "substitution": experiments.substitution(evidence),
        "violation": experiments.violation(evidence),
        "truth": experiments.truth(evidence),
        "single_weight": experiments.single_weight(evidence),
        "removal": experiments.removal(evidence),
        "curves": experiments.curves(evidence),
        "correlation": experiments.correlation(evidence, finished.importance),
    }
    for name, frame in expected.items():
        assert_frame_equal(finished.results(name), frame)


def test_importance_has_every_measure_of_every_instance(finished: Run) -> None:
    importance = finished.importance
    assert importance["measure"].unique(maintain_order=True).to_list() == list(MEASURES)
    assert len(importance) == len(MEASURES) * len(finished.evidence)
    lengths = dict(zip(finished.evidence.ids, finished.evidence.weights.lengths.tolist(), strict=True))
    assert all(len(row["values"]) == lengths[row["id"]] for row in importance.iter_rows(named=True))
    tokens = finished.vocabulary.encode(finished.evidence.to_frame()["tokens"])
    again = importance_table(finished.model(), finished.evidence.ids, tokens, measures=MEASURES, tolerance=0.01)
    assert np.allclose(importance["values"].explode(), again["values"].explode(), atol=1e-6)
    known = importance.filter(pl.col("error").is_not_null())
    assert known["measure"].unique().to_list() == ["integrated_gradients"]


def test_only_the_named_experiments_are_performed_and_others_added_later(tmp_path: Path, finished: Run) -> None:
    first = perform(VALUES, out=tmp_path, experiments=["reach"])
    assert list(first.manifest["stages"]) == ["prepare", "train", "evidence", "reach"]
    with pytest.raises(NotFound, match=r"stage 'permutation' is not finished.*--experiments permutation does it"):
        first.results("permutation")
    titles = Titles()
    later = perform(VALUES, out=tmp_path, reporter=titles)
    assert titles.seen == [
        "importance",
        "correlation",
        "permutation",
        "adversary",
        "substitution",
        "violation",
        "single weight",
        "removal",
        "curves",
        "truth",
        "erasure",
        "highlights",
    ]
    assert contents(later.folder) == contents(finished.folder)


def test_experiments_need_no_corpus_once_there_is_evidence(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("text,label\n" + "a fine film,good\na dull film,bad\n" * 20)
    table = {"file": str(tmp_path / "r.csv"), "text": "text", "label": "label"}
    values = {key: value for key, value in VALUES.items() if key != "corpus_options"}
    values |= {"corpus": "table", "corpus_options": table}
    perform(values, out=tmp_path / "runs", experiments=[])
    (tmp_path / "r.csv").unlink()
    run = perform(values, out=tmp_path / "runs", experiments=["permutation"])
    assert len(run.results("permutation")) == len(run.evidence)


def test_all_adds_the_search(tmp_path: Path) -> None:
    run = perform(VALUES, out=tmp_path, experiments="all")
    exact, search = run.results("adversary"), run.results("adversary_search")
    assert np.all(search["jsd"].to_numpy() <= exact["jsd"].to_numpy() + 1e-9)


@pytest.mark.parametrize(
    ("given", "names"), [("reach", ["reach"]), (" reach, truth", ["reach", "truth"]), ("none", [])]
)
def test_experiments_may_be_named_as_on_the_command_line(tmp_path: Path, given: str, names: list[str]) -> None:
    run = perform(VALUES, out=tmp_path, experiments=given)
    assert list(run.manifest["stages"])[3:] == names


def test_damaged_files_are_named_and_made_again(tmp_path: Path, finished: Run) -> None:
    run = Run.open(shutil.copytree(finished.folder, tmp_path / finished.folder.name))
    file = run.folder / "importance.parquet"
    file.write_bytes(b"broken")
    (run.folder / "results" / "correlation.parquet").unlink()
    with pytest.raises(BadInput, match=r"importance\.parquet is damaged.*delete it and run again"):
        perform(VALUES, out=tmp_path)
    file.unlink()
    assert contents(perform(VALUES, out=tmp_path).folder) == contents(finished.folder)
    evidence = run.folder / "evidence.parquet"
    evidence.write_bytes(evidence.read_bytes()[:200] + b"x" * 400)
    with pytest.raises(BadInput, match=r"evidence\.parquet is damaged.*delete it and run again"):
        read_instance(run, "test-00001")
    manifest = run.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"corpus"', '"campus"'))
    with pytest.raises(BadInput, match=r"manifest\.json is damaged"):
        _ = run.metrics


def test_parts_make_no_difference(tmp_path: Path, finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experimenting, "PART_INSTANCES", 7)
    monkeypatch.setattr(experimenting, "PART_ITEMS", 50)
    monkeypatch.setattr(experimenting, "ERASURE_INSTANCES", 7)
    run = perform(VALUES, out=tmp_path)
    names = ["correlation", "permutation", "adversary", "substitution", "single_weight", "removal", "curves"]
    for name in (*names, "highlights"):
        assert_frame_equal(run.results(name), finished.results(name), abs_tol=1e-5)


def test_what_reads_a_new_file_is_done_again(tmp_path: Path, finished: Run) -> None:
    run = Run.open(shutil.copytree(finished.folder, tmp_path / finished.folder.name))
    (run.folder / "evidence.parquet").unlink()
    titles = Titles()
    again = perform(VALUES, out=tmp_path, experiments=["reach"], reporter=titles)
    assert titles.seen[-2:] == ["evidence", "reach"]
    assert not again.done("permutation")  # its file is there, but of evidence that is gone
    assert contents(perform(VALUES, out=tmp_path).folder) == contents(finished.folder)


def test_a_missing_result_is_made_again_alone(tmp_path: Path, finished: Run) -> None:
    run = Run.open(shutil.copytree(finished.folder, tmp_path / finished.folder.name))
    (run.folder / "results" / "reach.parquet").unlink()
    titles = Titles()
    perform(VALUES, out=tmp_path, reporter=titles)
    assert titles.seen == ["reach"]


def test_options_reach_the_experiments(tmp_path: Path) -> None:
    rankings = ["random", "attention"]
    options = {"permutations": 3, "epsilon": 0.2, "top": 2, "rankings": rankings, "orders": 2}
    values = {
        **VALUES,
        "experiment_options": options,
        "preset": "released",
        "importance": {"measures": ["leave_one_out"]},
    }
    run = perform(values, out=tmp_path)
    assert run.results("permutation")["tvds"].list.len().unique().to_list() == [3]
    assert_frame_equal(run.results("adversary"), experiments.adversary(run.evidence, epsilon=0.2))
    assert_frame_equal(run.results("correlation"), experiments.correlation(run.evidence, run.importance, top=2))
    assert_frame_equal(run.results("removal"), experiments.removal(run.evidence, rankings=rankings, orders=2))
    assert_frame_equal(run.results("curves"), experiments.curves(run.evidence, rankings=rankings))
    by_position = experiments.single_weight(run.evidence, rival="position")
    assert_frame_equal(run.results("single_weight"), by_position)
    assert [name for name in run.results("correlation").columns if name.startswith("tau")] == [
        "tau_attention_leave_one_out"
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"experiment_options": {"epsilon": 1.0}}, r"experiment_options\.epsilon = 1\.0"),
        ({"experiment_options": {"epsilon": 0.0}}, r"experiment_options\.epsilon = 0\.0"),
        ({"experiment_options": {"permutations": 0}}, r"experiment_options\.permutations = 0"),
        ({"experiment_options": {"rankings": ["best"]}}, "there is no ranking 'best'; choose from attention, gradient"),
        ({"experiment_options": {"rankings": []}}, r"experiment_options\.rankings"),
        ({"experiment_options": {"orders": 0}}, r"experiment_options\.orders = 0"),
        ({"importance": {"measures": ["shap"]}}, "there is no measure 'shap'; choose from gradient"),
        ({"importance": {"measures": []}}, r"importance\.measures"),
    ],
)
def test_bad_options_are_refused_by_name(values: dict[str, object], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        resolve({**VALUES, **values})


def test_unknown_and_unsupported_experiments_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(
        BadConfig, match="unknown experiment 'magic'; valid: adversary, adversary_search, all, correlation"
    ):
        perform(VALUES, out=tmp_path / "runs", experiments=["magic"])
    (tmp_path / "r.csv").write_text("text,label\n" + "a fine film,good\na dull film,bad\n" * 20)
    table = {"file": str(tmp_path / "r.csv"), "text": "text", "label": "label"}
    values = {**VALUES, "corpus": "table", "corpus_options": table}
    with pytest.raises(BadInput, match="'truth' needs evidence with the column 'truth'"):
        perform(values, out=tmp_path / "runs", experiments=["truth"])
    assert not (tmp_path / "runs").exists()


def test_a_result_that_does_not_exist_or_is_damaged_is_named(tmp_path: Path, finished: Run) -> None:
    with pytest.raises(BadConfig, match="unknown experiment 'magic'"):
        finished.results("magic")
    run = Run.open(shutil.copytree(finished.folder, tmp_path / "copy"))
    (run.folder / "results" / "reach.parquet").write_text("broken")
    with pytest.raises(BadInput, match=r"reach\.parquet is damaged"):
        run.results("reach")


def test_evidence_that_breaks_a_rule_never_reaches_an_experiment(tmp_path: Path, finished: Run) -> None:
    frame = finished.evidence.to_frame()
    broken = {
        "negative": pl.col("weights").list.eval(-pl.element()),
        "sum to": pl.col("weights").list.eval(pl.element() * 2),
        "NaN": pl.col("weights").list.eval(pl.element() * float("nan")),
        "different lengths": pl.col("weights").list.concat([0.0]),
    }
    for words, change in broken.items():
        frame.with_columns(change.cast(pl.List(pl.Float32))).write_parquet(tmp_path / "e.parquet")
        with pytest.raises(BadInput, match=f"e.parquet, instance 'test-00000'.*{words}"):
            Evidence.read(tmp_path / "e.parquet")


def test_highlights_read_as_many_texts_as_the_verdict_takes_whatever_the_number_of_workers(tmp_path: Path) -> None:
    values = {**VALUES, "corpus_options": {"train": 300, "dev": 20, "test": 120}, "encoder": "cnn"}
    values |= {"encoder_options": {"filters": 4}, "training": {"epochs": 4, "batch": 16, "learning_rate": 0.01}}
    run = perform(values, out=tmp_path / "one", experiments=["highlights"])
    tested = run.results("highlights")
    assert len(tested) < 120
    assert len(tested) in ends(120)
    assert determined(run.verdict)
    everyone = population(run.folder / "evidence.parquet")
    rows = np.sort(drawn(everyone, "auto", run.config.seed)[: len(tested)])
    assert tested["id"].to_list() == [everyone.ids[row] for row in rows]
    copy = Run.open(shutil.copytree(run.folder, tmp_path / "two" / run.folder.name))
    (copy.folder / "results" / "highlights.parquet").unlink()
    shared = perform(values, out=tmp_path / "two", experiments=["highlights"], workers=2)
    assert_frame_equal(shared.results("highlights"), tested, abs_tol=1e-5)


def test_a_sample_of_another_size_is_what_was_asked_for(tmp_path: Path) -> None:
    run = perform({**VALUES, "experiment_options": {"sample": 7}}, out=tmp_path, experiments=["highlights"])
    assert len(run.results("highlights")) == 7
