"""Runs: configuration, directory, stages and manifest."""
