"""Experiments: evidence in, a frame with one row an instance out. No model, no torch."""
