"""The libraries that draw charts are an extra: without them there is no report, and everything else works."""

from importlib.util import find_spec

from heedful.errors import MissingExtra


def require_libraries() -> None:
    """Raise if a library is missing, and say how to get it."""
    for module, library in (("altair", "altair"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            raise MissingExtra(library, "report", "a report")
