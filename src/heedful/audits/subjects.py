"""The audited model: a subject, a transformers classifier, or what a function in the user's own file returns."""

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heedful.adapters.hardware import device_named, moved
from heedful.adapters.subject import Subject
from heedful.audits.plan import ModelFacts
from heedful.audits.text_sources import Row
from heedful.errors import BadConfig, BadInput, NotFound, user_code
from heedful.files import fingerprint

PROBES = 8  # texts
VERSIONS = ("versions", "torch", "transformers")  # entries of `about` that do not identify a model


def from_file(place: str, *, device: str | None = None) -> Subject:
    """What the function NAME in FILE.py returns, from FILE.py:NAME, its model moved to a device if one is named. The
    file is executed: it is the user's own."""
    file, colon, name = place.rpartition(":")
    if not colon or not file or not name.isidentifier():
        raise BadConfig(f"--module {place}: write it as FILE.py:NAME, a function in your file that returns a subject")
    function = getattr(_imported(Path(file)), name, None)
    if function is None:
        there = [each for each, value in vars(_imported(Path(file))).items() if callable(value)]
        near = get_close_matches(name, there, n=1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise NotFound(f"{file} has no function '{name}'{hint}; it must return a heedful.adapters Subject")
    if not callable(function):
        raise BadInput(f"{place} is {type(function).__name__}, not a function that returns a subject")
    with user_code(place, "call it in Python to see where"):
        subject = function()
    subject = checked(subject, place)
    if device is not None:
        model = getattr(subject, "model", None)
        if not isinstance(model, torch.nn.Module):
            raise BadConfig(f"device = {device}: {place} has no torch module `model` that could be moved; leave it out")
        subject.device = device_named(device)
        moved(model, subject.device)
    return subject


def checked(subject: Any, place: str) -> Subject:
    """The subject, or an error if it is something else."""
    if not isinstance(subject, Subject):
        raise BadInput(
            f"{place} is {type(subject).__name__}, not a Subject: wrap a torch module in "
            "heedful.adapters.module.Module, a transformers model in heedful.adapters.huggingface.HuggingFace"
        )
    return subject


def facts(subject: Subject, rows: Iterable[Row], name: str | None = None) -> ModelFacts:
    """What identifies a model: its name, a hash of its parameters (or some outputs), and its adapter's report."""
    about = {key: value for key, value in subject.about.items() if key not in VERSIONS}
    plain = {key: value if isinstance(value, str | int | float | bool) else str(value) for key, value in about.items()}
    mark = _parameters_hash(subject) or _outputs_hash(subject, rows)
    name = name or str(about.get("name", type(subject).__name__))
    return ModelFacts(name=name, fingerprint=mark, classes=subject.classes, about=plain)


def _imported(file: Path) -> Any:
    if not file.is_file():
        raise NotFound(f"{file}: no such file; --module takes FILE.py:NAME")
    known = f"heedful_audited_{file.stem}"
    if known in sys.modules and sys.modules[known].__file__ == str(file):
        return sys.modules[known]
    spec = importlib.util.spec_from_file_location(known, file)
    if spec is None or spec.loader is None:
        raise BadInput(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    sys.path.insert(0, str(file.parent.resolve()))  # as in a script: modules next to it can be imported
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # an exit with code 0 would pass for a verdict
        del sys.modules[known]
        raise BadInput(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(file.parent.resolve()))
    return module


def _parameters_hash(subject: Subject) -> str:
    """A short hash of all tensors that a subject holds; empty if there are none."""
    total, some = hashlib.blake2b(digest_size=8), False
    for name, value in sorted(vars(subject).items()):
        held = value.state_dict() if isinstance(value, torch.nn.Module) else {"": value}
        for key, tensor in held.items():
            if isinstance(tensor, torch.Tensor):
                some = True
                total.update(f"{name}.{key} {tensor.dtype} {tuple(tensor.shape)}".encode())
                total.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return total.hexdigest() if some else ""


def _outputs_hash(subject: Subject, rows: Iterable[Row]) -> str:
    """A short hash of the logits for a few texts, for subjects that hold no tensors."""
    texts = [row.text for row in islice(rows, PROBES) if row.text.strip()]
    return fingerprint(np.round(subject.read(subject.encode(texts)).logits, 3).tolist())
