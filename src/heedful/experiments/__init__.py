"""Experiments: evidence in, a frame with one row an instance out. No model, no torch."""

from heedful.experiments.truth import truth

__all__ = ["truth"]
