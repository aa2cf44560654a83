"""The runs that pages are tested on: every kind of model and decoder, each trained in a second or two."""

from pathlib import Path
from typing import Any

from heedful.runs.directory import Run
from heedful.runs.execution import perform

_SMALL: dict[str, Any] = {
    "corpus": "planted",
    "corpus_options": {"train": 200, "dev": 20, "test": 60},
    "embedding": {"width": 16},
    "encoder_options": {"hidden": 8},
    "training": {"epochs": 3, "batch": 16},
    "importance": {"measures": ["gradient", "leave_one_out"]},
    "experiment_options": {"sample": 10},
}
_THREE = {"corpus_options": {"train": 200, "dev": 20, "test": 60, "classes": 3, "verdicts": 2, "length": 20}}
_STORIES = {"corpus": "babi-1-simulated", "corpus_options": {"train": 200, "test": 40}}
_DOCUMENTS = {"corpus_options": {"train": 200, "dev": 20, "test": 40, "verdicts": 2, "length": 30}}

KINDS: dict[str, dict[str, Any]] = {
    "sigmoid": {"encoder": "bilstm"},
    "sigmoid again": {"encoder": "bilstm", "seed": 1},
    "softmax": {**_THREE, "encoder": "average", "encoder_options": {}},
    "stories": {**_STORIES, "encoder": "bilstm"},
    "flan": {**_DOCUMENTS, "model": "flan", "encoder": "bigru"},
    "han": {**_DOCUMENTS, "model": "han", "encoder": "bigru"},
}


def make_runs(out: Path) -> dict[str, Run]:
    """Train them, or open those that are there; the last one is left half-finished."""
    runs = {kind: perform({**_SMALL, **values}, out=out) for kind, values in KINDS.items()}
    half = perform({**_SMALL, "seed": 9}, out=out / "half", experiments=[])
    (half.folder / "evidence.parquet").unlink()
    return {**runs, "half": half}
