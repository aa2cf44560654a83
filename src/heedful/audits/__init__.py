"""Audits: somebody's own attention put to the tests, and a verdict."""
