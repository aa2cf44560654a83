"""Inputs of a torch module under audit: texts cut by the user's tokenizer, batches of them; hooks on its submodules."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.adapters.subject import Padded
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.errors import BadConfig, BadInput, user_code
from heedful.ragged import Ragged

Ids = Sequence[int]
Names = Sequence[str | None]  # None: a token that is no item
Tokenize = Callable[[str], Ids | tuple[Ids, Names]]
Hook = Callable[[Any], Any]  # what a module returned to what it shall return instead; None: as it is

LISTED = 20  # names that an error lists


def encoded(texts: Sequence[str], tokenize: Tokenize, known: int | None = None) -> Texts:
    """Each token with a name is an item; names are the words of the text where there are as many, else the ids. A model
    that knows so many tokens gets no other one."""
    tokens, items, names = [], [], []
    for number, text in enumerate(texts):
        with user_code(f"the tokenizer, on text {number} ({text[:40]!r}),", "call it by hand to see where"):
            made = tokenize(text)
        ids, called = _parts(made, text, number)
        named = np.array([name is not None for name in called], dtype=bool)
        unknown = ids[_strange(ids, known)]
        if len(unknown):
            raise BadInput(
                f"text {number}: token {unknown[0]} is not the model's, which {_embeds(known)}; use its tokenizer"
            )
        tokens.append(ids)
        items.append(np.where(named, np.cumsum(named) - 1, NO_ITEM))
        names.append(np.array([name for name in called if name is not None], dtype=object))
    return Texts(
        Ragged.from_rows(tokens, dtype=np.int64),
        Ragged.from_rows(items, dtype=np.int64),
        Ragged.from_rows(names, dtype=object),
    )


def check_token(option: str, token: int, known: int | None) -> None:
    """An option that names a token must name one that the model knows."""
    if _strange(np.array([token]), known).any():
        raise BadConfig(f"{option}={token}: the model {_embeds(known)}; give one of these")


def _strange(tokens: NDArray[np.int64], known: int | None) -> NDArray[np.bool_]:
    """Which tokens the model has no vector for, as far as is known."""
    return np.asarray((tokens < 0) | (tokens >= (np.inf if known is None else known)))


def _embeds(known: int | None) -> str:
    return "embeds tokens from 0 on" if known is None else f"embeds {known} tokens, 0 to {known - 1}"


def _parts(made: Any, text: str, number: int) -> tuple[NDArray[np.int64], Names]:
    """Ids and names of one text."""
    ids, names = made if isinstance(made, tuple) and len(made) == 2 and np.ndim(made[0]) == 1 else (made, None)
    array = np.asarray(ids)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise BadInput(f"text {number}: tokenize must return a list of token ids, or (ids, names); it returned {ids!r}")
    if names is None:
        words = text.split()
        names = words if len(words) == len(array) else [str(each) for each in array]
    if len(names) != len(array):
        raise BadInput(f"text {number}: tokenize returned {len(array)} ids and {len(names)} names; give a name each")
    return array.astype(np.int64), names


class Filled(NamedTuple):
    """A batch as a model reads it."""

    tokens: Tensor  # (B, L), L at least 1
    real: Tensor  # (B, L), one at least in each row
    item: Tensor  # (B, L)
    void: Tensor  # (B,): texts without any token of their own


def filled(batch: Padded, *, pad: int, blank: int | None) -> Filled:
    """A text without any token becomes a single `blank` one, or a `pad` one that counts as real."""
    void = ~batch.real.any(dim=1)
    tokens, real, item = batch.tokens.where(batch.real, pad), batch.real, batch.item
    if void.any():
        if not tokens.shape[1]:
            column = torch.zeros(len(void), 1, dtype=torch.int64)
            tokens, real, item = column, column.bool(), column + NO_ITEM
        here = void[:, None] & (torch.arange(tokens.shape[1]) == 0)
        tokens = tokens.masked_fill(here, pad if blank is None else blank)
        real = real | here
    return Filled(tokens, real, item, void)


def submodule(model: nn.Module, path: str, what: str) -> nn.Module:
    """The named module; an unknown name is answered with those it was meant for."""
    modules: dict[str, nn.Module] = dict(model.named_modules(remove_duplicate=False))
    names = [name for name in modules if name]
    if path in names:
        return modules[path]
    near = get_close_matches(path, names, n=3)
    last = path.rpartition(".")[2].lower()
    near += [name for name in names if last and last in name.rpartition(".")[2].lower() and name not in near]
    hint = f" (did you mean {' or '.join(map(repr, near[:3]))}?)" if near else ""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    listed = ", ".join(names[:LISTED]) or "none"
    raise BadConfig(f"{what}={path!r}: the model has no such module{hint}; its modules: {listed}{more}")


@contextmanager
def listening(model: nn.Module, hooks: Sequence[tuple[nn.Module, Hook]] = ()) -> Iterator[None]:
    """The model in evaluation, some of its modules heard; then every mode as before and no hook left. Modes are set one
    by one: a model's own `train` and `eval` may do more than that."""
    with ExitStack() as stack:
        for module in model.modules():
            stack.callback(setattr, module, "training", module.training)
            module.training = False
        for module, hook in hooks:
            stack.callback(module.register_forward_hook(_forward(hook)).remove)
        yield


def _forward(hook: Hook) -> Callable[[nn.Module, Any, Any], Any]:
    return lambda module, inputs, output: hook(output)
