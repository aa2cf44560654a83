"""What must hold before a transformer is audited: nothing here is taken on trust from its family's name."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heedful.adapters.huggingface_intervention import Probe
from heedful.adapters.huggingface_rows import pooling_of
from heedful.adapters.subject import padded
from heedful.adapters.texts import Texts
from heedful.errors import BadInput, HeedfulError

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace

TOLERANCE = 1e-5
TEXTS = 8  # short and long ones


class Checked(NamedTuple):
    """The largest differences that were found."""

    identity: float  # of logits: attention taken out and put in again, against the model's own implementation
    padding: float  # of logits and map: alone, against among longer texts
    tolerance: float  # TOLERANCE times the largest logit, if that is above one
    texts: int


def probe(subject: "HuggingFace") -> tuple[str, list[int]]:
    """Which tokens the model decides from, and how many heads each layer has; BadInput where that cannot be told."""
    tokens, real, padding = subject.inputs(subject.example())
    look = Probe()
    kind = type(subject.model).__name__
    try:
        with torch.enable_grad():
            logits = subject.call(tokens, real, padding, look)
    except HeedfulError:
        raise
    except Exception as error:  # whatever a model of some family may say
        raise BadInput(f"{kind} cannot read two short texts: {type(error).__name__}: {error}") from error
    expected = subject.config.num_hidden_layers * getattr(subject.config, "inner_group_num", 1)
    if len(look.heads) != expected or look.output is None:
        raise BadInput(
            f"{kind} cannot be audited: of its {expected} layers, {len(look.heads)} computed attention through "
            "transformers' AttentionInterface; the others would ignore a change in silence, or have no attention. "
            "Audit it as a torch module, by the submodule that returns its weights"
        )
    slopes = torch.zeros(tokens.shape)
    if logits.requires_grad:
        for output in range(subject.outputs):
            (slope,) = torch.autograd.grad(logits[:, output].sum(), look.output, retain_graph=True)
            slopes += slope.flatten(2).abs().sum(dim=2).float().cpu()
    pooling = pooling_of(slopes, real)
    if pooling is None:
        used = [torch.nonzero(row).flatten().tolist() for row in slopes]
        raise BadInput(
            f"{kind} decides neither from its first token, nor from its last, nor from all: of texts of "
            f"{real.sum(dim=1).tolist()} tokens it uses the last layer's attention at {used}; so no row is the "
            "one to show"
        )
    return pooling, look.heads


def check(subject: "HuggingFace", texts: Texts) -> Checked:
    """See `HuggingFace.check`."""
    lengths = texts.tokens.lengths
    fit = np.flatnonzero((texts.lengths > 0) & (lengths <= (subject.longest or lengths.max(initial=0))))
    if not len(fit):
        raise BadInput("no text to check the model with: each is empty, or longer than the model can read")
    order = fit[np.argsort(lengths[fit], kind="stable")]
    rows = np.unique(order[np.linspace(0, len(order) - 1, num=min(TEXTS, len(order))).round().astype(np.int64)])
    moved, apart, largest = [], [], [1.0]
    with torch.inference_mode():
        together = subject.forward(padded(texts, rows), change=lambda shares: shares)
        for place, row in enumerate(rows):
            batch = padded(texts, rows[place : place + 1])
            own = subject.call(*subject.inputs(batch), None)[0]
            alone = subject.forward(batch, change=lambda shares: shares)
            moved.append(_distance(alone.logits[0], own))
            apart.append(_distance(together.logits[place], alone.logits[0]))
            apart.append(_distance(together.weights[place, : batch.items], alone.weights[0]))
            largest.append(float(own.abs().max()))
            if float(alone.aside[0]) >= 1:
                raise BadInput(f"the audited map is none of the text: no item of text {row} gets any attention")
    found = Checked(float(np.max(moved)), float(np.max(apart)), TOLERANCE * float(np.max(largest)), len(rows))
    _passed(type(subject.model).__name__, found)
    return found


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


def _passed(kind: str, found: Checked) -> None:
    allowed = f"{found.tolerance:.1e} is allowed ({TOLERANCE:.0e} times the largest logit, if above one)"
    if not found.identity <= found.tolerance:  # also where either is no number: np.max passes that on
        raise BadInput(
            f"{kind} cannot be audited: its own attention, taken out and put in again, moves its logits by "
            f"{found.identity:.2e}; {allowed}"
        )
    if not found.padding <= found.tolerance:
        raise BadInput(
            f"{kind} cannot be audited in batches: beside longer texts readings move by {found.padding:.2e}; {allowed}"
        )
