"""Finding the projection through which a layer's heads speak, whatever its family calls it."""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from heedful.errors import BadConfig

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace


def output_projection(subject: "HuggingFace", audited: int) -> Tensor:
    """Weights (H . D, W) of the linear map that is given exactly what the attention of that layer put out."""
    from transformers.pytorch_utils import Conv1D

    made: list[Tensor] = []
    found: list[Any] = []

    def look(layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        if layer == audited:
            made.append(output.flatten(2))
        return output

    def hook(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if made and not found and inputs and isinstance(inputs[0], Tensor) and torch.equal(inputs[0], made[0]):
            found.append(module)

    linear = [module for module in subject.model.modules() if isinstance(module, nn.Linear | Conv1D)]
    handles = [module.register_forward_pre_hook(hook) for module in linear]
    try:
        with torch.no_grad():
            subject.call(*subject.inputs(subject.example()), look)
    finally:
        for handle in handles:
            handle.remove()
    if not found:
        raise BadConfig(
            f"map 'norm' needs the output projection of attention, and no linear layer of "
            f"{type(subject.model).__name__} is given what attention puts out; choose another map"
        )
    weight: Tensor = found[0].weight.detach()
    return weight if isinstance(found[0], Conv1D) else weight.T
