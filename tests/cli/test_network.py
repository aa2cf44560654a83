"""No command asks anything beyond this machine unless it is told to download: what is asked is refused, and counted."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import polars as pl
import pytest
import tomli_w

from tests.audits.made import TEXTS, csv
from tests.cli.calling import Answer, heedful
from tests.refusing import sitecustomize as refusing
from tests.runs.small import ARGUMENTS, VALUES

ROOT = Path(__file__).parents[2]
MODELS = Path(__file__).parents[1] / "audits" / "models.py"
HUB = "heedful-tests/no-such-model"

demo = import_module("heedful.cli.demo")

Asked = Callable[[], list[str]]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What was asked for in the test so far, here and in processes started here."""
    kept = tmp_path / "asked.txt"
    monkeypatch.setenv(refusing.VARIABLE, str(kept))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(refusing.FOLDER), *sys.path]))
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    return lambda: kept.read_text().splitlines() if kept.exists() else []


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transformers classifier in a folder."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tests.adapters.tiny import classifier, word_pieces

    folder = tmp_path_factory.mktemp("models") / "tiny"
    classifier("bert", num_labels=2).save_pretrained(folder)
    word_pieces().save_pretrained(folder)
    return folder


def audited(tmp_path: Path, *arguments: str | Path, data: str | Path | None = None) -> Answer:
    """An audit on a few texts, unless `data` says on what else."""
    data = data or csv(tmp_path / "mine.csv", ["text", *TEXTS[:6]])
    return heedful("audit", *arguments, "--data", data, "--sample", "2", "--out", tmp_path / "audits")


def rows(folder: Path, readme: str = "") -> str:
    """A folder of data as `--data` takes it."""
    folder.mkdir()
    (folder / "test.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS[:4]))
    if readme:
        (folder / "README.md").write_text(f"---\n{readme}\n---\nMy data.\n")
    return f"hf:{folder}"


def test_what_is_asked_is_refused_and_counted(asked: Asked) -> None:
    """Here and in other processes; otherwise the tests below would show nothing."""
    with pytest.raises(OSError, match="refused by the tests"):
        urllib.request.urlopen("http://example.org")
    assert asked() == ["socket.getaddrinfo example.org"]
    command = [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 80))"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1
    assert asked()[1:] == ["socket.getaddrinfo 192.0.2.1"]


def test_runs_sweeps_and_what_reads_them_ask_nothing(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(tomli_w.dumps({"seed": [0, 1], "experiments": ["reach"], **VALUES}))
    done = heedful("run", *ARGUMENTS, "--workers", "2", "--out", tmp_path / "runs", "--json")
    assert done.code == 0, done.err
    run = json.loads(done.out)["run"]
    commands: list[list[str | Path]] = [
        ["sweep", tmp_path / "grid.toml", "--workers", "1", "--out", tmp_path / "runs"],
        ["show", run],
        ["show", run, "--text", "The plot was superb.", "--save", tmp_path / "heat.html"],
        ["compare", tmp_path / "runs"],
        ["report", tmp_path / "runs", "--out", tmp_path / "site"],
        ["corpora"],
        ["corpora", "sst"],
        ["audit", "--evidence", Path(run) / "evidence.parquet", "--out", tmp_path / "audits"],
    ]
    for command in commands:
        answer = heedful(*command)
        assert answer.code in (0, 1, 3), (command, answer.err)
    assert asked() == []


def test_the_demo_asks_nothing(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_REVIEWS", {"short, 2 classes": {"train": 48, "dev": 12, "test": 12}})
    monkeypatch.setattr(demo, "_EPOCHS", 1)
    monkeypatch.setattr(demo, "_COMMON", {**demo._COMMON, "experiment_options": {"sample": 4}})
    planned = list(demo._runs())[:2]
    monkeypatch.setattr(demo, "_runs", lambda: iter(planned))
    answer = heedful("demo", "--out", tmp_path / "demo", "--site", tmp_path / "site")
    assert answer.code == 0, answer.err
    assert asked() == []


def test_audits_ask_nothing(asked: Asked, model: Path, tmp_path: Path) -> None:
    for arguments in (["--module", f"{MODELS}:faithful"], ["--hf", model], ["--hf", model, "--dry-run"]):
        answer = audited(tmp_path, *arguments)
        assert answer.code in (0, 1, 3), answer.err
    pytest.importorskip("datasets", reason="datasets is not installed")
    local = rows(tmp_path / "local", "license_link: https://example.org/license\nconfigs:\n- config_name: default")
    answer = audited(tmp_path, "--hf", model, data=local)
    assert answer.code in (0, 1, 3), answer.err
    assert asked() == []


@pytest.mark.parametrize("name", [HUB, "no-such-model-of-heedful"])
def test_a_model_that_is_not_here_is_not_asked_for(asked: Asked, tmp_path: Path, name: str) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    answer = audited(tmp_path, "--hf", name)
    assert answer.code == 2
    assert f"{name}: no such folder, and no model of that name in the local cache" in answer.err
    assert asked() == []


def test_a_model_from_the_cache_is_not_asked_for(asked: Asked, model: Path, tmp_path: Path) -> None:
    """In a process of its own: the libraries are imported only when the audit has begun."""
    cached = tmp_path / "hub" / "hub" / f"models--{HUB.replace('/', '--')}"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("0" * 40)
    shutil.copytree(model, cached / "snapshots" / ("0" * 40))
    data = csv(tmp_path / "mine.csv", ["text", *TEXTS[:6]])
    command = [sys.executable, "-m", "heedful.cli.main", "audit", "--hf", HUB, "--data", data, "--sample", "2"]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "audits")],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    assert asked() == []


