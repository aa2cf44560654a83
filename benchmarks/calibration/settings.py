"""What thresholds are fixed on and how, and what is then tested.

`ENDED` and `IN_USE` were chosen on the models of two seeds, whose answers had been looked at. Only models of another
seed can test them, and each of those is judged by thresholds that were fixed without its rule and its architecture.
"""

from benchmarks.calibration.factory.kinds import BYPASSED, FAITHFUL, KINDS, WRONG, Label

LABELS: tuple[Label, ...] = (FAITHFUL, WRONG, BYPASSED)
WANTED = {FAITHFUL: "yes", WRONG: "no", BYPASSED: "with caution"}
WRONG_KINDS = tuple(name for name, kind in KINDS.items() if kind.label == WRONG)
BYPASSED_KINDS = tuple(name for name, kind in KINDS.items() if kind.label == BYPASSED)
FAITHFUL_KINDS = tuple(name for name, kind in KINDS.items() if kind.label == FAITHFUL)
ALL_KINDS = (*FAITHFUL_KINDS, *WRONG_KINDS, *BYPASSED_KINDS)
BREAKS = {  # the kinds that break a criterion by how they are made; a courier is necessary, though it says nothing
    "necessity": tuple(name for name in WRONG_KINDS if name != "courier"),
    "sufficiency": WRONG_KINDS,
    "swap": WRONG_KINDS,
    "weights": BYPASSED_KINDS,
    "shuffling": BYPASSED_KINDS,
}
ENDED = {  # the quantile of the models that break a criterion at which the gap begins
    "necessity": 0.5,  # some wrong words are necessary, and some suffice; a no needs only one criterion to fail
    "sufficiency": 0.5,
    "swap": 0.95,
    "weights": 0.5,
    "shuffling": 0.5,
}
TAIL = 0.05  # the quantile of the faithful models at which it ends
IN_USE = 0.25  # of strictness: where in the gap the middle of the two thresholds is
WIDTH = 0.25  # of the gap, between the two thresholds
APART = 0.05  # of thresholds from their middle, where there is no gap
DIGITS = 3

TEXTS = 240  # of a model
SIZES = (30, 60, 120, 240)
STRICTNESS = tuple(round(0.125 * step, 3) for step in range(9))
FIRST, PART = 32, 16  # texts until the first look, and between looks
