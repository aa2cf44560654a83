"""How far two figures are apart, as a number and as a sign that needs no colour."""

from typing import Literal, NamedTuple

from heedful.experiments.over_runs import Pooled

NEAR, FAR = 0.5, 1.0  # of the published standard deviation
CLOSE = 0.05  # where none was published

Sign = Literal["=", "~", "≠", ""]

LEGEND = (
    "sd: difference in units of the published standard deviation over instances; = within half of one, ~ within one, ≠ "
    "further away. Where none was published: = inside our interval, ~ within 0.05, ≠ further away."
)
WORDS = (
    "sd: difference in units of the published standard deviation over instances; near: within half of one, not far: "
    "within one. Where none was published, near: inside our interval, not far: within 0.05."
)


class Apart(NamedTuple):
    """A difference, ours minus theirs."""

    difference: float
    in_std: float | None  # in units of the published standard deviation
    sign: Sign

    @property
    def words(self) -> str | None:
        """The sign in words, which no spreadsheet takes for a formula."""
        return {"=": "near", "~": "not far", "≠": "far", "": None}[self.sign]


def apart(ours: Pooled, value: float, std: float | None) -> Apart | None:
    """Of a figure of ours from a published one; None where ours is undefined."""
    if ours.mean is None:
        return None
    difference = ours.mean - value
    if std:
        units = difference / std
        return Apart(difference, units, "=" if abs(units) <= NEAR else "~" if abs(units) <= FAR else "≠")
    if ours.low is None or ours.high is None:
        return Apart(difference, None, "")
    # published with two digits: what rounds to our interval is inside
    inside = ours.low - 0.005 <= value <= ours.high + 0.005
    return Apart(difference, None, "=" if inside else "~" if abs(difference) <= CLOSE else "≠")
