"""Which model is audited: a subject at hand, one of transformers, or what a function in the user's own file returns."""

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

from heedful.adapters.subject import Subject
from heedful.audits.plan import ModelFacts
from heedful.audits.text_sources import Row
from heedful.errors import BadConfig, BadInput, NotFound, user_code
from heedful.files import fingerprint

PROBES = 8  # texts
VERSIONS = ("versions", "torch", "transformers")  # in what an adapter tells: no part of what a model is


def from_hub(name: str, *, map: str, items: str, download: bool) -> Subject:
    """A classifier of transformers."""
    from heedful.adapters.huggingface import HuggingFace

    return HuggingFace.load(name, map=map, items=items, download=download)


def from_file(place: str) -> Subject:
    """What the function NAME in FILE.py returns, told as FILE.py:NAME. The file is run: it is the user's own."""
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
    return checked(subject, place)


def checked(subject: Any, place: str) -> Subject:
    """The subject itself, if it is one."""
    if not isinstance(subject, Subject):
        raise BadInput(
            f"{place} is {type(subject).__name__}, which cannot be audited as it is: wrap a torch module in "
            "heedful.adapters.module.Module, a transformers model in heedful.adapters.huggingface.HuggingFace"
        )
    return subject


def facts(subject: Subject, rows: Iterable[Row], name: str | None = None) -> ModelFacts:
    """What tells a model from another one: its parameters (or what it says of some rows) and its adapter's words."""
    about = {key: value for key, value in subject.about.items() if key not in VERSIONS}
    told = {key: value if isinstance(value, str | int | float | bool) else str(value) for key, value in about.items()}
    mark = _parameters(subject) or _said(subject, rows)
    name = name or str(about.get("name", type(subject).__name__))
    return ModelFacts(name=name, fingerprint=mark, classes=subject.classes, about=told)


def _imported(file: Path) -> Any:
    if not file.is_file():
        raise NotFound(f"{file}: there is no such file; --module takes FILE.py:NAME")
    known = f"heedful_audited_{file.stem}"
    if known in sys.modules and sys.modules[known].__file__ == str(file):
        return sys.modules[known]
    spec = importlib.util.spec_from_file_location(known, file)
    if spec is None or spec.loader is None:
        raise BadInput(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    sys.path.insert(0, str(file.parent.resolve()))  # what lies beside it can be imported, as in a script
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # an exit with code 0 would pass for a verdict
        del sys.modules[known]
        raise BadInput(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(file.parent.resolve()))
    return module


def _parameters(subject: Subject) -> str:
    """A short hash of all tensors that a subject holds; empty if it holds none."""
    total, some = hashlib.blake2b(digest_size=8), False
    for name, value in sorted(vars(subject).items()):
        held = value.state_dict() if isinstance(value, torch.nn.Module) else {"": value}
        for key, tensor in held.items():
            if isinstance(tensor, torch.Tensor):
                some = True
                total.update(f"{name}.{key} {tensor.dtype} {tuple(tensor.shape)}".encode())
                total.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return total.hexdigest() if some else ""


def _said(subject: Subject, rows: Iterable[Row]) -> str:
    """A short hash of what a subject says of a few texts: how one without tensors is known."""
    texts = [row.text for row in islice(rows, PROBES) if row.text.strip()]
    return fingerprint(np.round(subject.read(subject.encode(texts)).logits, 3).tolist())
