"""What the papers searched or sampled, solved; one row a model of Jain & Wallace's."""

from collections.abc import Sequence

from benchmarks.reproduction.markdown import points, table
from benchmarks.reproduction.reading import Record, corpus_name, model_name, records
from heedful.report.tables.table import UNKNOWN
from heedful.runs.directory import Run

_WEIGHTS = ("own", "uniform", "random", "permuted")


def counterfactuals(runs: Sequence[Run]) -> str:
    """Other weights, orders and attentions."""
    found = {name: _by_run(name, runs) for name in ("permutation", "reach", "adversary", "violation")}
    rows = []
    for run in runs:
        order, reach, adversary, violation = (found[name].get(run.folder.name) for name in found)
        searched = None if adversary is None else adversary.values["search_jsd"]
        rows.append(
            [
                corpus_name(run),
                model_name(run),
                "" if order is None else f"{order.values['median']:.2f}",
                "" if order is None else _known(order.values["can_change"]),
                UNKNOWN if reach is None else points(reach.values["irrelevant"]),
                "" if adversary is None else f"{adversary.values['epsilon']:.2f}",
                UNKNOWN if searched is None else f"{searched:.2f}",
                "" if adversary is None else f"**{adversary.values['jsd']:.2f}**",
                "" if adversary is None else f"{adversary.values['upper']:.2f}",
                "" if violation is None else points(violation.values["violates"]),
            ]
        )
    head = ["corpus", "model", "shuffled: median TVD", "some order changes the decision", "no attention does", "ε"]
    return table([*head, "JSD, searched", "JSD, ours", "none exceeds", "top item argues against"], rows, left=2)


def substitution(runs: Sequence[Run]) -> str:
    """Accuracy with weights that are not the model's own."""
    cells: dict[str, dict[str, str]] = {}
    for each in records("substitution", runs):
        cells.setdefault(each.run.folder.name, {})[each.values["weights"]] = f"{each.values['accuracy']:.3f}"
    rows = (
        [corpus_name(run), model_name(run), *(cells[run.folder.name].get(name, "") for name in _WEIGHTS)]
        for run in runs
        if run.folder.name in cells
    )
    return table(["corpus", "model", *_WEIGHTS], rows, left=2)


def _by_run(name: str, runs: Sequence[Run]) -> dict[str, Record]:
    return {each.run.folder.name: each for each in records(name, runs)}


def _known(share: float | None) -> str:
    return UNKNOWN if share is None else points(share)
