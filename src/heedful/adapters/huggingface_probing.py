"""Trying out a transformer: what it decides from, and whether changes would reach it, is measured and not taken on
trust from its family's name."""

from typing import TYPE_CHECKING

import torch

from heedful.adapters.huggingface_intervention import Probe
from heedful.adapters.huggingface_rows import pooling_of
from heedful.errors import BadInput, HeedfulError

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace


@torch.inference_mode(False)
@torch.enable_grad()
def probe(subject: "HuggingFace") -> tuple[str, list[int]]:
    """Which tokens the model decides from, and how many heads each layer has; BadInput where that cannot be told."""
    look = Probe()
    kind = type(subject.model).__name__
    tokens, real, padding = subject.inputs(subject.example())
    try:
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
