"""The multiply-add limit of a computation: its matrix products, in their shapes and in their order, timed alone."""

import math
import time
from collections.abc import Callable
from itertools import cycle
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

FACTORS = {"mm": 0, "bmm": 0, "addmm": 1, "addmm_": 1, "baddbmm": 1, "baddbmm_": 1, "_linear_pointwise": 0}


class Layout(NamedTuple):
    """A tensor's place in memory, without its numbers."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def cells(self) -> int:
        return 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))


class Products(TorchDispatchMode):
    """Notes every product of matrices that is computed inside the block. Those with vectors do not count: memory limits
    them."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, list[Any], dict[str, Any]]] = []
        self.multiply_adds = 0

    @classmethod
    def of(cls, compute: Callable[[], Any]) -> "Products":
        products = cls()
        with products:
            compute()
        return products

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = operation.overloadpacket.__name__, kwargs or {}
        place = FACTORS.get(name)
        if place is not None and min(args[place].ndim, args[place + 1].ndim) > 1:
            named = {key: _layout(value) for key, value in kwargs.items()}
            self.calls.append((operation, [_layout(value) for value in args], named))
            width = args[place + 1].shape[0 if name == "_linear_pointwise" else -1]  # the latter turns its weights
            self.multiply_adds += args[place].numel() * width
        return operation(*args, **kwargs)

    def seconds(self) -> float:
        """Multiply again, nothing else, in warm memory; processor time."""
        layouts = [layout for _, args, named in self.calls for layout in [*args, *named.values()]]
        most = max((layout.cells for layout in layouts if isinstance(layout, Layout)), default=0)
        memory = [torch.rand(most) / most for _ in range(4)]  # small numbers: sums in place must not overflow
        calls = [
            (
                operation,
                [_placed(value, part) for value, part in zip(args, cycle(memory), strict=False)],
                {key: _placed(value, memory[-1]) for key, value in named.items()},
            )
            for operation, args, named in self.calls
        ]
        with torch.inference_mode():
            started = time.process_time()
            for operation, args, named in calls:
                operation(*args, **named)
            return time.process_time() - started


def machine_gflops(repeats: int = 20) -> float:
    """What this machine reaches in a product of the size of a step of chains, (2048 x 128)(128 x 512)."""
    first, second, product = torch.rand(2048, 128), torch.rand(128, 512), torch.empty(2048, 512)
    best = math.inf
    for _ in range(repeats):
        started = time.perf_counter()
        torch.mm(first, second, out=product)
        best = min(best, time.perf_counter() - started)
    return 2e-9 * 2048 * 128 * 512 / best


def _layout(value: Any) -> Any:
    return Layout(tuple(value.shape), tuple(value.stride())) if isinstance(value, Tensor) else value


def _placed(value: Any, memory: Tensor) -> Any:
    return memory.as_strided(value.shape, value.strides) if isinstance(value, Layout) else value
