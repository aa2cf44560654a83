"""Making, keeping and loading models: a directory each, whole or not at all.

settings.json        the plan
weights.safetensors  of the trained network
texts.parquet        test texts: text, label, truth
findings.json        figures, label, reason of exclusion, steps and seconds; written last
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from benchmarks.calibration.factory.checks import check
from benchmarks.calibration.factory.networks import pooling_subject
from benchmarks.calibration.factory.plans import Plan
from benchmarks.calibration.factory.tasks import Text, written
from benchmarks.calibration.factory.training import Network, network_of, trained
from benchmarks.calibration.factory.transformer import Transformer, transformer_subject
from heedful.adapters.subject import Subject
from heedful.errors import BadInput
from heedful.files import atomic, remove_temporaries, write_json, write_parquet

TEXTS = 240  # to test on
SETTINGS, WEIGHTS, KEPT_TEXTS, FINDINGS = "settings.json", "weights.safetensors", "texts.parquet", "findings.json"


class Loaded(NamedTuple):
    """A model to audit."""

    subject: Subject
    texts: list[str]
    labels: NDArray[np.int64]  # by the rule, without noise
    truth: list[NDArray[np.bool_]]  # of each text: the words that decide


def produce(job: tuple[Plan, Path]) -> dict[str, Any]:
    """Make one model of many; processes find this function here, as they would not in a module that is run."""
    torch.set_num_threads(1)  # more are slower with small models, and sum in another order
    return make(*job)


def make(plan: Plan, folder: Path) -> dict[str, Any]:
    """Train a model, check it, and keep it; what was made before is returned as it is."""
    if finished(folder):
        kept: dict[str, Any] = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
        if Plan.of(json.loads((folder / SETTINGS).read_text(encoding="utf-8"))) != plan:
            raise BadInput(
                f"{folder} holds a model of another plan: give the seed that it was made with, or another --out"
            )
        return kept
    if folder.exists():
        remove_temporaries(folder)
    started, started_cpu = time.perf_counter(), time.process_time()
    network, steps = trained(plan)
    texts = written(plan.task, "test", TEXTS)
    found = check(plan, subject_of(network, plan), texts)
    write_json(folder / SETTINGS, plan.settings())
    with atomic(folder / WEIGHTS) as temporary:
        save_file({name: value.contiguous() for name, value in network.state_dict().items()}, temporary)
    write_parquet(folder / KEPT_TEXTS, _frame(texts))
    result = {
        "kind": plan.kind,
        "label": found.label,
        "reason": found.reason,
        "steps": steps,
        "seconds": round(time.perf_counter() - started, 3),
        "processor_seconds": round(time.process_time() - started_cpu, 3),  # the same on a busy machine
        "figures": found.figures,
    }
    write_json(folder / FINDINGS, result)
    return result


def finished(folder: Path) -> bool:
    """Whether a model is there, whole."""
    return (folder / FINDINGS).is_file()


def load(folder: Path) -> Loaded:
    """A model that was made, and its test texts."""
    plan = Plan.of(json.loads((folder / SETTINGS).read_text(encoding="utf-8")))
    network = network_of(plan)
    network.load_state_dict(load_file(folder / WEIGHTS))
    frame = pl.read_parquet(folder / KEPT_TEXTS)
    truth = [np.array(row, dtype=bool) for row in frame["truth"].to_list()]
    return Loaded(subject_of(network, plan), frame["text"].to_list(), frame["label"].to_numpy(), truth)


def subject_of(network: Network, plan: Plan) -> Subject:
    """A network as an audit sees it."""
    if isinstance(network, Transformer):
        return transformer_subject(network, plan)
    return pooling_subject(network, plan)


def _frame(texts: Sequence[Text]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "text": [" ".join(text.words) for text in texts],
            "label": [text.label for text in texts],
            "truth": [list(text.truth) for text in texts],
        }
    )
