"""One instance whose decoder mixes features."""

from typing import NamedTuple

import numpy as np

from heedful.experiments.adversaries.rays import Distances
from heedful.experiments.arrays import Flags, Floats
from heedful.experiments.blends import Blends


class Blend(NamedTuple):
    """An instance, with the part of the decoder that its candidates need."""

    weights: Floats  # (T,)
    features: Floats  # (T, F)
    context: Floats  # (F,)
    matrix: Floats  # (C, F)
    bias: Floats  # (C,)
    output: Floats  # (C,)

    @classmethod
    def of(cls, view: Blends, index: int) -> "Blend":
        """The instance of that index."""
        kept = slice(None) if view.allowed is None else np.flatnonzero(view.allowed[index])
        features = view.features[index].astype(np.float64)
        matrix, bias = view.decoder.matrix[kept], view.decoder.bias[kept].astype(np.float64)
        blend = cls(view.weights[index], features, view.context[index], matrix, bias, np.zeros(len(bias)))
        return blend._replace(output=blend.probabilities(blend.hidden(blend.weights @ features)))

    def hidden(self, mixed: Floats) -> Floats:
        """What the decoder makes of mixtures (..., F)."""
        return np.asarray(np.tanh(mixed + self.context))

    def probabilities(self, hidden: Floats) -> Floats:
        """Outputs (..., C) of hidden units (..., F)."""
        logits = hidden @ self.matrix.T
        logits += self.bias
        logits -= logits.max(axis=-1, keepdims=True)
        powers = np.exp(logits, out=logits)
        powers /= powers.sum(axis=-1, keepdims=True)
        return np.asarray(powers)

    def distance(self, mixed: Floats) -> Floats:
        """How far the outputs of mixtures (..., F) are from the model's own, (...)."""
        return np.asarray(np.abs(self.probabilities(self.hidden(mixed)) - self.output).sum(axis=-1) / 2)

    def feasible(self, points: Floats, epsilon: float) -> Flags:
        """Which attention (R, T) truly moves the output by at most epsilon, (R,)."""
        return self.distance(points @ self.features) <= epsilon

    def along(self, starts: Floats, ends: Floats) -> Distances:
        """How far outputs between starts and ends (R, T) are from the model's own."""
        first, way = starts @ self.features, (ends - starts) @ self.features  # (R, F)
        return lambda part: self.distance(first[:, None] + part[..., None] * way[:, None])

    def slopes(self, points: Floats, classes: int) -> Floats:
        """Of the likeliest classes' probabilities by the weight of each item, (R, classes, T), at points (R, T)."""
        likeliest = np.argsort(-self.output, kind="stable")[:classes]
        hidden = self.hidden(points @ self.features)  # (R, F)
        output, steep = self.probabilities(hidden), 1 - hidden * hidden
        means = (output @ self.matrix * steep) @ self.features.T  # (R, T), of all logits' slopes
        by_item = (self.matrix[likeliest] * steep[:, None]) @ self.features.T  # (R, classes, T), of logits
        return np.asarray(output[:, likeliest, None] * (by_item - means[:, None]))
