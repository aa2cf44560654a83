"""Subjects made of transformers classifiers."""

from heedful.adapters.huggingface.subject import HuggingFace

__all__ = ["HuggingFace"]
