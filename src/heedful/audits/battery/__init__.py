"""The battery: tests of an audited model by forward passes. One test per file, and one line here.

Frames have the columns of the experiments of the same names (docs/audit-battery.md).
"""

from heedful.audits.battery import adversary as _adversary
from heedful.audits.battery import curves as _curves
from heedful.audits.battery import erasure as _erasure
from heedful.audits.battery import importance as _importance
from heedful.audits.battery import permutation as _permutation
from heedful.audits.battery import removal as _removal
from heedful.audits.battery import single_weight as _single_weight
from heedful.audits.battery import substitution as _substitution
from heedful.audits.battery import violation as _violation
from heedful.audits.battery.test import Test

__all__ = ["BATTERY", "Test"]

_RACE = ("seed", "given")

BATTERY: dict[str, Test] = {
    "substitution": Test(_substitution.substitution, _substitution.readings),
    "violation": Test(_violation.violation, _violation.readings),
    "single_weight": Test(_single_weight.single_weight, _single_weight.readings),
    "permutation": Test(_permutation.permutation, _permutation.readings, costly=True),
    "adversary": Test(_adversary.adversary, _adversary.readings, costly=True, gradient=True),
    "removal": Test(_removal.removal, _removal.readings, costly=True, gradient=True, takes=_RACE),
    "curves": Test(_curves.curves, _curves.readings, costly=True, gradient=True, takes=_RACE),
    "erasure": Test(_erasure.erasure, _erasure.readings, costly=True, gradient=True, takes=_RACE),
    "importance": Test(_importance.importance, _importance.readings, costly=True, gradient=True, takes=()),
}
