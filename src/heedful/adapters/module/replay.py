"""Replaying a torch module from its audited attention on.

Submodules that have returned before the attention submodule is called return the same under any change of attention:
what they returned is kept, and returned again. Everything else, the model's own code between its submodules included,
runs as ever.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from heedful.adapters.patching import Forward, patched
from heedful.adapters.subject import Reading, States


class Returned(NamedTuple):
    """A call of a submodule that returned before attention was computed."""

    module: nn.Module
    output: Any


@dataclass(frozen=True, eq=False)
class KeptCalls(States):
    """What submodules returned for a batch of texts."""

    reading: Reading
    calls: tuple[Returned, ...]
    dims: tuple[tuple[int, ...], ...]  # which dimension of each tensor that a call returned is the batch

    def take(self, rows: Tensor) -> "KeptCalls":
        """Some rows of the batch; the reading stays with the batch as it was read."""

        def taken(output: Any, dims: tuple[int, ...]) -> Any:
            left = iter(dims)
            return _mapped(output, lambda values: values.index_select(next(left), rows.to(values.device)))

        pairs = zip(self.calls, self.dims, strict=True)
        return replace(self, calls=tuple(Returned(call.module, taken(call.output, dims)) for call, dims in pairs))

    def bytes_of(self, *, gradient: bool) -> int:
        """About how much memory it takes to read one text from here: what is kept, and as much again for the rest."""
        total = 0
        for call, dims in zip(self.calls, self.dims, strict=True):
            for values, dim in zip(_tensors(call.output), dims, strict=True):
                total += values.nbytes // max(1, values.shape[dim])
        return total * (4 if gradient else 2)

    @contextmanager
    def replayed(self) -> Iterator[None]:
        """Within it, the submodules return what was kept, as often as they were called."""
        waiting: dict[nn.Module, list[Any]] = {}
        for module, output in self.calls:
            waiting.setdefault(module, []).append(output)
        with ExitStack() as stack:
            for module, outputs in waiting.items():
                stack.enter_context(patched(module, partial(_returning, outputs)))
            yield


@contextmanager
def recording(model: nn.Module, attention: nn.Module, calls: list[Returned]) -> Iterator[None]:
    """Within it, the outermost calls that return before attention is computed are recorded."""
    open_calls: list[tuple[nn.Module, int]] = []  # and how many calls were recorded when each began
    computed: list[None] = []

    def enter(module: nn.Module, args: tuple[Any, ...]) -> None:
        if module is attention:
            computed.append(None)
        open_calls.append((module, len(calls)))

    def leave(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        _, first = open_calls.pop()
        if not computed:
            calls[first:] = [Returned(module, output)]  # whatever it called itself is inside

    with ExitStack() as stack:
        for module in model.modules():
            stack.callback(module.register_forward_pre_hook(enter).remove)
            stack.callback(module.register_forward_hook(leave).remove)
        yield


def batch_dims(smaller: list[Returned], larger: list[Returned]) -> tuple[tuple[int, ...], ...] | None:
    """Which dimension of each returned tensor is the batch, from the calls of two batches that differ in size only;
    None where that cannot be told."""
    if [call.module for call in smaller] != [call.module for call in larger]:
        return None
    found = []
    for one, other in zip(smaller, larger, strict=True):
        pairs = list(zip(_tensors(one.output), _tensors(other.output), strict=False))
        if len(pairs) != len(_tensors(one.output)) or not _plain(one.output):
            return None
        dims = []
        for values, more in pairs:
            sizes = enumerate(zip(values.shape, more.shape, strict=False))
            differing = [dim for dim, (size, larger_size) in sizes if size != larger_size]
            if len(differing) != 1:
                return None
            dims += differing
        found.append(tuple(dims))
    return tuple(found)


def _plain(value: Any) -> bool:
    """Whether a value is made of tensors, so that rows can be chosen from it."""
    if isinstance(value, PackedSequence | Tensor) or value is None:
        return True
    return isinstance(value, tuple | list) and all(map(_plain, value))


def _tensors(value: Any) -> list[Tensor]:
    found: list[Tensor] = []

    def note(values: Tensor) -> Tensor:
        found.append(values)
        return values

    _mapped(value, note)
    return found


def _mapped(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """The same value with each tensor passed through a function; packed sequences are unpacked, texts first."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, PackedSequence):
        padded, lengths = pad_packed_sequence(value, batch_first=True)
        return pack_padded_sequence(function(padded), function(lengths), batch_first=True, enforce_sorted=False)
    if isinstance(value, tuple | list):
        return type(value)(_mapped(each, function) for each in value)
    return value


def _returning(outputs: list[Any], forward: Forward) -> Forward:
    left = iter(outputs)

    def call(*args: Any, **named: Any) -> Any:
        for output in left:
            return output
        return forward(*args, **named)

    return call