def test_a_dataset_that_is_not_here_is_not_asked_for(asked: Asked, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    for name in ("hf:no-such-dataset-of-heedful", "hf:heedful-tests/no-such-dataset"):
        answer = audited(tmp_path, "--hf", model, data=name)
        assert answer.code == 2
        assert "give --download to fetch it" in answer.err
    assert asked() == []


@pytest.mark.parametrize(
    "address",
    ["hf://datasets/org/name/data.csv", "https://example.org/data.csv", "zip://data.csv::https://example.org/data.zip"],
)
def test_a_folder_that_names_data_elsewhere_is_refused(asked: Asked, model: Path, tmp_path: Path, address: str) -> None:
    pytest.importorskip("datasets", reason="datasets is not installed")
    data = rows(
        tmp_path / "mine", f"configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: {address}"
    )
    answer = audited(tmp_path, "--hf", model, data=data)
    assert answer.code == 2
    assert f"README.md names data elsewhere ({address})" in answer.err
    (tmp_path / "mine" / "README.md").rename(tmp_path / "mine" / "other.md")
    (tmp_path / "mine" / ".huggingface.yaml").write_text(
        f"configs:\n- {{config_name: default, data_files: '{address}'}}"
    )
    assert f".huggingface.yaml names data elsewhere ({address})" in audited(tmp_path, "--hf", model, data=data).err
    assert asked() == []


def test_columns_are_read_as_they_are_stored(asked: Asked, model: Path, tmp_path: Path) -> None:
    """A column of images would be fetched from the addresses in it."""
    pytest.importorskip("datasets", reason="datasets is not installed")
    files, features = "{config_name: default, data_files: test.parquet}", "{name: text, dtype: image}"
    data = rows(tmp_path / "mine", f"configs: [{files}]\ndataset_info: {{features: [{features}]}}")
    images = pl.DataFrame(
        {"text": [{"bytes": None, "path": "https://example.org/a.png"}] * 3},
        schema_overrides={"text": pl.Struct({"bytes": pl.Binary, "path": pl.String})},
    )
    images.write_parquet(tmp_path / "mine" / "test.parquet")
    answer = audited(tmp_path, "--hf", model, data=data)
    assert answer.code == 2
    assert "column 'text' holds" in answer.err
    assert asked() == []


@pytest.mark.parametrize("kernel", ["kernels-community/flash-attn2", "org/kernel@main:attend", "paged|org/kernel"])
def test_a_configuration_that_names_a_kernel_is_refused(asked: Asked, model: Path, tmp_path: Path, kernel: str) -> None:
    folder = shutil.copytree(model, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "_attn_implementation": kernel}))
    answer = audited(tmp_path, "--hf", folder)
    assert answer.code == 2
    assert f"config.json asks for the attention '{kernel}'" in answer.err
    assert asked() == []
