"""Tables 1 and 2 of Jain & Wallace 2019, in their layout, the published figures in brackets."""

from collections.abc import Iterator, Sequence

from benchmarks.reproduction.markdown import points, table
from benchmarks.reproduction.reading import ENCODERS, Record, corpus_name, records
from heedful.findings.claim_tests import agrees_more
from heedful.findings.configurations import Configuration, configurations
from heedful.runs.directory import Run


def table_1(runs: Sequence[Run]) -> str:
    """Sizes and test scores; one row a corpus."""
    rows: dict[str, dict[str, Record]] = {}
    for record in records("jain-wallace-table-1", runs):
        rows.setdefault(corpus_name(record.run), {})[record.run.config.encoder] = record
    head = ["corpus", "score", "train, by class", "test, by class", "BiLSTM", "Average"]
    return table(head, ([corpus, *_scores(found)] for corpus, found in rows.items()), left=2)


def _scores(found: dict[str, Record]) -> Iterator[str]:
    either = next(iter(found.values()))
    yield either.cells["metric"]
    for split in ("train", "test"):
        paper = either.values[f"paper_{split}"]
        yield _beside(either.cells[split], None if paper == either.values[split] else paper)
    for encoder in ("bilstm", "average"):
        record = found.get(encoder)
        paper = None if record is None else record.values["paper_performance"]
        ours = "not run" if record is None else record.cells["performance"]
        yield _beside(ours, None if paper is None else f"{paper:.2f}")


def _beside(ours: str, paper: str | None) -> str:
    return ours if paper is None else f"{ours} ({paper})"


def table_2(runs: Sequence[Run]) -> str:
    """Tau of attention with gradient and leave-one-out: mean±standard deviation, share with p ≤ 0.05."""
    rows: dict[tuple[str, str], dict[tuple[str, str], Record]] = {}
    for record in records("jain-wallace-table-2", runs):
        if record.values["paper_tau"] is not None:
            row = rows.setdefault((corpus_name(record.run), record.cells["decided"]), {})
            row[record.run.config.encoder, record.values["importance"]] = record
    kinds = (("bilstm", "gradient"), ("average", "gradient"), ("bilstm", "leave-one-out"))
    head = ["corpus", "decided"]
    head += [f"{ENCODERS[encoder]}, {measure}{side}" for encoder, measure in kinds for side in ("", ": paper")]
    return table(head, ([*row, *_taus(found, kinds)] for row, found in rows.items()), left=2)


def _taus(found: dict[tuple[str, str], Record], kinds: Sequence[tuple[str, str]]) -> Iterator[str]:
    for kind in kinds:
        if kind not in found:
            yield from ("not run", "")
            continue
        values = found[kind].values
        yield f"**{values['tau']:.2f}**±{values['tau_std']:.2f}, {points(values['significant'])}"
        yield f"{values['paper_tau']:.2f}±{values['paper_tau_std']:.2f}, {points(values['paper_significant'])}"


def ordering(runs: Sequence[Run]) -> str:
    """Whether attention agrees better with the gradient in Average than in BiLSTM, corpus by corpus."""
    found: dict[str, dict[str, Configuration]] = {}
    for each in configurations(runs):
        found.setdefault(corpus_name(each.runs[0]), {})[each.config.encoder] = each
    rows = []
    for corpus, pair in found.items():
        told = agrees_more(pair["average"], pair["bilstm"]) if len(pair) == 2 else None
        if told is not None:
            idle = [ENCODERS[name] for name, each in pair.items() if each.learned is None]
            holds = {True: "yes", False: "**no**", None: "cannot be told"}[told.holds]
            note = f" ({', '.join(idle)}: no better than the most frequent class)" if idle else ""
            interval = f"{told.value:+.2f} [{told.low:+.2f}, {told.high:+.2f}]"
            rows.append([corpus, holds + note, str(len(pair["average"].runs)), interval])
    return table(["corpus", "Average agrees better", "seeds", "tau of Average minus that of BiLSTM"], rows, left=2)
