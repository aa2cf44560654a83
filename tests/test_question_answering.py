"""Question answering from end to end: the built-in world against the real one, and a corpus as large as they come."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import heedful
from heedful.corpora.loading import load
from heedful.models.inference import predict
from heedful.runs.directory import Run
from heedful.runs.model_setup import inputs_of

LIMIT = 6 << 30  # bytes
TRAINING = {"epochs": 16, "learning_rate": 0.003}


def answered(run: Run, corpus: str) -> float:
    """How many test questions of another corpus a run's model answers rightly, by the names of its own classes."""
    test = load(corpus).split("test")
    names = load(corpus).classes
    decided = predict(run.model(), inputs_of(test, run.vocabulary)).argmax(axis=1)
    return float(
        np.mean([run.classes[index] == names[label] for index, label in zip(decided, test["label"], strict=True)])
    )


@pytest.mark.slow
@pytest.mark.parametrize(("known", "unknown"), [("babi-1-simulated", "babi-1"), ("babi-1", "babi-1-simulated")])
def test_what_is_learned_in_one_world_holds_in_the_other(
    known: str, unknown: str, real_data: Path, tmp_path: Path
) -> None:
    options = {"train": 8500} if known == "babi-1-simulated" else {}
    run = heedful.run(known, corpus_options=options, training=TRAINING, experiments=[], out=tmp_path)
    assert run.metrics["test"]["accuracy"] > 0.98
    assert answered(run, unknown) > 0.98


@pytest.mark.slow
def test_a_large_corpus_streams_and_trains_in_bounded_memory(tmp_path: Path) -> None:
    """20,000 articles of 760 tokens in CNN's format, 200 steps of a BiLSTM of the paper's size."""
    folder = tmp_path / "cnn"
    folder.mkdir()
    for seed, (name, articles) in enumerate({"train": 18_000, "dev": 1_000, "test": 1_000}.items()):
        write_articles(folder / f"{name}.txt", articles, seed=seed)
    command = [sys.executable, "-m", "heedful.cli.main", "run", "--corpus", "cnn", "--data", str(tmp_path)]
    command += ["--set", "training.epochs=1", "--experiments", "permutation", "--out", str(tmp_path / "runs")]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit_memory)
    assert done.returncode == 0, done.stderr
    (run,) = (Run.open(folder) for folder in (tmp_path / "runs").iterdir())
    peaks = [stage["peak_memory_mb"] for stage in run.manifest["stages"].values()]
    assert max(peaks) < LIMIT >> 20


def limit_memory() -> None:
    """The child fails rather than take more than twice what it may: address space is more than what is used."""
    resource.setrlimit(resource.RLIMIT_AS, (4 * LIMIT, 4 * LIMIT))


def write_articles(path: Path, articles: int, *, seed: int) -> None:
    """Blocks of a question, its answer and an article whose entities are the candidates."""
    draw = np.random.default_rng(seed)
    words = np.array([f"word{index}" for index in range(30_000)], dtype=object)
    popularity = 1 / np.arange(1, len(words) + 1)
    popularity /= popularity.sum()
    with path.open("w", encoding="utf-8") as file:
        for _ in range(articles):
            tokens = draw.choice(words, size=760, p=popularity)
            entities = draw.choice(500, size=26, replace=False)
            tokens[draw.choice(760, size=78, replace=False)] = np.repeat([f"@entity{number}" for number in entities], 3)
            question = ["@placeholder", *draw.choice(words, size=12, p=popularity)]
            file.write(f"{' '.join(question)}\n@entity{draw.choice(entities)}\n{' '.join(tokens)}\n\n")
