"""The multiply-add limit of a computation: its matrix products, in their shapes and in their order, timed alone."""

import math
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FACTORS = {"mm": 0, "matmul": 0, "bmm": 0, "addmm": 1, "addmm_": 1, "baddbmm": 1}  # where the first of two stands


class Products(TorchDispatchMode):
    """Takes down the shapes of all products of matrices. Those with vectors do not count: memory limits them."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[torch.Size, torch.Size]] = []

    @classmethod
    def of(cls, compute: Callable[[], Any]) -> "Products":
        products = cls()
        with products:
            compute()
        return products

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        first = FACTORS.get(operation.overloadpacket.__name__)
        if first is not None and min(args[first].ndim, args[first + 1].ndim) > 1:
            self.shapes.append((args[first].shape, args[first + 1].shape))
        return operation(*args, **(kwargs or {}))

    @property
    def multiply_adds(self) -> int:
        return sum(first.numel() * second[-1] for first, second in self.shapes)

    def seconds(self) -> float:
        """Multiply again, nothing else, into warm memory: processor time."""
        shapes = [(first, second, torch.Size((*first[:-1], second[-1]))) for first, second in self.shapes]
        memory = [torch.rand(max(each[place].numel() for each in shapes)) for place in range(3)]
        calls = [
            tuple(part[: shape.numel()].view(shape) for part, shape in zip(memory, each, strict=True))
            for each in shapes
        ]
        started = time.process_time()
        for first, second, product in calls:
            torch.matmul(first, second, out=product)
        return time.process_time() - started


def machine_gflops(repeats: int = 20) -> float:
    """What this machine reaches in a product of the size of a step of chains, (2048 x 128)(128 x 512)."""
    first, second, product = torch.rand(2048, 128), torch.rand(128, 512), torch.empty(2048, 512)
    best = math.inf
    for _ in range(repeats):
        started = time.process_time()
        torch.mm(first, second, out=product)
        best = min(best, time.process_time() - started)
    return 2e-9 * 2048 * 128 * 512 / best
