"""Listening to a torch module for the time of one call; it is left as it was found, whatever happens."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import nn

Hook = Callable[[Any], Any]  # what a module returned to what it shall return instead; None: as it is


@contextmanager
def listening(model: nn.Module, hooks: Sequence[tuple[nn.Module, Hook]] = ()) -> Iterator[None]:
    """The model in evaluation, some of its modules heard; then every mode as before and no hook left.

    Modes are set one by one: a model's own `train` and `eval` may do more than that.
    """
    modes = {module: module.training for module in model.modules()}
    with ExitStack() as stack:
        for module in modes:
            module.training = False
        stack.callback(_restore, modes)
        for module, hook in hooks:
            stack.callback(module.register_forward_hook(_forward(hook)).remove)
        yield


def _forward(hook: Hook) -> Callable[[nn.Module, Any, Any], Any]:
    return lambda module, inputs, output: hook(output)


def _restore(modes: dict[nn.Module, bool]) -> None:
    for module, training in modes.items():
        module.training = training
