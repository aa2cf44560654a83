"""The multiply-add limit of a computation: its matrix products, in their shapes and in their order, timed alone."""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

# where the first of two factors stands
FACTORS = {"mm": 0, "bmm": 0, "addmm": 1, "addmm_": 1, "baddbmm": 1, "baddbmm_": 1, "_linear_pointwise": 0}
ONEDNN = "_linear_pointwise"  # its second factor is turned


class Product(NamedTuple):
    """Shapes of the factors and of what they make, and whether oneDNN multiplied them."""

    first: torch.Size
    second: torch.Size
    made: torch.Size
    onednn: bool

    def multiply(self, first: Tensor, second: Tensor, made: Tensor) -> None:
        if self.onednn:
            torch.ops.mkldnn._linear_pointwise(first, second, None, "none", [], "")
        else:
            torch.matmul(first, second, out=made)


class Products(TorchDispatchMode):
    """Notes every product of matrices that is computed inside the block. Those with vectors do not count: memory limits
    them."""

    def __init__(self) -> None:
        super().__init__()
        self.products: list[Product] = []

    @classmethod
    def of(cls, compute: Callable[[], Any]) -> "Products":
        products = cls()
        with products:
            compute()
        return products

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = operation.overloadpacket.__name__
        place = FACTORS.get(name)
        if place is not None and min(args[place].ndim, args[place + 1].ndim) > 1:
            first, second = args[place].shape, args[place + 1].shape
            width = second[0] if name == ONEDNN else second[-1]
            self.products.append(Product(first, second, torch.Size((*first[:-1], width)), name == ONEDNN))
        return operation(*args, **(kwargs or {}))

    @property
    def multiply_adds(self) -> int:
        return sum(product.first.numel() * product.made[-1] for product in self.products)

    def seconds(self) -> float:
        """Multiply again, nothing else, in warm memory: processor time."""
        memory = [torch.rand(max(product[place].numel() for product in self.products)) for place in range(3)]
        calls = [
            (
                product.multiply,
                [part[: shape.numel()].view(shape) for part, shape in zip(memory, product, strict=False)],
            )
            for product in self.products
        ]
        started = time.process_time()
        for multiply, parts in calls:
            multiply(*parts)
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
