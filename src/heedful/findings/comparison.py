"""`heedful compare`: the published figures beside ours, and the papers' claims as a checklist."""

from collections.abc import Sequence
from typing import NamedTuple

from heedful.errors import BadInput
from heedful.experiments.summary import Pooled
from heedful.findings.cache import kept
from heedful.findings.claims import Checked, checklist
from heedful.findings.configurations import Configuration, configurations
from heedful.findings.published import Compared, Published, caveats, compared, random_vectors
from heedful.runs.between_seeds import between
from heedful.runs.directory import Run

RELEASED = (
    "The figures of Jain & Wallace's released code are of a later run with that code's settings (`--preset released`), "
    "not the paper's; of Serrano & Smith only figures left in the code are known."
)


class Side(NamedTuple):
    """One configuration beside what was published of it."""

    configuration: Configuration
    rows: list[Compared]
    random: bool  # began with random word vectors, the papers' with pretrained ones
    seeds: str  # how far its runs differ from each other; empty for one run


class Comparison(NamedTuple):
    """All configurations of some runs, and the claims."""

    sides: list[Side]  # only those of which figures were published
    others: list[Configuration]  # of which none were
    claims: list[Checked]

    @property
    def caveats(self) -> str:
        """What must be said of the runs that stand beside published figures."""
        return caveats([run for side in self.sides for run in side.configuration.runs])


def compare(runs: Sequence[Run]) -> Comparison:
    """Runs beside the published figures; seeds of one configuration are taken together."""
    found = [(each, _compared(each)) for each in configurations(runs)]
    sides = [Side(each, rows, random_vectors(each.runs[0]), _seeds(each)) for each, rows in found if rows]
    others = [each for each, rows in found if not rows]
    return Comparison(sides, others, _checklist([each for each, _ in found]))


def _compared(configuration: Configuration) -> list[Compared]:
    rows = kept("compared", configuration.runs, lambda: compared(configuration))
    return [
        Compared(figure, decided, Pooled(*ours), paper and Published(*paper), released and Published(*released))
        for figure, decided, ours, paper, released in rows
    ]


def _checklist(all_: Sequence[Configuration]) -> list[Checked]:
    if not all_:
        return checklist(all_)
    labels = [each.label for each in all_]
    runs = [run for each in all_ for run in each.runs]
    claims = kept("claims", runs, lambda: [each.to_json() for each in checklist(all_)], labels=labels)
    return [Checked.from_json(each) for each in claims]


def _seeds(each: Configuration) -> str:
    """How far the runs of a configuration differ from each other."""
    if len(each.runs) < 2:
        return ""
    words: str = kept("between-seeds", each.runs, lambda: _between_seeds(each))
    return words


def _between_seeds(each: Configuration) -> str:
    try:
        instances = between(each.runs, draws=0).instances
    except BadInput as error:
        return f"The attention of its runs cannot be compared: {error}"
    away, same = float(instances["jsd"].mean()), float(instances["same"].mean())  # type: ignore[arg-type]
    return f"Between its {len(each.runs)} seeds attention is {away:.2f} apart (JSD); {same:.0%} of the decisions agree."
