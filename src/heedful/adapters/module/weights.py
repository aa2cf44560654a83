"""Attention weights in what a module returns: finding them, choosing the audited row, replacing it.

(B, L) and (B, L, 1): one head. (B, H, L): every head. (B, Q, L) and (B, H, Q, L): attention of several queries, of
which one is audited, the same in every text or the text's last token.
"""

from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from heedful.adapters.hardware import tolerance
from heedful.errors import BadConfig, BadInput

Key = int | str
Row = int | Literal["last"]

SUM_TOLERANCE = 1e-4
SHAPES = "(B, L), (B, L, 1), (B, H, L), (B, Q, L) or (B, H, Q, L)"


class Weights:
    """The audited weights of a module."""

    def __init__(self, name: str, *, element: Key | None = None, row: Row | None = None) -> None:
        if isinstance(row, str) and row != "last":
            raise BadConfig(f"row={row!r}: give the number of the query whose attention is audited, or 'last'")
        self.name, self.element, self.row = name, element, row
        self.heads: int | None = None  # the same in every forward pass, or these are no heads

    def find(self, output: Any, real: Tensor) -> tuple[Key | None, Tensor]:
        """Which element of what the module returned holds weights (None: all of it), and the audited ones, (B, H, L),
        checked to be distributions over the real tokens."""
        elements = elements_of(output)
        if elements is None:
            key, tensor = None, output
        elif self.element is not None:
            if self.element not in elements:
                raise BadConfig(f"element={self.element!r}: '{self.name}' returns {listed(elements)}; name one of them")
            key, tensor = self.element, elements[self.element]
        else:
            key = self._only(elements, real)
            tensor = elements[key]
        weights = self.rows(tensor, real)
        if weights is None:
            raise BadInput(
                f"'{self.name}' returns {described(tensor)} for {real.shape[0]} texts of {real.shape[1]} "
                f"tokens (B, L); attention weights have a shape of {SHAPES}: name the module that returns them"
            )
        self._check_heads(tensor, weights)
        problem = _problem(weights.detach(), real)
        if problem:
            raise BadInput(f"the weights that '{self.name}' returns {problem}")
        return key, weights

    def rows(self, tensor: Any, real: Tensor) -> Tensor | None:
        """The audited rows of weights, (B, H, L); None: these cannot be weights."""
        texts, length = real.shape
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point() or tensor.ndim not in (2, 3, 4):
            return None
        if tensor.shape == (texts, length, 1):
            return tensor.transpose(1, 2)
        if tensor.shape[0] != texts or tensor.shape[-1] != length:
            return None
        if tensor.ndim == 2:
            return tensor[:, None]
        if tensor.ndim == 3 and self.row is None:
            return tensor
        by_query = tensor[:, None] if tensor.ndim == 3 else tensor  # (B, H, Q, L)
        return by_query[torch.arange(texts), :, self._queries(by_query.shape[2], real)]

    def put(self, output: Any, key: Key | None, weights: Tensor, real: Tensor) -> Any:
        """What the module returned, with other weights (B, H, L) in the audited rows."""
        tensor = output if key is None else (elements_of(output) or {})[key]
        if tensor.ndim == 2:
            placed = weights[:, 0]
        elif tensor.shape == (*real.shape, 1):
            placed = weights.transpose(1, 2)
        elif tensor.ndim == 3 and self.row is None:
            placed = weights
        else:
            by_query = (tensor[:, None] if tensor.ndim == 3 else tensor).clone()
            by_query[torch.arange(len(tensor)), :, self._queries(by_query.shape[2], real)] = weights
            placed = by_query.view_as(tensor)
        return placed if key is None else with_element(output, key, placed)

    def _queries(self, queries: int, real: Tensor) -> Tensor:
        """Which query's attention is audited, in each text (B,)."""
        if self.row is None and queries > 1:
            raise BadConfig(
                f"'{self.name}' returns the attention of {queries} queries; say by row= whose is audited: the number "
                "of the token that the model decides from (0: the first), or 'last'"
            )
        if self.row == "last":
            return real.long().cumsum(dim=1).argmax(dim=1)  # where the count of real tokens is first complete
        row = int(self.row or 0)
        if not 0 <= row < queries:
            raise BadConfig(f"row={row}: '{self.name}' returns the attention of {queries} queries, 0 to {queries - 1}")
        return torch.full((len(real),), row)

    def _only(self, elements: dict[Key, Any], real: Tensor) -> Key:
        """The one element that holds distributions over the tokens."""
        rows = {key: self.rows(tensor, real) for key, tensor in elements.items()}
        fitting = {key: weights for key, weights in rows.items() if weights is not None}
        good = [key for key, weights in fitting.items() if _problem(weights.detach(), real) is None]
        if len(good) == 1:
            return good[0]
        if good:
            choice = " or ".join(f"element={key!r}" for key in good)
            raise BadConfig(f"'{self.name}' returns {listed(elements)}; more than one may be weights: say {choice}")
        if len(fitting) == 1:
            return next(iter(fitting))  # the check then says what is wrong with it
        raise BadInput(
            f"'{self.name}' returns {listed(elements)}: none of these is attention over the {real.shape[1]} tokens of "
            f"{real.shape[0]} texts, of a shape {SHAPES}; name the module that returns it (some return it only if "
            "asked to: need_weights=True, output_attentions=True)"
        )

    def _check_heads(self, tensor: Tensor, weights: Tensor) -> None:
        if self.heads is not None and self.heads != weights.shape[1]:
            raise BadConfig(
                f"'{self.name}' returns weights of shape {tuple(tensor.shape)}, and had {self.heads} rows a text "
                "before: these are no heads but queries, as many as tokens; say by row= whose attention is audited "
                "(0: the first token's), or 'last'"
            )
        self.heads = weights.shape[1]


