import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import heedful.runs.stages
from heedful.corpora.cache_key import SCHEME
from heedful.errors import BadInput, HeedfulError, NotFound
from heedful.evidence import Evidence
from heedful.files import locked
from heedful.findings.published import caveats
from heedful.models.inference import decode, predict
from heedful.progress import Reporter
from heedful.report.site.run_data import facts
from heedful.runs.config import resolve
from heedful.runs.directory import STAGES, Run
from heedful.runs.execution import perform
from heedful.version import __version__
from heedful.workspace.environment import mixture
from tests.runs.small import ARGUMENTS, VALUES, contents

ROOT = Path(__file__).parents[2]
Copy = Callable[[Path], Run]


@pytest.fixture
def finished(small_run: Run) -> Run:
    return small_run


def test_a_run_leaves_the_documented_files(finished: Run) -> None:
    experiments = [
        *("correlation", "permutation", "adversary", "reach", "substitution", "violation"),
        *("single_weight", "removal", "curves", "truth", "erasure", "highlights"),
    ]
    assert sorted(contents(finished.folder)) == sorted(
        [
            "config.toml",
            "evidence.parquet",
            "importance.parquet",
            "metrics.json",
            "model.safetensors",
            *(f"{name}.parquet" for name in experiments),
            "training.jsonl",
            "vocabulary.parquet",
        ]
    )
    manifest = finished.manifest
    assert list(manifest["stages"]) == ["prepare", "train", "evidence", "importance", *experiments]
    assert manifest["corpus"]["counts"]["train"] == [32, 32]
    assert manifest["versions"]["torch"] == torch.__version__
    assert all(stage["seconds"] >= 0 and stage["peak_memory_mb"] > 0 for stage in manifest["stages"].values())


def test_evidence_is_what_the_stored_model_says(finished: Run) -> None:
    evidence, model = finished.evidence, finished.model()
    assert np.allclose(evidence.decode(evidence.weights), evidence.output, atol=1e-5)
    tokens = finished.vocabulary.encode(evidence.to_frame()["tokens"])
    assert np.allclose(predict(model, tokens), evidence.output, atol=1e-5)
    for batch_rows in (1, 7):
        decoded = decode(model, tokens, batch_rows=batch_rows)
        assert np.allclose(decoded.weights.values, evidence.weights.values, atol=1e-5)
        assert evidence.scores is not None
        assert np.allclose(decoded.items.values, evidence.scores.values, atol=1e-5)
    assert evidence.classes == ("bad", "good")
    assert evidence.truth is not None


def test_metrics_are_those_of_the_evidence(finished: Run) -> None:
    evidence, test = finished.evidence, finished.metrics["test"]
    assert test["n"] == len(evidence) == 30
    assert test["accuracy"] == pytest.approx(float((evidence.decisions == evidence.labels).mean()))
    assert finished.history.height == 2


def test_the_same_seed_gives_the_same_files(finished: Run, tmp_path: Path) -> None:
    again = perform(VALUES, out=tmp_path)
    assert again.folder.name == finished.folder.name
    assert contents(again.folder) == contents(finished.folder)
    mine, other = finished.manifest, again.manifest
    for manifest in (mine, other):
        del manifest["stages"]
    assert mine == other


def test_another_seed_gives_another_model(finished: Run, tmp_path: Path) -> None:
    other = perform({**VALUES, "seed": 1}, out=tmp_path)
    assert (other.folder / "model.safetensors").read_bytes() != (finished.folder / "model.safetensors").read_bytes()


def test_a_finished_run_is_not_done_again(finished: Run) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.folder.iterdir() if path.name != ".lock"}
    perform(VALUES, out=finished.folder.parent)
    assert before == {path: path.stat().st_mtime_ns for path in finished.folder.iterdir() if path.name != ".lock"}


@pytest.mark.parametrize("file", ["evidence.parquet", "model.safetensors", "vocabulary.parquet", "metrics.json"])
def test_a_deleted_file_is_made_again(finished: Run, copy_small_run: Copy, tmp_path: Path, file: str) -> None:
    run = copy_small_run(tmp_path)
    (run.folder / file).unlink()
    assert contents(perform(VALUES, out=tmp_path).folder) == contents(finished.folder)


