"""The commands as a user types them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from heedful.runs.directory import Run
from tests.cli.calling import heedful
from tests.runs.small import ARGUMENTS

demo = import_module("heedful.cli.demo")  # the module: `heedful.cli.demo` is also the name of its function


@pytest.fixture
def finished(small_run: Run) -> Run:
    return small_run


def test_the_command_itself_ends_with_its_exit_code_and_one_line() -> None:
    command = [sys.executable, "-m", "heedful.cli.main", "run", "--corpus", "none"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("error: unknown corpus 'none'")
    assert result.stderr.count("\n") == 1


def test_version_and_help() -> None:
    assert heedful("--version").out.startswith("heedful 0.")
    listed = heedful("--help").out
    assert all(command in listed for command in ("demo", "corpora", "run", "show", "report"))


def test_run_prints_what_it_did_and_where(tmp_path: Path) -> None:
    result = heedful("run", *ARGUMENTS, "--out", tmp_path, "--verbose")
    assert result.code == 0, result.err
    assert result.out.startswith("May this attention be shown as an explanation? ")
    assert "32 / 32" in result.out
    assert "heedful show" in result.out
    assert "training bilstm + additive" in result.err


def test_run_as_json_is_json(tmp_path: Path) -> None:
    result = heedful("run", *ARGUMENTS, "--out", tmp_path, "--json")
    answer = json.loads(result.out)
    assert Path(answer["run"]).parent == tmp_path
    assert answer["metrics"]["test"]["n"] == 30


def test_run_reads_a_configuration_file_and_options_win(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text(
        'corpus = "planted"\nseed = 5\n[corpus_options]\ntrain = 64\ndev = 20\ntest = 30\n[embedding]\nwidth = 8\n'
        "[encoder_options]\nhidden = 4\n[training]\nepochs = 1\n"
    )
    result = heedful("run", "--config", tmp_path / "run.toml", "--seed", "6", "--out", tmp_path / "runs", "--json")
    assert result.code == 0, result.err
    assert Run.open(json.loads(result.out)["run"]).config.seed == 6


def test_run_on_a_table_of_the_users_own(tmp_path: Path) -> None:
    rows = [f'{i},"a {"fine" if i % 2 else "dull"} film, number {i}",{bool(i % 2)}' for i in range(60)]
    (tmp_path / "mine.csv").write_text("nr,review,liked\n" + "\n".join(rows) + "\n")
    options = [*ARGUMENTS[8:], "--file", tmp_path / "mine.csv", "--text", "review", "--label", "liked"]
    result = heedful("run", *options, "--out", tmp_path / "runs", "--json")
    assert result.code == 0, result.err
    answer = json.loads(result.out)
    assert [name.lower() for name in answer["manifest"]["corpus"]["classes"]] == ["false", "true"]


def test_show_prints_the_heat_map_of_an_instance(finished: Run) -> None:
    result = heedful("show", finished.folder, "--instance", "test-00003")
    assert result.code == 0, result.err
    assert result.out.startswith("test-00003 of planted: decided")
    assert "most attended:" in result.out
    assert "Known to decide:" in result.out
    assert "With the adversarial attention: decided" in result.out


def test_a_run_prints_whole_paths_and_what_was_found(tmp_path: Path) -> None:
    out = tmp_path / ("long" * 30)
    result = heedful("run", *ARGUMENTS, "--out", out, "--verbose")
    (folder,) = out.iterdir()
    assert f"heedful show {folder}\n" in result.out
    for words in ("Kendall's tau", "permutation:", "adversary:", "reach:", "substitution:", "violation:", "truth:"):
        assert words in result.out
    facts = json.loads(heedful("run", *ARGUMENTS, "--out", out, "--json").out)
    assert facts["verdict"] == json.loads(json.dumps(Run.open(folder).verdict.to_json()))
    assert facts["not_tested"] == []
    quantities = {row["quantity"] for row in facts["results"]["correlation"]}
    assert {"tau_attention_gradient", "significant_attention_leave_one_out"} <= quantities


def test_a_run_answers_first_and_briefly(finished: Run) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.cli.calling.COLUMNS", "80")
        result = heedful("run", *ARGUMENTS, "--out", finished.folder.parent)
    lines = result.out.splitlines()
    assert lines[0] == f"May this attention be shown as an explanation? {finished.verdict.answer.capitalize()}."
    assert len(lines) <= 25
    assert "--verbose" in result.out
    assert f"heedful report {finished.folder}" in result.out
    assert not result.err  # nothing took long


def test_a_run_says_what_it_left_out(tmp_path: Path) -> None:
    result = heedful("run", *ARGUMENTS, "--out", tmp_path, "--experiments", "")
    assert result.code == 0, result.err
    assert result.out.startswith("May this attention be shown as an explanation? Not determined.\nNothing was tested")
    told = " ".join(result.out.split())
    assert "Not tested: every experiment. Without highlights no words are deleted from the texts" in told
    some = heedful("run", *ARGUMENTS, "--out", tmp_path, "--experiments", "highlights,reach").out
    assert "Not tested: correlation, permutation, " in some
    assert "no words are deleted" not in some
    facts = json.loads(heedful("run", *ARGUMENTS, "--out", tmp_path, "--experiments", "", "--json").out)
    assert "erasure" in facts["not_tested"]
    assert "highlights" not in facts["not_tested"]


def test_epochs_are_the_epochs_of_training(tmp_path: Path) -> None:
    result = heedful("run", *ARGUMENTS, "--epochs", "1", "--out", tmp_path, "--experiments", "none", "--json")
    assert Run.open(json.loads(result.out)["run"]).config.training.epochs == 1


def test_runs_are_named_by_latest_and_by_the_beginning_of_their_names(
    copy_small_run: Callable[[Path], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    older = copy_small_run(tmp_path / "runs" / "sweep").folder
    newer = older.rename(tmp_path / "runs" / "other-run")
    older = copy_small_run(tmp_path / "runs" / "sweep").folder
    unfinished = tmp_path / "runs" / "unfinished"
    unfinished.mkdir()
    (unfinished / "config.toml").write_bytes((older / "config.toml").read_bytes())
    (unfinished / "manifest.json").write_text('{"stages": {}}')
    for age, folder in enumerate((newer, older)):
        os.utime(folder / "manifest.json", (2e9 - age, 2e9 - age))

    def shown(*names: str) -> list[dict[str, object]]:
        return [json.loads(heedful("show", name, "--json").out) for name in names]

    first = shown(str(newer))[0]
    assert shown("latest", "runs/latest", "other", "runs/other-r", "planted", "runs/sweep/plan") == [first] * 6
    assert "written to" in heedful("report", "latest", "planted-bilstm", "--formats", "none").out
    assert json.loads(heedful("compare", "latest", "--json").out)["refused"] == []
    second = tmp_path / "runs" / "other-run-2"
    newer_copy = copy_small_run(tmp_path / "more").folder.rename(second)
    ambiguous = heedful("show", "oth")
    assert ambiguous.code == 2
    assert f"runs/{newer.name}, runs/{newer_copy.name}" in ambiguous.err
    assert heedful("show", "other-run", "--json").code == 0  # a whole name is no beginning
    missing = heedful("show", "planetd")
    assert missing.code == 2
    assert "did you mean planted-bilstm" in missing.err
    assert "heedful run` makes one" in heedful("show", "nowhere/latest").err


def test_an_audit_of_a_run_needs_nothing_but_its_name(
    copy_small_run: Callable[[Path], Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = copy_small_run(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    answer = heedful("audit", "latest", "--json")
    found = json.loads(answer.out)["verdict"]
    assert (found["answer"], found["words"]) == (run.verdict.answer, run.verdict.words)
    assert answer.code == {"yes": 0, "with caution": 0, "no": 1, "not determined": 3}[found["answer"]]
    by_path = heedful("audit", run.folder)
    assert by_path.out.startswith("May this attention be shown as an explanation? ")
    assert heedful("audit", run.folder, "--data", "x.csv").code == 2
    assert heedful("audit", "nothing-of-the-kind").code == 2
    assert json.loads(heedful("audit", run.folder, "--dry-run", "--json").out)["costs"]


def test_show_reads_any_text(finished: Run) -> None:
    result = heedful("show", finished.folder, "--text", "The plot was superb.", "--json")
    shown = json.loads(result.out)
    assert shown["tokens"] == ["the", "plot", "was", "superb", "."]
    assert sum(shown["weights"]) == pytest.approx(1, abs=1e-5)
    assert shown["label"] is None


@pytest.mark.parametrize("ending", [".html", ".svg", ".tex"])
def test_show_saves_files_in_which_text_is_only_text(finished: Run, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"heat{ending}"
    hostile = "<script>alert(1)</script> & $x_1$ \\input{y} \u202e plot"
    result = heedful("show", finished.folder, "--text", hostile, "--save", file)
    assert result.code == 0, result.err
    written = file.read_text(encoding="utf-8")
    assert "plot" in written
    assert "<script>" not in written or ending == ".tex"
    assert "\u202e" not in written
    assert ending != ".tex" or ("\\input" not in written and "$x" not in written.replace("\\$x", ""))


def test_corpora_lists_tells_and_speaks_json(tmp_path: Path) -> None:
    listed = heedful("corpora", "--data", tmp_path).out
    assert all(name in listed for name in ("sst", "imdb", "newsgroups", "agnews", "adr", "mimic-anemia", "planted"))
    assert "built in" in listed
    assert "heedful corpora get sst" in heedful("corpora", "sst", "--data", tmp_path).out
    entries = json.loads(heedful("corpora", "--json", "--data", tmp_path).out)
    assert {entry["name"]: entry["found"] for entry in entries}["sst"] is None


BAD_USE = [
    (["run"], "no corpus was named"),
    (["run", "--corpus", "sst", "--data", "nowhere"], "corpus sst was not found below nowhere"),
    (["run", "--corpus", "planted", "--encoder", "bilstmm"], "valid: average, bigru, bilstm, cnn, none"),
    (["run", "--corpus", "planted", "--set", "training.epochs"], "write it as key=value"),
    (["run", "--corpus", "planted", "--set", "training.epochs=none"], "training.epochs = 'none'"),
    (["run", "--corpus", "planted", "--set", "seed=1", "--set", "seed.x=1"], "'seed' is already set to a value"),
    (["run", "--corpus", "planted", "--experiments", "reach,magic"], "unknown experiment 'magic'; valid: adversary"),
    (["run", "--corpus", "planted", "--set", "epochs=3"], "did you mean 'training.epochs'?"),
    (["run", "--corpus", "planted", "--epochs", "-1"], "training.epochs = -1"),
    (["run", "--corpus", "planted", "--set", "experiment_options.epsilon=1"], "experiment_options.epsilon = 1"),
    (["run", "--corpus", "planted", "--set", "experiment_options.epsilon=nan"], "experiment_options.epsilon = nan"),
    (["run", "--corpus", "planted", "--set", 'importance.measures=["shap"]'], "there is no measure 'shap'"),
    (["run", "--config", "none.toml"], "none.toml: there is no such configuration file"),
    (["run", "--corpus", "planted", "--vectors", "none.vec"], "none.vec"),
    (["run", "--file", "none.csv", "--text", "a", "--label", "b"], "none.csv"),
    (["show", "nowhere"], "nowhere is not there"),
    (["show", "RUN", "--instance", "test-99999"], "there is no instance 'test-99999'; ids look like 'test-00000'"),
    (["show", "RUN", "--instance", "a", "--text", "b"], "exclude each other"),
    (["show", "RUN", "--text", "  "], "--text has no tokens"),
    (["show", "RUN", "--save", "heat.pdf"], "unknown heat-map format '.pdf'"),
    (["show", "RUN", "--save", "nowhere/heat.svg"], "there is no directory nowhere"),
    (["show", "RUN", "--save", "/.svg"], "unknown heat-map format"),
    (["corpora", "imbd"], "did you mean 'imdb'"),
    (["corpora", "get"], "name the corpus to download"),
    (["corpora", "get", "mimic-anemia"], "mimic-anemia"),
]


@pytest.mark.parametrize(("arguments", "problem"), BAD_USE)
def test_bad_use_is_one_line_exit_code_2_and_leaves_nothing(
    finished: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = heedful(*(finished.folder if word == "RUN" else word for word in arguments))
    assert result.code == 2
    errors = [line for line in result.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert problem in errors[0]
    assert "Traceback" not in result.err
    assert result.out == ""
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_an_unknown_option_is_exit_code_2() -> None:
    result = heedful("run", "--encodr", "x")
    assert result.code == 2
    assert "--encodr" in result.err


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = heedful("run", *ARGUMENTS, "--out", tmp_path / "file")
    assert result.code == 2
    assert str(tmp_path / "file") in result.err
    assert "Traceback" not in result.err


def test_hostile_labels_and_paths_are_only_text(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[31m</text><script>[/x]"
    rows = [
        {"text": f"a {word} film {i}", "label": evil if word == "fine" else "dull"}
        for i in range(20)
        for word in ("fine", "dull")
    ]
    (tmp_path / "[").mkdir()  # a path that reads like markup
    (tmp_path / "[/x].jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ["--set", "corpus_options.tokens=spaces", *ARGUMENTS[8:], "--out", tmp_path / "[/r]"]
    answer = heedful("run", "--file", tmp_path / "[/x].jsonl", *options)
    assert answer.code == 0, answer.err
    (folder,) = (tmp_path / "[/r]").iterdir()
    shown = [heedful("show", folder, "--text", "a fine film"), answer]
    for ending in (".svg", ".html", ".tex"):
        shown.append(heedful("show", folder, "--text", "a fine film", "--save", tmp_path / f"[/h]{ending}"))
    assert all(answer.code == 0 and "\x1b" not in answer.out + answer.err for answer in shown)
    ElementTree.parse(tmp_path / "[/h].svg")
    for ending in (".svg", ".html", ".tex"):
        written = (tmp_path / f"[/h]{ending}").read_text()
        assert "\x1b" not in written
        assert "<script>" not in written or ending == ".tex"


def test_an_error_about_hostile_text_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    answer = heedful("run", "--corpus", "\x1b[31mred")
    assert answer.code == 2
    assert "\x1b" not in answer.err


def test_ctrl_c_says_that_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("heedful.runs.execution.load", stop)
    answer = heedful("run", *ARGUMENTS, "--out", tmp_path)
    assert answer.code == 130
    assert "the same command resumes it" in answer.err


def test_a_run_directory_of_another_configuration_is_one_line(
    copy_small_run: Callable[[Path], Run], tmp_path: Path
) -> None:
    run = copy_small_run(tmp_path)
    run.record(files={})  # as older versions left it: without a hash of its options
    config = run.folder / "config.toml"
    config.write_text(config.read_text().replace("epochs = 2", "epochs = 3"))
    answer = heedful("run", *ARGUMENTS, "--out", tmp_path)
    assert answer.code == 2
    assert answer.err.startswith(f"error: {run.folder} holds a run with other options")


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "file"))
    answer = heedful("run", *ARGUMENTS, "--out", tmp_path / "runs")
    assert answer.code == 2
    assert str(tmp_path / "file") in answer.err
    assert "HEEDFUL_CACHE" in answer.err


def test_the_demo_says_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"train": 48, "dev": 12, "test": 12}
    monkeypatch.setattr(demo, "_REVIEWS", {"short, 2 classes": small, "long, 3 classes": {**small, "classes": 3}})
    monkeypatch.setattr(demo, "_DOCUMENTS", {**small, "verdicts": 2})
    monkeypatch.setattr(demo, "_EPOCHS", 1)
    monkeypatch.setattr(demo, "_COMMON", {**demo._COMMON, "experiment_options": {"sample": 4, "highlights": 4}})
    monkeypatch.setattr(demo, "_STORIES", {**demo._STORIES, "corpus_options": small, "training": {"epochs": 1}})
    answer = heedful("demo", "--out", tmp_path, "--site", tmp_path / "site")
    assert answer.code == 0, answer.err
    for encoder, runs in (("bilstm", 3), ("cnn", 1), ("average", 2)):
        assert answer.out.count(f" {encoder} ") >= runs
    assert "\nstories bilstm" in answer.out
    for model in ("flan", "han"):
        assert answer.out.count(f"docs    {model} bigru") == 2  # in either table
    assert "\u2026" not in answer.out  # nothing is cut
    assert "Share of items removed until the decision flips" in answer.out
    assert "the top-attended item is a deciding one in" in answer.out
    assert answer.out.startswith("May this attention be shown as an explanation?\n")
    answers = answer.out.partition("\n\n")[0].splitlines()[1:]
    assert sum(line.startswith(("Yes: ", "No: ", "With caution: ", "Not determined: ")) for line in answers) == 8
    assert sum(" short bilstm (" in line for line in answers) == 1
    assert "heedful show" in answer.out
    assert f"Explore: open {(tmp_path / 'site' / 'index.html').as_uri()}" in answer.out
    assert (tmp_path / "site" / "index.html").is_file()
    monkeypatch.setattr(demo, "_report", lambda folders, site: "")  # once is enough
    found = json.loads(heedful("demo", "--out", tmp_path, "--site", tmp_path / "site", "--json").out)
    assert len(found) == 8
    assert [finding["irrelevant"] is None for finding in found] == [False] * 5 + [True] + [False] * 2  # of stories
    assert [finding["removed"]["optimal"] is None for finding in found] == [False] * 5 + [True] + [False] * 2
    assert all(0 < finding["erased"]["leave_one_out"] <= 1 for finding in found)
    assert all(0 <= finding["mass"] <= 1 for finding in found)
