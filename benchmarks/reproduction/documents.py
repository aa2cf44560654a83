"""Serrano & Smith 2019: models in rows, corpora in columns."""

from collections.abc import Callable, Sequence

from benchmarks.reproduction.markdown import points, table
from benchmarks.reproduction.reading import Record, corpus_name, model_name, records
from heedful.report.tables.table import UNKNOWN
from heedful.runs.directory import Run

_ORDERS = ("attention", "gradient", "random", "optimal")


def wins(runs: Sequence[Run]) -> str:
    """How often the gradient changes decisions sooner than attention does."""
    return _matrix(
        [each for each in records("serrano-smith-wins", runs) if each.values["rival"] == "gradient"],
        lambda each: points(each.values["rival_wins"]) + _paper(each.values["paper_rival_wins"]),
    )


def single(runs: Sequence[Run]) -> str:
    """How often removing the most attended item changes the decision, and how often removing any other one does."""
    return _matrix(
        [
            each
            for each in records("serrano-smith-flips", runs)
            if (each.values["ranking"], each.values["rival"]) == ("attention", "expected")
        ],
        lambda each: " / ".join(points(each.values["both"] + each.values[side]) for side in ("top_only", "rival_only")),
    )


def removed(runs: Sequence[Run]) -> str:
    """How much must go until the decision changes, order by order."""
    shares: dict[str, dict[str, str]] = {}
    firsts: dict[str, Record] = {}
    for each in records("serrano-smith-rankings", runs):
        firsts.setdefault(each.run.folder.name, each)
        share = each.values["fraction_all"]
        shares.setdefault(each.run.folder.name, {})[each.values["ranking"]] = f"{100 * share:.0f}"
    return _matrix(
        list(firsts.values()),
        lambda each: " / ".join(shares[each.run.folder.name].get(order, UNKNOWN) for order in _ORDERS),
    )


def _paper(share: float | None) -> str:
    return "" if share is None else f" ({points(share)})"


def _matrix(found: Sequence[Record], cell: Callable[[Record], str]) -> str:
    corpora = list(dict.fromkeys(corpus_name(each.run) for each in found))
    cells: dict[str, dict[str, str]] = {}
    for each in found:
        cells.setdefault(model_name(each.run), {})[corpus_name(each.run)] = cell(each)
    return table(["", *corpora], ([model, *(row.get(name, "") for name in corpora)] for model, row in cells.items()))
