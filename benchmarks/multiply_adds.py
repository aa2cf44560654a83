"""How near a computation is to the limit of its matrix products: the same products, in the same shapes, timed alone."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = ("mm", "addmm", "addmm_", "addmv", "mv", "bmm", "baddbmm", "baddbmm_", "_linear_pointwise")
Call = tuple[Any, tuple[Any, ...], tuple[tuple[str, Any], ...]]


class Products(TorchDispatchMode):
    """Notes every matrix product that is computed inside a `with` block, and can compute them again."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[Call] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__.split(".")[0] in PRODUCTS:
            named = tuple((name, _shape(value)) for name, value in (kwargs or {}).items())
            self.calls[func, tuple(map(_shape, args)), named] += 1
        return func(*args, **(kwargs or {}))

    def seconds(self, *, turns: int = 3) -> float:
        """The time of all products, with operands at hand; the best of some turns."""
        total = 0.0
        for (func, args, kwargs), times in self.calls.items():
            made, named = [_made(value) for value in args], {name: _made(value) for name, value in kwargs}
            func(*made, **named)  # once, so that kernels are compiled
            total += times * min(_timed(lambda: func(*made, **named), min(times, 20)) for _ in range(turns))  # noqa: B023
        return total


def gigaflops() -> float:
    """A processor's speed at (2048 x 128)(128 x 512) by `torch.mm`, to set absolute times beside."""
    left, right = torch.ones(2048, 128), torch.ones(128, 512)
    return 2 * 2048 * 128 * 512 / min(_timed(lambda: left @ right, 10) for _ in range(10)) / 1e9


def _shape(value: Any) -> Any:
    """Tensors by size and strides, so that equal calls are counted together."""
    if isinstance(value, Tensor):
        return ("tensor", tuple(value.shape), tuple(value.stride()))
    return tuple(value) if isinstance(value, list) else value


def _made(value: Any) -> Any:
    if isinstance(value, tuple) and value[:1] == ("tensor",):
        return torch.empty_strided(value[1], value[2]).fill_(1e-3)
    return list(value) if isinstance(value, tuple) else value


def _timed(call: Callable[[], Any], times: int) -> float:
    started = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - started) / times
