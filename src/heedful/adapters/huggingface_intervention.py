"""One reading's dealings with attention: the audited rows are changed or held fixed, and kept for the map."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from heedful.adapters.changes import Change, changed
from heedful.adapters.huggingface_maps import Map, mean_of_rows, normed, rolled_out
from heedful.adapters.huggingface_rows import Rows


@dataclass
class Intervention:
    """Looks at each layer of a batch; audited ones go on with changed weights, if there is a change."""

    map: Map
    rows: Rows
    item: Tensor  # (B, L)
    items: int
    projection: Tensor | None  # of the audited layer, for a norm-weighted map
    change: Change | None
    fixed: bool
    heads: list[int] = field(default_factory=list)  # of each layer
    _seen: list[Tensor] = field(default_factory=list)

    def __call__(self, layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """What the layer goes on with, (B, L, H, D)."""
        self.heads.append(weights.shape[1])
        if layer not in self.map.layers:
            return output
        rows = self.rows.of(weights)  # (B, H, Q, L)
        if self.change is not None or self.fixed:
            rows = self._altered(rows)
            output = self.rows.placed((rows @ values).transpose(1, 2), output)
        if self.map.kind == "rollout":
            whole = weights.mean(dim=1)  # (B, L, L)
            self._seen.append(self.rows.placed(rows.mean(dim=1), whole))
        elif self.map.kind == "norm" and self.projection is not None:
            self._seen.append(normed(rows, values, self.projection, self.rows.shares))
        else:
            self._seen.append(mean_of_rows(rows[:, self.map.heads], self.rows.shares))
        return output

    def tokens(self) -> Tensor:
        """The map over all tokens, (B, L)."""
        if self.map.kind == "rollout":
            return rolled_out(self._seen, self.rows.start(self._seen[0].shape[-1]))
        return self._seen[0]

    def _altered(self, rows: Tensor) -> Tensor:
        """The rows with the audited heads' weights changed; fixed ones have no gradient."""
        some = rows[:, self.map.heads]
        if self.change is not None:
            flat = some.flatten(1, 2).cpu()  # each head of each query stands for itself
            some = changed(flat, self.item, self.items, self.change).to(rows).view_as(some)
        if self.fixed:
            some = some.detach()
        return some if self.map.head is None else rows.slice_scatter(some, 1, self.map.head, self.map.head + 1)


@dataclass
class Probe:
    """Looks at a reading without touching it; the last layer's output is kept, so that the logits' slopes can be asked
    for."""

    heads: list[int] = field(default_factory=list)
    output: Tensor | None = None

    def __call__(self, layer: int, weights: Tensor, values: Tensor, output: Tensor) -> Tensor:
        """The same output, cut off from what is before it."""
        self.heads.append(weights.shape[1])
        with torch.enable_grad():
            self.output = output.detach().requires_grad_()
        return self.output
