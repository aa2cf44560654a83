"""Adapters: users' own models as subjects of an audit. One kind of model a file."""
