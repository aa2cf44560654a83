"""Borrowing somebody's transformer: whatever is set for a reading is set back, also after an exception."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from heedful.errors import BadInput

ATTENTION = "_attn_implementation_internal"  # where a configuration keeps the name of its attention function
PADDING = "pad_token_id"


@contextmanager
def borrowed(model: nn.Module, settings: dict[str, object]) -> Iterator[None]:
    """Within it dropout is off and every configuration in the model has the settings."""
    found = [(vars(config), key, key in vars(config)) for config in configurations(model) for key in settings]
    values = [place.get(key) for place, key, _ in found]
    training = [module for module in model.modules() if module.training]
    try:
        for place, key, _ in found:  # past the properties: those would also set what was not asked for
            place[key] = settings[key]
        for module in training:
            module.training = False
        yield
    finally:
        for module in training:
            module.training = True
        for (place, key, was_there), value in zip(found, values, strict=True):
            if was_there:
                place[key] = value
            else:
                place.pop(key, None)


def configurations(model: nn.Module) -> list[Any]:
    """Every configuration that some part of the model reads, each once."""
    from transformers import PreTrainedConfig

    seen: dict[int, Any] = {}
    waiting = [getattr(module, "config", None) for module in model.modules()]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PreTrainedConfig) and id(config) not in seen:
            seen[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(seen.values())


@contextmanager
def embedding(layer: nn.Module, embed: Callable[[Tensor], Tensor] | None) -> Iterator[None]:
    """Within it, what the embedding layer says is passed through `embed`."""
    if embed is None:
        yield
        return
    calls = 0

    def hook(_: nn.Module, __: object, vectors: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return embed(vectors.cpu()).to(vectors.device)

    handle = layer.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()
    if calls != 1:
        raise BadInput(f"the embedding layer is called {calls} times in a reading: gradients need it to be called once")
