"""Numbers of things, as options give them."""

from numbers import Integral

from heedful.errors import BadConfig


def check_count(name: str, value: object, *, least: int) -> None:
    """Raise unless an option is a whole number, and large enough."""
    if not isinstance(value, Integral) or int(value) < least:
        raise BadConfig(f"{name} = {value!r}: give a whole number of {least} or more")
