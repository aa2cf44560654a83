"""The version, where everything can read it without importing the public API."""

__version__ = "0.1.0"
