"""heedful: may the attention weights of a text model be shown to people as an explanation?"""

__version__ = "0.1.0"
