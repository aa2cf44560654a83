"""Reads the data of a site as its pages do."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

_KINDS = {"f64": "<f8", "f32": "<f4", "i32": "<i4", "u8": "<u1"}


def data(site: Path, name: str) -> Any:
    """The value that a data file hands over."""
    text = (site / "data" / f"{name}.js").read_text(encoding="utf-8")
    start = f"heedful.store.add({json.dumps(name)}, "
    assert text.startswith(start)
    assert text.endswith(");\n")
    return json.loads(text[len(start) : -3])


def numbers(packed: dict[str, str]) -> np.ndarray:
    """A packed array."""
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=_KINDS[packed["kind"]])


def instances(site: Path, key: str, kind: str) -> list[dict[str, Any]]:
    """All texts or maps of a run, through its shards."""
    starts = data(site, f"{key}/run")["shards"][kind]
    found: list[dict[str, Any]] = []
    for shard, start in enumerate(starts):
        assert start == len(found)
        found += data(site, f"{key}/{kind}-{shard}")
    return found
