import shutil
from pathlib import Path

from heedful.report.tables.labels import labels
from heedful.runs.config import resolve
from heedful.runs.directory import Run
from tests.runs.small import VALUES


def _run(whole: Run, name: str = "", **values: object) -> Run:
    config = resolve({**VALUES, **values})
    return Run(whole.folder if not name else whole.folder.with_name(name), config)


def test_runs_are_called_by_corpus_and_model(whole: Run) -> None:
    assert labels([whole]) == [("planted", "bilstm + additive")]
    told = labels([whole, _run(whole, attention="dot", encoder_options={})])
    assert told == [("planted", "bilstm + additive"), ("planted", "bilstm + dot")]


def test_seed_then_preset_then_hash_tell_runs_apart(whole: Run) -> None:
    runs = [whole, _run(whole, seed=1), _run(whole, seed=1, preset="released"), _run(whole, attention="dot")]
    assert [model for _, model in labels(runs)] == [
        "bilstm + additive, seed 0",
        "bilstm + additive, seed 1, paper",
        "bilstm + additive, seed 1, released",
        "bilstm + dot",
    ]


def test_runs_of_other_options_are_told_apart_by_the_hash_in_their_names(whole: Run, tmp_path: Path) -> None:
    short = whole.folder.name.rpartition("-")[2]
    other = Run.open(shutil.copytree(whole.folder, tmp_path / "planted-bilstm-additive-0-12345678"))
    again = Run.open(shutil.copytree(whole.folder, tmp_path / "elsewhere" / whole.folder.name))
    told = [model for _, model in labels([whole, other, again])]
    assert told == [
        f"bilstm + additive, {short} (1)",
        "bilstm + additive, 12345678",
        f"bilstm + additive, {short} (2)",
    ]


def test_a_run_that_is_not_begun_has_a_name(unprepared: Run) -> None:
    assert labels([unprepared]) == [("planted", "bilstm + additive")]
