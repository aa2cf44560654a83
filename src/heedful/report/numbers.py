"""Numbers as people read them; what is undefined is called so."""


def percent(share: float | None) -> str:
    """A share."""
    return "undefined" if share is None else f"{100 * share:.0f}%"


def figure(value: float | None, digits: int = 2) -> str:
    """A number, or the word for none."""
    return "undefined" if value is None else f"{round(value, digits) + 0.0:.{digits}f}"  # never -0.00


def spread(mean: float | None, std: float | None) -> str:
    """Mean and standard deviation."""
    return "undefined" if mean is None else f"{mean:.2f}±{figure(std)}"
