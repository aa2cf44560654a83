"""Calibration of the verdict on planted subjects: `python -m benchmarks.calibration`."""
