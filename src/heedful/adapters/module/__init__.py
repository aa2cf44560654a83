"""Subjects made of torch modules."""

from heedful.adapters.module.subject import Module

__all__ = ["Module"]
