"""The multiply-add limit of a computation: its matrix products, in their shapes and in their order, timed alone."""

import time
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MATRICES = {"mm": 0, "matmul": 0, "addmm": 1, "addmm_": 1, "bmm": 0, "baddbmm": 1, "baddbmm_": 1}  # where the two factors come


class Products(TorchDispatchMode):
    """Takes down the shapes of all matrix products under it. Vectors do not count: memory limits those."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[torch.Size, torch.Size]] = []

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        place = MATRICES.get(operation.overloadpacket.__name__)
        if place is not None and args[place + 1].ndim > 1:
            self.shapes.append((args[place].shape, args[place + 1].shape))
        return operation(*args, **(kwargs or {}))

    @property
    def multiply_adds(self) -> int:
        return sum(first.numel() * second[-1] for first, second in self.shapes)

    def seconds(self) -> float:
        """Do the products again, in buffers that are warm and laid out as they should be."""
        sizes = [max(shape[at].numel() for shape in self.shapes) for at in range(2)]
        first, second = (torch.rand(size) for size in sizes)
        out = torch.empty(max(a.numel() // a[-1] * b[-1] for a, b in self.shapes))
        calls = []
        for a, b in self.shapes:
            shape = torch.Size((*a[:-1], b[-1]))
            product = torch.mm if len(a) == 2 else torch.bmm
            into = out[: shape.numel()].view(shape)
            calls.append((product, first[: a.numel()].view(a), second[: b.numel()].view(b), into))
        started = time.perf_counter()
        for product, a, b, into in calls:
            product(a, b, out=into)
        return time.perf_counter() - started


def products_of(compute: Callable[[], Any]) -> Products:
    products = Products()
    with products:
        compute()
    return products
