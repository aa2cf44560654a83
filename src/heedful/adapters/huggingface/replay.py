"""Replaying a transformer from its audited layer on: what comes before is the same under any change of attention.

Layers before the audited one are skipped, and that layer reads the states that were kept. Where the map is made of the
last layer and the model decides from one token, only that token's row goes on: everything after attention treats
tokens one by one, so the model is called with that token alone, and the row's attention is over the values that were
kept. For a model of six layers and texts of 18 tokens that is about a hundredth of the arithmetic.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.adapters.huggingface.maps import ALL
from heedful.adapters.patching import Forward, patched
from heedful.adapters.subject import Reading, States

if TYPE_CHECKING:
    from heedful.adapters.huggingface import HuggingFace

HIDDEN = "hidden_states"  # what transformers calls the input of a layer where it is passed by name


@dataclass(frozen=True, eq=False)
class KeptStates(States):
    """States of a batch of texts at the audited layer."""

    reading: Reading
    padding: int  # the token that pads
    bytes_each: int  # to read one text from here, about
    hidden: Tensor  # (B, L, W): what the layer reads; (B, 1, W) where only the classifying row goes on
    tokens: Tensor  # (B, L) or (B, 1): the tokens that are read
    real: Tensor  # likewise
    rows: Tensor | None = None  # (B, H, 1, L): weights of the classifying row; None: all rows are computed again
    values: Tensor | None = None  # (B, H, L, D)

    def take(self, rows: Tensor) -> "KeptStates":
        """Some rows of the batch; the reading stays with the batch as it was read."""

        def taken(values: Tensor) -> Tensor:
            return values.index_select(0, rows.to(values.device))

        return replace(
            self,
            hidden=taken(self.hidden),
            tokens=taken(self.tokens),
            real=taken(self.real),
            rows=None if self.rows is None else taken(self.rows),
            values=None if self.values is None else taken(self.values),
        )

    def bytes_of(self, *, gradient: bool) -> int:
        """About how much memory it takes to read one text from here."""
        return self.bytes_each * (2 if gradient else 1)


class Layers(NamedTuple):
    """The layers of a model in the order of their calls; families that share weights call one module several times."""

    modules: tuple[nn.Module, ...]
    first: int  # the audited layer
    elements: int | None  # of the tuple that a layer returns; None: a tensor
    single_row: bool  # only the classifying row goes on

    @contextmanager
    def recording(self, record: Callable[[Tensor], None]) -> Iterator[None]:
        """Within it, the states that the audited layer reads are recorded."""

        def watched(number: int, forward: Forward, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
            if number == self.first:
                record(args[0] if args else named[HIDDEN])
            return forward(*args, **named)

        with self._intercepted(watched):
            yield

    @contextmanager
    def replaying(self, hidden: Tensor) -> Iterator[None]:
        """Within it, layers before the audited one do nothing, and that one reads `hidden`."""

        def skipped(number: int, forward: Forward, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
            if number < self.first:
                states = args[0] if args else named[HIDDEN]
                return states if self.elements is None else (states, *[None] * (self.elements - 1))
            if number > self.first:
                return forward(*args, **named)
            return forward(hidden, *args[1:], **named) if args else forward(**named | {HIDDEN: hidden})

        with self._intercepted(skipped):
            yield

    @contextmanager
    def _intercepted(self, call: Callable[..., Any]) -> Iterator[None]:
        """Calls of layers go through `call(number, forward, args, named)`."""
        numbers = count()

        def intercepted(forward: Forward) -> Forward:
            return lambda *args, **named: call(next(numbers), forward, args, named)

        with ExitStack() as stack:
            for module in dict.fromkeys(self.modules):
                stack.enter_context(patched(module, intercepted))
            yield


def layers_of(subject: "HuggingFace") -> Layers | None:
    """The layers of a model if it can be replayed: each member of a list of modules that computes attention once.

    None where a replay would save nothing: maps made of all layers, and of the first of several.
    """
    model, last = subject.model, subject.layers - 1
    first = subject.map.layers[0]
    single_row = first == last and subject.pooling != ALL
    if len(subject.map.layers) > 1 or (first == 0 and not single_row):
        return None
    members = [child for parent in model.modules() if isinstance(parent, nn.ModuleList) for child in parent]
    running: list[nn.Module] = []
    calls: list[tuple[nn.Module, Any]] = []
    attending: list[nn.Module | None] = []

    def enter(module: nn.Module, args: tuple[Any, ...]) -> None:
        running.append(module)

    def leave(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        calls.append((running.pop(), output))

    def look(layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        attending.append(running[-1] if running else None)
        return output

    with ExitStack() as stack:
        for module in members:
            stack.callback(module.register_forward_pre_hook(enter).remove)
            stack.callback(module.register_forward_hook(leave).remove)
        with torch.no_grad():
            subject.call(*subject.inputs(subject.example()), look)
    found = [(module, output) for module, output in calls if module in attending]
    if [module for module, _ in found] != attending:
        return None
    shapes = {len(output) if isinstance(output, tuple) else None for _, output in found}
    if len(shapes) > 1:
        return None
    return Layers(tuple(module for module, _ in found), first, shapes.pop(), single_row)
