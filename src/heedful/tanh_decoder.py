"""The decoder of question answering and inference models, which is not affine in the attended vector.

Jain & Wallace's models with a query decide by `V tanh(sum_t a_t f_t + c) + b`: f_t are an item's features (its
state through a matrix), c is the context (query and biases), the same whatever is attended. The mixture is linear in
the attention, so an item's features (F,) are all that is needed of its state.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.ragged import Ragged

CELLS = 1 << 22  # features weighted at a time: 32 MB

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TanhDecoder:
    """Logits of mixed features: V tanh(mixed + context) + b."""

    weight: NDArray[np.float32]  # V, (K, F)
    bias: NDArray[np.float32]  # b, (K,)

    def __repr__(self) -> str:
        return f"TanhDecoder({self.weight.shape[-1]} features, {len(self.bias)} outputs)"

    @property
    def matrix(self) -> Floats:
        """V in double precision, (K, F)."""
        return self.weight.astype(np.float64)

    def logits(self, mixed: NDArray[Any], context: NDArray[Any]) -> Floats:
        """Logits (..., K) of mixtures (..., F) in contexts (..., F), in double precision."""
        hidden = np.tanh(np.asarray(mixed, dtype=np.float64) + context)
        return np.asarray(hidden @ self.matrix.T + self.bias)

    def to_json(self) -> str:
        """As JSON text; every single-precision number is written in full."""
        return json.dumps({"activation": "tanh", "weight": self.weight.tolist(), "bias": self.bias.tolist()})

    @classmethod
    def from_json(cls, text: str, where: str) -> "TanhDecoder":
        """From the text of a file, or an error that says what is wrong with it."""
        try:
            about = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{where}: the metadata 'decoder' is not JSON ({error})") from error
        if not isinstance(about, dict) or about.get("activation") != "tanh":
            raise BadInput(
                f"{where}: the metadata 'decoder' must be a JSON object with 'activation': \"tanh\", 'weight' and "
                "'bias'; no other activation is known"
            )
        return cls(_numbers(about, "weight", 2, where), _numbers(about, "bias", 1, where))


def mix(weights: Ragged, features: Ragged) -> Floats:
    """The weighted sum of each row's features, (n, F): some rows at a time, to avoid a copy of all features."""
    mixed = np.empty((len(weights), features.values.shape[1]))
    step = max(1, CELLS // max(1, features.values.shape[1]))
    for start, stop in row_slices(weights, step):
        part, seen = weights.slice(start, stop), features.slice(start, stop)
        mixed[start:stop] = part.like(part.values.astype(np.float64)[:, None] * seen.values).sum()
    return mixed


def row_slices(rows: Ragged, values: int) -> list[tuple[int, int]]:
    """Consecutive slices start, stop of rows that hold at most so many values together, one row at least."""
    slices, start = [], 0
    while start < len(rows):
        stop = int(np.searchsorted(rows.offsets, rows.offsets[start] + values, side="right")) - 1
        slices.append((start, max(start + 1, stop)))
        start = slices[-1][1]
    return slices


def _numbers(about: dict[str, Any], name: str, levels: int, where: str) -> NDArray[np.float32]:
    try:
        given = np.array(about.get(name))
        numbers = given.dtype.kind in "if"  # texts and truth values would pass for numbers
        with np.errstate(over="ignore"):  # what single precision cannot hold is found with what is not finite
            values = given.astype(np.float32) if numbers else np.empty(0, dtype=np.float32)
    except (TypeError, ValueError):
        values = np.empty(0, dtype=np.float32)
    if values.ndim != levels or not values.size or not np.isfinite(values).all():
        shape = "a list of equally long lists of numbers, one a class" if levels == 2 else "a list of numbers"
        raise BadInput(f"{where}: the metadata 'decoder' has no usable '{name}'; give {shape}")
    return values
