"""The battery: tests of an audited model by forward passes. One test per file, and one line here.

Frames have the columns of the experiments of the same names (docs/audit-battery.md).
"""

from heedful.audits.battery import adversary as _adversary
from heedful.audits.battery import curves as _curves
from heedful.audits.battery import erasure as _erasure
from heedful.audits.battery import highlights as _highlights
from heedful.audits.battery import importance as _importance
from heedful.audits.battery import permutation as _permutation
from heedful.audits.battery import removal as _removal
from heedful.audits.battery import single_weight as _single_weight
from heedful.audits.battery import substitution as _substitution
from heedful.audits.battery import violation as _violation
from heedful.audits.battery.test import Test
from heedful.verdict.criteria import CRITERIA

__all__ = ["BATTERY", "Test", "battery_of"]

_RACE = ("seed", "given")

BATTERY: dict[str, Test] = {
    "highlights": Test(_highlights.highlights, at_attention=True, takes=(*_RACE, "donors")),
    "importance": Test(_importance.importance, takes=("full",)),
    "substitution": Test(_substitution.substitution, at_attention=True),
    "violation": Test(_violation.violation),
    "single_weight": Test(_single_weight.single_weight, at_attention=True),
    "permutation": Test(_permutation.permutation, at_attention=True),
    "adversary": Test(_adversary.adversary, at_attention=True),
    "removal": Test(_removal.removal, at_attention=True, takes=_RACE),
    "curves": Test(_curves.curves, at_attention=True, takes=_RACE),
    "erasure": Test(_erasure.erasure, takes=(*_RACE, "full")),
}


USUAL = ("importance", "substitution", "violation", "erasure")  # what reports show beside the verdict, at little cost


def battery_of(*, full: bool, replayed: bool) -> tuple[str, ...]:
    """The tests to perform: the usual ones, those that the verdict rests on, and those that are cheap because the model
    is replayed; all if `full`. Highlights come first: they choose the texts for the others. Then comes importance: its
    attributions are rankings for the others."""
    needed = {*USUAL, *(criterion.test for criterion in CRITERIA)}
    return tuple(name for name, test in BATTERY.items() if full or name in needed or (replayed and test.at_attention))
