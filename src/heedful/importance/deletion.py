"""What deleting each item of a batch gives, and the softmax that all fast forms end in."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.models.decoders import output_of
from heedful.ragged import Ragged


class Deletions(NamedTuple):
    """Outputs of a batch as it is and with each item deleted."""

    whole: NDArray[np.float32]  # (n, K)
    without: Ragged  # (N, K) float32

    @classmethod
    def of_logits(cls, items: Ragged, whole: Tensor, without: Tensor) -> "Deletions":
        """From logits (B, K) and (B, T, K), padded as the items are."""
        mask = torch.from_numpy(np.arange(without.shape[1]) < items.lengths[:, None])
        return cls(output_of(whole).numpy(), items.like(output_of(without[mask]).numpy()))


def weights_of(scores: Tensor, dim: int) -> Tensor:
    """The softmax of attention scores over `dim`; all zero where every score is minus infinity: nothing is attended."""
    top = scores.amax(dim, keepdim=True).clamp_min_(torch.finfo(scores.dtype).min)
    weights = (scores - top).exp_()
    return weights.div_(weights.sum(dim, keepdim=True).clamp_min_(1.0))  # the top itself weighs 1 unless all are zero
