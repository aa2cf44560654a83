"""Plausible to people? Attention against the words that people marked: beside the verdict, never part of it."""

from typing import Any, NamedTuple

import polars as pl

from heedful.experiments.plausibility import MEASURES, NO_METHOD, plausibility_scores
from heedful.printable import figure

HEADING = "Plausible to people? (not part of the verdict)"
NAMES = {"auprc": "AUPRC", "f1": "token F1", "iou_f1": "IOU F1"}  # of the measures


class Agreement(NamedTuple):
    """How well a ranking agrees with people, each figure with its 95 % interval."""

    ranking: str
    cells: list[str]  # by measure


class Plausibility(NamedTuple):
    """What is shown of the comparison."""

    words: str
    rows: list[Agreement]  # attention, the best attribution, random
    scores: pl.DataFrame  # of all rankings

    def to_json(self) -> dict[str, Any]:
        """Plain values: the sentence, and the scores of every ranking."""
        return {"part_of_verdict": False, "words": self.words, "scores": self.scores.to_dicts()}


def plausibility_summary(frame: pl.DataFrame, *, seed: int = 0) -> Plausibility:
    """The frame of `plausibility` in short, with intervals."""
    scores = plausibility_scores(frame, seed=seed)
    by_name = {row["ranking"]: row for row in scores.to_dicts()}
    number = by_name["attention"]["n"]
    if not number:
        return Plausibility(
            "None of the tested texts has a rationale that marks some of its items, but not all; give more texts with "
            "rationales.",
            [],
            scores,
        )
    methods = [row for name, row in by_name.items() if name not in NO_METHOD]
    best = max(methods, key=lambda row: row["auprc"], default=None)
    shown = [by_name["attention"], *([best] if best is not None else []), by_name["random"]]
    rows = [Agreement(row["ranking"], [_cell(row, measure) for measure in MEASURES]) for row in shown]
    words = [f"Attention finds the words that people marked {_against(by_name['random'])}"]
    words += [] if best is None else [f"and {_against(best)}"]
    return Plausibility(f"{' '.join(words)} ({number:,} texts with rationales).", rows, scores)


def _against(row: dict[str, Any]) -> str:
    other = "a random order" if row["ranking"] == "random" else row["ranking"]
    if row["lead_low"] is not None and row["lead_low"] > 0:
        return f"better than {other}"
    if row["lead_high"] is not None and row["lead_high"] < 0:
        return f"worse than {other}"
    return f"neither clearly better nor clearly worse than {other}"


def _cell(row: dict[str, Any], measure: str) -> str:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    interval = "" if low is None else f" ({figure(low)} to {figure(high)})"
    return figure(row[measure]) + interval
