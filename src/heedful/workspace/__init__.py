"""Resumable directories of stages, which runs and audits share."""