def test_a_damaged_manifest_is_named(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    (run.folder / "manifest.json").write_text("{")
    with pytest.raises(BadInput, match=r"manifest\.json is damaged"):
        perform(VALUES, out=tmp_path)


class Killed(Exception):
    pass


class Killer(Reporter):
    """Stops the run at the n-th thing it reports."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def _tick(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed

    def start(self, task: str, total: int | None = None) -> None:
        self._tick()

    def reach(self, steps: int, note: str = "", total: int | None = None) -> None:
        self._tick()

    def finish(self, summary: str = "") -> None:
        self._tick()


def test_a_run_stopped_at_every_moment_it_reports_ends_the_same(
    finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heedful.runs.stages, "PART_INSTANCES", 8)  # so that evidence comes in several parts
    # little in each stage: the run is done some fifty times
    values = {**VALUES, "importance": {"measures": ["gradient"]}, "experiment_options": {"sample": 1}}
    expected = contents(perform(values, out=tmp_path / "undisturbed").folder)
    stops = 0
    for moment in range(1, 60):
        out = tmp_path / str(moment)
        try:
            perform(values, out=out, reporter=Killer(moment))
            break
        except Killed:
            stops += 1
            assert contents(perform(values, out=out).folder) == expected
    assert stops > 20
    (undisturbed,) = (tmp_path / "undisturbed").iterdir()
    parts = Evidence.read(undisturbed / "evidence.parquet")
    assert parts.ids == finished.evidence.ids
    assert np.allclose(parts.weights.values, finished.evidence.weights.values, atol=1e-5)


def test_a_process_killed_again_and_again_ends_the_same(tmp_path: Path) -> None:
    """SIGKILL at touches of files that come later and later; each process goes on where the last was killed."""

    arguments = ["run", *ARGUMENTS, "--out", "{}/runs", "--experiments", "correlation,adversary"]
    command = [sys.executable, "-m", "tests.runs.kill_after", *arguments]
    forker = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert forker.stdin is not None
    assert forker.stdout is not None
    questions, answers = forker.stdin, forker.stdout

    def start(out: Path, touches: int) -> int:
        print(out, touches, file=questions, flush=True)
        return int(answers.readline())

    assert start(tmp_path / "a", 10**9) == 0
    killed_in = set()
    for touches in count(start=8, step=6):
        code = start(tmp_path / "b", touches)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        folders = list((tmp_path / "b" / "runs").glob("*"))
        done = Run.open(folders[0]).manifest["stages"] if folders and (folders[0] / "config.toml").exists() else {}
        killed_in.add(len(done))
        assert touches < 240
    forker.communicate()
    (one,), (other,) = ((tmp_path / name / "runs").iterdir() for name in "ab")
    assert contents(other) == contents(one)
    assert {0, 1, 2, 3} <= killed_in  # in prepare, train, evidence and importance
    assert max(killed_in) >= 4  # and in an experiment


def test_a_directory_of_another_configuration_is_refused(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    config = run.folder / "config.toml"
    config.write_text(config.read_text().replace("epochs = 2", "epochs = 3"))
    with pytest.raises(BadInput, match=r"config\.toml is damaged: its content is not what manifest\.json recorded"):
        perform(VALUES, out=tmp_path)
    run.record(files={})  # as older versions left it
    with pytest.raises(BadInput, match=r"other options.*remove the directory or choose another --out"):
        perform(VALUES, out=tmp_path)


def unfinished(out: Path, **corpus: Any) -> Path:
    """A run killed in training, with other values in its manifest's table `corpus`."""
    with pytest.raises(Killed):
        perform(VALUES, out=out, reporter=Killer(8))
    (folder,) = out.iterdir()
    run = Run.open(folder)
    run.record(corpus=run.manifest["corpus"] | corpus)
    return folder


def test_an_unfinished_run_whose_corpus_is_read_by_other_code_is_refused(tmp_path: Path) -> None:
    unfinished(tmp_path, fingerprint=f"{SCHEME}-{'0' * 16}")
    with pytest.raises(BadInput, match="begun on other data: the code that reads corpus planted"):
        perform(VALUES, out=tmp_path)


class Lines(Reporter):
    """Remembers what it was told at the end of each task."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def finish(self, summary: str = "") -> None:
        self.lines.append(summary)

    def notice(self, text: str) -> None:
        self.lines.append(text)


def test_an_unfinished_run_with_a_key_of_an_earlier_scheme_resumes_with_a_notice(tmp_path: Path, finished: Run) -> None:
    unfinished(tmp_path / "old", fingerprint="0" * 16)
    reporter = Lines()
    assert contents(perform(VALUES, out=tmp_path / "old", reporter=reporter).folder) == contents(finished.folder)
    (notice,) = [line for line in reporter.lines if "earlier version" in line]
    assert "corpus planted has the same content" in notice


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"content": "0" * 16}, "corpus planted has changed"),
        ({"counts": {"train": [1, 2]}}, "the code that reads corpus planted"),
        ({"classes": ["good", "bad"]}, "the code that reads corpus planted"),
    ],
)
def test_an_earlier_scheme_is_no_excuse_for_other_data(tmp_path: Path, corpus: dict[str, Any], message: str) -> None:
    unfinished(tmp_path, fingerprint="0" * 16, **corpus)
    with pytest.raises(BadInput, match=f"begun on other data: {message}"):
        perform(VALUES, out=tmp_path)


def test_a_run_whose_data_changed_is_refused_even_when_finished(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    table, vectors = tmp_path / "t.csv", tmp_path / "v.vec"
    rows = [f"a {word} film {i},{word}\n" for i in range(20) for word in ("fine", "dull")]
    table.write_text("text,label\n" + "".join(rows))
    vectors.write_text("film" + " 1" * 8 + "\n")
    embedding = {"width": 8, "vectors": str(vectors)}
    values = {**VALUES, "corpus": "table", "corpus_options": {"file": str(table)}, "embedding": embedding}
    perform(values, out=tmp_path)
    perform(values, out=tmp_path)
    vectors.write_text("film" + " 2" * 8 + "\n")
    with pytest.raises(BadInput, match=r"begun on other data: .*v\.vec has changed since"):
        perform(values, out=tmp_path)
    vectors.unlink()
    perform(values, out=tmp_path)  # what is gone cannot have changed
    table.write_text("text,label\n" + "".join(rows[2:]))
    with pytest.raises(BadInput, match="begun on other data: corpus table has changed since"):
        perform(values, out=tmp_path)


def test_stages_after_one_that_is_done_again_are_done_again_too(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    (run.folder / "evidence.parquet").write_text("of another model")
    (run.folder / "model.safetensors").unlink()
    again = perform(VALUES, out=tmp_path)
    tokens = again.vocabulary.encode(again.evidence.to_frame()["tokens"])
    assert np.allclose(predict(again.model(), tokens), again.evidence.output, atol=1e-5)


FILES = ["metrics.json", "model.safetensors", "vocabulary.parquet", "manifest.json", "training.jsonl"]


@pytest.mark.parametrize("file", FILES)
def test_damaged_files_are_named(copy_small_run: Copy, tmp_path: Path, file: str) -> None:
    run = copy_small_run(tmp_path)
    (run.folder / file).write_text("{broken")
    with pytest.raises(BadInput, match=f"{file} is damaged"):
        _ = run.metrics, run.vocabulary, run.model(), run.history


@pytest.mark.parametrize("content", ["{}", "[]"])
def test_a_manifest_that_is_not_ours_is_named(copy_small_run: Copy, tmp_path: Path, content: str) -> None:
    run = copy_small_run(tmp_path)
    (run.folder / "manifest.json").write_text(content)
    with pytest.raises(BadInput, match=r"manifest\.json is damaged"):
        _ = run.metrics


def test_a_damaged_checkpoint_is_trained_again(finished: Run, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        perform(VALUES, out=tmp_path, reporter=Killer(17))  # in the evidence stage
    (folder,) = tmp_path.iterdir()
    assert Run.open(folder).done("train")
    for file in (folder / ".checkpoint/best.safetensors", folder / "model.safetensors"):
        file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(BadInput, match=r"model\.safetensors is damaged.*delete it and run again"):
        perform(VALUES, out=tmp_path)
    (folder / "model.safetensors").unlink()
    assert contents(perform(VALUES, out=tmp_path).folder) == contents(finished.folder)


def test_a_stage_that_fails_when_done_again_takes_nothing_along(tmp_path: Path) -> None:
    vectors = tmp_path / "v.vec"
    vectors.write_text("plot" + " 1" * 8 + "\n")
    values = {**VALUES, "embedding": {"width": 8, "vectors": vectors}}
    run = perform(values, out=tmp_path)
    (run.folder / "notes.txt").touch()
    before = contents(run.folder)
    vectors.unlink()
    (run.folder / "model.safetensors").unlink()
    with pytest.raises(HeedfulError, match=r"v\.vec"):
        perform(values, out=tmp_path)
    del before["model.safetensors"]
    assert contents(run.folder) == before


def test_a_run_done_again_names_the_code_that_did_it(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    code = run.manifest["code"]
    run.record(code="of another version")
    (run.folder / "vocabulary.parquet").unlink()
    assert perform(VALUES, out=tmp_path).manifest["code"] == code


def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    folder = tmp_path / resolve(VALUES).name
    with locked(folder), pytest.raises(HeedfulError, match="another process is working"):
        perform(VALUES, out=tmp_path)


def test_unfinished_stages_are_said(tmp_path: Path) -> None:
    with pytest.raises(Killed):
        perform(VALUES, out=tmp_path, reporter=Killer(8))
    (folder,) = tmp_path.iterdir()
    with pytest.raises(NotFound, match="stage 'evidence' is not finished"):
        _ = Run.open(folder).metrics
    with pytest.raises(NotFound, match="not a run directory"):
        Run.open(tmp_path)


def test_threads_are_put_back(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    # little work: threads that wait for each other on busy processors take minutes
    perform({**VALUES, "threads": 2, "training": {"epochs": 1}}, out=tmp_path, experiments=[])
    assert torch.get_num_threads() == before


def test_three_classes_and_every_encoder_run(tmp_path: Path) -> None:
    for encoder, options in (("cnn", {"filters": 2}), ("average", {"hidden": 4})):
        values = {**VALUES, "encoder": encoder, "attention": "dot", "encoder_options": options}
        values["corpus_options"] = {**VALUES["corpus_options"], "classes": 3, "single_sentence": True}
        run = perform({**values, "experiment_options": {"sample": 5}}, out=tmp_path)
        assert run.evidence.outputs == 3
        assert run.metrics["test"]["roc_auc"] is not None


def test_vectors_of_a_file_are_the_first_parameters(tmp_path: Path) -> None:
    from heedful.corpora.loading import load
    from heedful.runs.model_setup import first_embeddings
    from heedful.text.vocabulary import Vocabulary

    (tmp_path / "v.vec").write_text("2 8\nplot " + " ".join(["0.5"] * 8) + "\nnot-there " + " ".join(["1"] * 8) + "\n")
    config = resolve({**VALUES, "embedding": {"width": 8, "vectors": str(tmp_path / "v.vec"), "missing": "zero"}})
    corpus = load("planted", options=config.corpus_options)
    vocabulary = Vocabulary.build(corpus.scan("train"))
    embeddings, coverage = first_embeddings(config, corpus, vocabulary)
    embedding = embeddings["embedding"]
    assert embedding[vocabulary.words.index("plot")].tolist() == [0.5] * 8
    assert np.count_nonzero(embedding) == 8
    assert coverage is not None
    assert (coverage.found, coverage.total) == (1, len(vocabulary) - 4)
    assert run_records_vectors(tmp_path)


def run_records_vectors(tmp_path: Path) -> bool:
    values = {**VALUES, "embedding": {"width": 8, "vectors": str(tmp_path / "v.vec")}}
    return perform(values, out=tmp_path / "runs", experiments=[]).manifest["vectors"]["found"] == 1


def test_word2vec_vectors_are_trained_on_the_corpus(tmp_path: Path) -> None:
    pytest.importorskip("gensim", reason="gensim is not installed")
    values = {**VALUES, "embedding": {"width": 8, "vectors": "word2vec", "word2vec_epochs": 1}}
    first, second = perform(values, out=tmp_path / "a"), perform(values, out=tmp_path / "b")
    assert first.manifest["vectors"]["found"] > 10
    assert contents(first.folder) == contents(second.folder)


def test_going_on_with_another_version_is_said_once_and_recorded(copy_small_run: Copy, tmp_path: Path) -> None:
    run = copy_small_run(tmp_path)
    old = {"heedful": "0.0.1", "code": "aa"}
    run.record(stages={name: entry | old for name, entry in run.manifest["stages"].items()})
    reporter = Lines()
    perform(VALUES, out=tmp_path, reporter=reporter)
    assert reporter.lines == []  # nothing was done
    (run.folder / STAGES["reach"].file).unlink()
    perform(VALUES, out=tmp_path, reporter=reporter)
    assert reporter.lines[0] == f"begun by heedful 0.0.1; goes on with {__version__}; both are recorded"
    assert mixture(run.manifest).endswith(f"{__version__}: reach")
    assert run.folder.name in caveats([run])
    assert dict(facts(run))["heedful"] == mixture(run.manifest)
