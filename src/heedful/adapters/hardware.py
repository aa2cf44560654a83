"""Where a model computes, how much memory a batch may take there, and how far its precision can be trusted.

Tests run models on the CPU only. For accelerators they check that every operation finds its tensors on one device;
nothing has been run on a real one.
"""

import psutil
import torch
from torch import Tensor, nn

from heedful.errors import BadConfig, BadInput

AUTO = "auto"
KINDS = ("cpu", "cuda", "mps")
PRECISIONS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
SHARE = 0.2  # of the memory at hand that a batch may take
MOST = 1 << 26  # bytes that it may take on a CPU: what leaves a processor's cache takes nearly twice as long


def device_named(name: str) -> torch.device:
    """The device of this name: cpu, cuda (or cuda:1), mps; auto: the first accelerator that torch can use."""
    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == AUTO:
        return torch.device(next(kind for kind in usable if usable[kind]))
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in KINDS:
        raise BadConfig(f"device = {name}: choose {AUTO}, {', '.join(KINDS)}, or one of several, such as cuda:1")
    if not usable[device.type] or (device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count()):
        raise BadConfig(
            f"device = {name}: torch cannot use it on this machine; choose {AUTO} or cpu, or install a build of torch "
            "made for it"
        )
    return device


def device_of(model: nn.Module) -> torch.device:
    """The device that holds a model; one that is spread over several cannot be audited."""
    devices = {parameter.device for parameter in model.parameters()}
    if len(devices) > 1:
        raise BadInput(
            f"{type(model).__name__} is spread over {', '.join(sorted(map(str, devices)))}: move it to one device"
        )
    return next(iter(devices), torch.device("cpu"))


def moved(model: nn.Module, device: torch.device) -> None:
    """Move a model to a device."""
    try:
        model.to(device)
    except (RuntimeError, TypeError) as error:  # too little memory, or a precision that the device lacks
        raise BadInput(f"{type(model).__name__} cannot be moved to {device}: {str(error).splitlines()[0]}") from error


def precision_of(model: nn.Module) -> torch.dtype:
    """The coarsest precision of a model's parameters; BadInput if it is none to measure with."""
    found = {parameter.dtype for parameter in model.parameters() if parameter.is_floating_point()}
    other = found.difference(PRECISIONS)
    if other:
        raise BadInput(
            f"{type(model).__name__} has weights of {named(other.pop())}, too coarse to tell a change from rounding: "
            "load it as float32"
        )
    return max(found, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float32)


def named(precision: torch.dtype) -> str:
    """A precision's usual name."""
    return str(precision).removeprefix("torch.")


def tolerance(precision: torch.dtype, single: float, *, units: float) -> float:
    """What counts as rounding: `single` in single precision or better, and so many units of a coarser precision."""
    return max(single, units * torch.finfo(precision).eps) if precision not in PRECISIONS[:2] else single


def widened(values: Tensor) -> Tensor:
    """The same numbers in single precision at least: sums of coarser ones lose small terms."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def batch_memory(device: torch.device) -> int:
    """Bytes that a batch may take on a device."""
    if device.type == "cuda":
        return int(SHARE * torch.cuda.mem_get_info(device)[0])
    if device.type == "mps":
        return int(SHARE * (torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()))
    return min(MOST, int(SHARE * psutil.virtual_memory().available))
