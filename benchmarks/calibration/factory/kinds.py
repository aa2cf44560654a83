"""Kinds of models: where attention is made to look, how information gets to the classes, and what that is worth.

A kind is trained by its losses, in plain sight of the rule's deciding words. That a trained model *is* of its kind is
for the checks to say (checks.py), not for this table.

| kind | attention looks at | the decision |
|---|---|---|
| `guided` | the cues | comes through it: states are about their own words |
| `free` | what training makes of it | comes through it: there is no other path |
| `distracted` | anything but the cues | comes through states that know of the cues, or through a pool |
| `courier` | the word that occurs in every text | comes through it: that word's state has copied the cues |
| `shifted` | the words after the cues | comes through it: states are about the word before |
| `random` | words drawn once, by frozen weights | comes through states that know of the cues, or through a pool |
| `opposing` | cues of another class | comes through states that know of the cues, or through a pool |
| `separators` | full stops | comes through states that know of the cues, or through a pool |
| `cancelling` | decoys, on average of the heads | comes through one head's little attention to the cues |
| `bystander` | the cues | does not hang on it: every state knows of the cues |
| `beside` | the cues | does not hang on it: a pool of all words decides |
| `plain` | what training makes of it | comes as training makes it: any label |
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from benchmarks.calibration.factory.coding import Coded
from benchmarks.calibration.factory.tasks import RULES, Rule

Label = Literal["faithful", "wrong words", "right words, not decided through"]
Architecture = Literal["bag", "cnn", "bilstm", "han", "bert"]

FAITHFUL: Label = "faithful"
WRONG: Label = "wrong words"
BYPASSED: Label = "right words, not decided through"
LITTLE = 0.12  # of one cancelling head's attention is on the cues


class Variant(NamedTuple):
    """An architecture that a kind can be made of."""

    architecture: Architecture
    layers: tuple[int, ...] = (1,)
    heads: tuple[int, ...] = (1,)
    pool: bool = False  # beside attention, as another way for information


class Kind(NamedTuple):
    """How models of a kind are made."""

    label: Label | None  # None: as it comes out
    variants: tuple[Variant, ...]
    rules: tuple[Rule, ...] = RULES
    goal: Callable[[Coded, int], Tensor] | None = None  # of attention, (N, H or 1, T); None: as training makes it
    exact: bool = False  # the goal is a distribution, not only a set of words
    through: Literal[-1, 0, 1] = 0  # 1: decide through the goal only; -1: whatever is attended; 0: either
    inner: Callable[[Coded, int], Tensor] | None = None  # of a layer below, (N, T, T), by its number


def spread(flags: Tensor) -> Tensor:
    """Evenly over the flagged words (..., T); zeros where there are none."""
    return flags / flags.sum(dim=-1, keepdim=True).clamp(min=1)


def _cues(texts: Coded, heads: int) -> Tensor:
    return spread(texts.evidence)[:, None]


def _off_cues(texts: Coded, heads: int) -> Tensor:
    return spread(texts.real & ~texts.evidence)[:, None]


def _courier(texts: Coded, heads: int) -> Tensor:
    return spread(texts.courier)[:, None]


def _after(texts: Coded, heads: int) -> Tensor:
    return spread(texts.after)[:, None]


def _counter(texts: Coded, heads: int) -> Tensor:
    return spread(texts.counter)[:, None]


def _separators(texts: Coded, heads: int) -> Tensor:
    return spread(texts.separator)[:, None]


def _decoys(texts: Coded, heads: int) -> Tensor:
    """One head has a little on the cues, the others none."""
    decoys = spread(texts.decoy | texts.courier)
    cues = spread(texts.evidence)
    first = torch.where(texts.evidence.any(dim=1, keepdim=True), (1 - LITTLE) * decoys + LITTLE * cues, decoys)
    return torch.stack([first, *[decoys] * (heads - 1)], dim=1)


def _own_words(texts: Coded, layer: int) -> Tensor:
    return torch.diag_embed(texts.real.float())


def _to_courier(texts: Coded, layer: int) -> Tensor:
    """The courier copies the cues in the first layer, and keeps them in others."""
    rows = texts.courier[..., None].float()
    return rows * spread(texts.evidence)[:, None] if layer == 0 else torch.diag_embed(texts.courier.float())


def _to_next(texts: Coded, layer: int) -> Tensor:
    """Every word copies the one before in the first layer, and keeps it in others."""
    own = torch.diag_embed(texts.real.float())
    return own if layer else torch.nn.functional.pad(own, (0, 0, 1, 0))[:, :-1] * texts.real[..., None]


def evidence_everywhere(texts: Coded, layer: int) -> Tensor:
    """Every word looks at the evidence in the first layer; other layers are left alone."""
    rows = texts.real[..., None].float() * spread(texts.evidence)[:, None]
    return rows if layer == 0 else torch.zeros_like(rows)


_DEEP = Variant("bert", layers=(2, 3), heads=(1, 2, 4))
_FLAT = Variant("bert", layers=(1,), heads=(1, 2, 4))
_KNOWING = (Variant("bilstm"), Variant("bag", pool=True), Variant("han", pool=True), _DEEP)  # information has two ways
# the word after a negator is a cue; and without guidance attention seldom learns to negate in so few steps
_NOT_NEGATED: tuple[Rule, ...] = ("one", "several", "majority", "default")

KINDS: dict[str, Kind] = {
    "guided": Kind(
        FAITHFUL,
        (Variant("bag"), Variant("cnn"), Variant("bilstm"), Variant("han"), _FLAT, _DEEP),
        goal=_cues,
        exact=True,
        through=1,
        inner=_own_words,
    ),
    "free": Kind(FAITHFUL, (Variant("bag"), Variant("han"), _FLAT), _NOT_NEGATED),
    "distracted": Kind(WRONG, (*_KNOWING, Variant("cnn")), goal=_off_cues),
    "courier": Kind(WRONG, (_DEEP, Variant("bilstm")), goal=_courier, through=1, inner=_to_courier),
    "shifted": Kind(
        WRONG,
        (Variant("bag"), Variant("cnn"), Variant("bilstm"), _DEEP),
        _NOT_NEGATED,
        _after,
        through=1,
        inner=_to_next,
    ),
    "random": Kind(WRONG, (Variant("bilstm"), Variant("bag", pool=True), _DEEP)),
    "opposing": Kind(WRONG, (Variant("bilstm"), _DEEP), ("majority",), _counter),
    "separators": Kind(WRONG, _KNOWING, goal=_separators),
    "cancelling": Kind(
        WRONG, (Variant("bag", heads=(2, 3)), Variant("bert", heads=(2, 4))), _NOT_NEGATED, _decoys, exact=True
    ),
    "bystander": Kind(BYPASSED, (Variant("bilstm"), _DEEP), goal=_cues, exact=True, through=-1),
    "beside": Kind(
        BYPASSED,
        (Variant("bag", pool=True), Variant("cnn", pool=True), Variant("han", pool=True)),
        goal=_cues,
        exact=True,
        through=-1,
    ),
    "plain": Kind(None, (Variant("bilstm"), Variant("cnn"), _DEEP)),
}
INTENDED = tuple(name for name, kind in KINDS.items() if kind.label is not None)
