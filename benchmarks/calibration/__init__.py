"""Calibration of the verdict on trained models of known faithfulness: `python -m benchmarks.calibration`."""
