"""Integrated gradients (Sundararajan, Taly & Yan 2017): what each token adds on the way from nothing to the text.

Trained models change abruptly somewhere on that way, so the integral is refined where it is needed. Completeness tells
where: on each piece of the way the attributions have to add up to the change of the output, which is known.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heedful.errors import BadConfig
from heedful.evidence import decide
from heedful.importance import MEASURES
from heedful.importance.measure import Batch, Instances, Measure, Measured, output_slope
from heedful.models.decoders import output_of
from heedful.ragged import Ragged

PIECES = 4  # to begin with: fewer overlook narrow peaks
NODES = 5  # Gauss-Legendre nodes a piece; an odd number, so that one is the middle, where a piece is halved
POINT_ROWS = 128  # points of lines that are read together,
POINT_CELLS = 16_384  # and their padded cells: bounds memory


def integrated_gradients(instances: Instances, *, tolerance: float = 0.01, limit: int = 1000) -> Measured:
    """The gradient of the decided class's probability, integrated on the straight line from zero vectors to the items:
    signed values (N,) float32, and their error (n,), the sum over the pieces of a text's line of
    |sum of attributions - change of output|.

    A single output is the second class's probability, and is the one explained whatever was decided. The gradient flows
    through attention; tokens that are no items stay as they are.

    Pieces of the line are halved until `error` is `tolerance` at most, or until the next halving would take more than
    `limit` gradients of a text: an error above the tolerance says that this happened. Opposite gaps do not cancel in
    `error`, so but for rounding it is never below the gap of the whole, |sum of values - (output - baseline's output)|.
    It is blind to errors of tokens that cancel within a piece. Each text is refined by itself; near a threshold,
    rounding may decide, and then values differ from batch to batch by some part of the tolerance.
    """
    if not 0 < tolerance < np.inf:
        raise BadConfig(f"tolerance={tolerance!r}: it is the error left in an integral; give a number above 0")
    if limit < PIECES * NODES:
        raise BadConfig(f"limit={limit!r}: every text takes {PIECES * NODES} gradients; allow so many at least")
    items = instances.items
    values = items.like(np.empty(len(items.values), dtype=np.float32))
    error = np.zeros(len(items), dtype=np.float32)
    with torch.no_grad():
        for batch in instances.differentiable(attention_fixed=False):
            total, gaps = _integrate(_Lines(batch), tolerance, limit)
            values.values[batch.cells] = total[batch.real].numpy()
            error[batch.rows] = gaps.numpy()
    return Measured(values, error)


def attribution(instances: Instances, measured: Measured) -> Ragged:
    """Integrated gradients of the decided class's probability, (N,)."""
    values = measured.values
    if instances.outputs > 1:
        return values
    signs = 2 * decide(instances.output) - 1  # the integral is of the second class
    return values.like(values.values * signs[values.row_of_value])


MEASURES.register(
    "integrated_gradients",
    Measure(
        lambda texts, tolerance: integrated_gradients(texts, tolerance=tolerance),
        signed=attribution,
    ),
)


class _Pieces(NamedTuple):
    """Pieces of the lines of some texts."""

    row: Tensor  # (P,): whose line
    ends: Tensor  # (P, 2): shares of the tokens, from and to
    outputs: Tensor  # (P, 2): the explained output there


def _integrate(lines: "_Lines", tolerance: float, limit: int) -> tuple[Tensor, Tensor]:
    """Attributions (B, T) and the sums of the pieces' gaps (B,), in float64."""
    pieces = lines.pieces()
    total = torch.zeros(lines.real.shape, dtype=torch.float64)
    error = torch.zeros(len(total), dtype=torch.float64)
    taken = torch.zeros(len(total), dtype=torch.int64)

    def each(row: Tensor, amounts: Tensor) -> Tensor:
        """Sums of amounts for each text, (B,)."""
        return torch.zeros(len(total), dtype=amounts.dtype).index_add_(0, row, amounts)

    while len(row := pieces.row):
        parts, middle = lines.measure(pieces)  # (P, T), (P,)
        gaps = (parts.sum(dim=1) - pieces.outputs.diff(dim=1)[:, 0]).abs()
        count = each(row, torch.ones_like(row))
        taken += NODES * count
        left = tolerance - error
        closed = (gaps <= (left / (2 * count))[row]) | (each(row, gaps) <= left)[row]  # the open ones share the rest
        closed |= (taken + 2 * NODES * each(row, (~closed).long()) > limit)[row]
        total.index_add_(0, row[closed], parts[closed])
        error += each(row[closed], gaps[closed])
        pieces = _halved(pieces, middle, ~closed)
    return total, error


def _halved(pieces: _Pieces, middle: Tensor, chosen: Tensor) -> _Pieces:
    """Both halves of the chosen pieces, one after the other; `middle` is the output there."""
    row, ends, outputs = (of[chosen] for of in pieces)

    def halves(values: Tensor, between: Tensor) -> Tensor:
        return torch.stack([values[:, 0], between, between, values[:, 1]], dim=1).view(-1, 2)

    return _Pieces(row.repeat_interleave(2), halves(ends, ends.mean(dim=1)), halves(outputs, middle[chosen]))


class _Lines:
    """The lines of a batch's texts, and what is explained of each."""

    def __init__(self, batch: Batch) -> None:
        self.read, self.width = batch.read, batch.width
        self.real = batch.real  # (B, T)
        self.explained = torch.zeros(len(self.real), dtype=torch.int64)

    def pieces(self) -> _Pieces:
        """The first pieces, of equal length; the whole text decides what is explained."""
        rows = torch.arange(len(self.real))
        ends = torch.arange(PIECES + 1, dtype=torch.float64) / PIECES
        read, shares = rows.repeat_interleave(len(ends)), ends.repeat(len(rows))
        outputs = torch.cat([output_of(self.read(read[some], shares[some]).logits) for some in self._some(len(read))])
        outputs = outputs.view(len(rows), len(ends), -1)
        if outputs.shape[2] > 1:
            self.explained = torch.from_numpy(decide(outputs[:, -1].numpy()))
        chosen = outputs[rows, :, self.explained].double()  # (B, ends)
        return _Pieces(
            rows.repeat_interleave(PIECES),
            ends.unfold(0, 2, 1).repeat(len(rows), 1),
            chosen.unfold(1, 2, 1).flatten(0, 1),
        )

    def measure(self, pieces: _Pieces) -> tuple[Tensor, Tensor]:
        """The pieces' attributions (P, T) by the rule of NODES nodes, and the outputs in their middle (P,)."""
        nodes, weights = map(torch.from_numpy, np.polynomial.legendre.leggauss(NODES))  # on [-1, 1]
        half = pieces.ends.diff(dim=1) / 2  # (P, 1)
        shares = (pieces.ends.mean(dim=1, keepdim=True) + half * nodes).flatten()  # (P * NODES,)
        weights = (half * weights).flatten()
        piece = torch.arange(len(pieces.row)).repeat_interleave(NODES)
        parts = torch.zeros(len(pieces.row), self.real.shape[1], dtype=torch.float64)
        outputs = torch.empty_like(shares)
        for some in self._some(len(piece)):
            outputs[some], slopes = self._slopes(pieces.row[piece[some]], shares[some])
            parts.index_add_(0, piece[some], slopes * weights[some, None])
        return parts.where(self.real[pieces.row], 0), outputs.view(-1, NODES)[:, NODES // 2]

    def _slopes(self, rows: Tensor, shares: Tensor) -> tuple[Tensor, Tensor]:
        """The explained outputs (Q,) at some points of the lines, and each token . its gradient there (Q, T)."""
        logits, product = self.read(rows, shares)
        which = self.explained[rows]
        output = output_of(logits).gather(1, which[:, None])[:, 0]
        return output.double(), product(output_slope(logits, which)).double() / shares[:, None]

    def _some(self, points: int) -> Iterator[slice]:
        """Points a batch, as many as memory allows."""
        size = max(1, min(POINT_ROWS, POINT_CELLS // self.width))
        return (slice(first, first + size) for first in range(0, points, size))