def _problem(weights: Tensor, real: Tensor) -> str | None:
    """Why weights (B, H, L) are no distributions over the real tokens (B, L)."""
    if not torch.isfinite(weights).all():
        return "are NaN or infinite somewhere; look at what its softmax is taken over, perhaps no token at all"
    most = tolerance(weights.dtype, SUM_TOLERANCE, units=1)
    weights, inside = weights.cpu().double(), real[:, None].expand_as(weights)
    least = float(weights.min())
    if least < 0:
        return f"are negative, down to {least:.3g}; name a module that returns them after the softmax"
    total = weights.where(inside, 0.0).sum(dim=-1)
    outside = float(weights.where(~inside, 0.0).sum(dim=-1).max())
    worst = float(total.flatten()[(total - 1).abs().argmax()])
    if outside > most:
        return f"put {outside:.3g} on padding; mask it before the softmax (with minus infinity)"
    if abs(worst - 1) > most:
        return (
            f"sum to {worst:.6g} over the real tokens, not to 1; name a module that returns them after the softmax, in "
            "float32 and without dropout"
        )
    return None


def elements_of(output: Any) -> dict[Key, Any] | None:
    """The elements of what a module returned, by name or number; None: it is a single value."""
    if isinstance(output, dict):
        return dict(output)
    if is_dataclass(output):
        return {field.name: getattr(output, field.name) for field in fields(output)}
    if isinstance(output, tuple | list):
        return dict(zip(getattr(output, "_fields", range(len(output))), output, strict=True))
    return None


def with_element(output: Any, key: Key, value: Tensor) -> Any:
    """The same with another element."""
    if isinstance(output, dict):
        other = copy(output)
        other[key] = value
        return other
    if is_dataclass(output) and not isinstance(output, type):
        return replace(output, **{str(key): value})
    if hasattr(output, "_replace"):
        return output._replace(**{str(key): value})
    return type(output)(value if place == key else element for place, element in enumerate(output))


def listed(elements: dict[Key, Any]) -> str:
    """Several values, as error messages name them."""
    return ", ".join(f"{key!r}: {described(value)}" for key, value in elements.items()) or "nothing"


def described(value: Any) -> str:
    """A value, as error messages name it."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    return "None" if value is None else f"a {type(value).__name__}"
