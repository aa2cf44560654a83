"""A run that takes a second."""

from pathlib import Path
from typing import Any

VALUES: dict[str, Any] = {
    "corpus": "planted",
    "corpus_options": {"train": 64, "dev": 20, "test": 30},
    "embedding": {"width": 8},
    "encoder_options": {"hidden": 4},
    "training": {"epochs": 2, "batch": 16},
}

# the same for the command line
ARGUMENTS = [
    *("--corpus", "planted"),
    *("--set", "corpus_options.train=64"),
    *("--set", "corpus_options.dev=20"),
    *("--set", "corpus_options.test=30"),
    *("--set", "embedding.width=8"),
    *("--set", "encoder_options.hidden=4"),
    *("--set", "training.epochs=2"),
    *("--set", "training.batch=16"),
]


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file that must be the same whenever the same run is done."""
    return {
        path.name: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", ".lock")
    }
