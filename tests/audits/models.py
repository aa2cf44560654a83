"""Functions that `heedful audit --module` calls."""

import torch

from heedful.adapters.module import Module
from heedful.adapters.subject import Subject
from tests.adapters.small import Small, subject_of
from tests.audits.made import planted


def faithful() -> Subject:
    return planted()


def distracted() -> Subject:
    return planted("distracted")


def affine() -> Subject:
    """Logits that are affine in the attention."""
    return subject_of(Small())


def bent() -> Subject:
    return subject_of(Small(bend=torch.tanh))


def broken() -> Subject:
    raise ValueError("no weights here")


def leaving() -> Subject:
    raise SystemExit(0)


def strange() -> Subject:
    """A model whose tokenizer fails."""
    return Module(Small(), attention="attention", embedding="embedding", tokenize=_fails, classes=("a", "b"))


def _fails(text: str) -> list[int]:
    raise ZeroDivisionError("no tokens")


number = 3


def nothing() -> None:
    pass
