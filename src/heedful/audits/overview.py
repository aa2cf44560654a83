"""An audit in words and plain values, for whoever shows it: terminal, card, notebook, site."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from heedful.evidence import Evidence, read_metadata
from heedful.files import scan_parquet
from heedful.verdict.verdict import Criterion

if TYPE_CHECKING:
    from heedful.audits.directory import Audit


class Word(NamedTuple):
    """A word, and the weight of all its items."""

    text: str
    weight: float


def as_words(text: str | None, items: Sequence[str], weights: Sequence[float]) -> list[Word]:
    """Items that follow one another in the text without a space between them, as long as both are letters or digits,
    are one word. Where the text is not known, or an item is not in it, every item is a word.

    >>> [word.text for word in as_words("unbelievable!", ["un", "believ", "able", "!"], [0.1, 0.2, 0.3, 0.4])]
    ['unbelievable', '!']
    """
    spans = None if text is None else _spans(text, items)
    words: list[Word] = []
    end = -1
    for place, (item, weight) in enumerate(zip(items, weights, strict=True)):
        goes_on = bool(words) and spans is not None and spans[place][0] == end and _inside(words[-1].text, item)
        if goes_on:
            words[-1] = Word(words[-1].text + item, words[-1].weight + weight)
        else:
            words.append(Word(item, weight))
        end = -1 if spans is None else spans[place][1]
    return words


def _inside(before: str, item: str) -> bool:
    return before[-1:].isalnum() and item[:1].isalnum()


def _spans(text: str, items: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where each item stands; None if one is not found. Tokenizers may change case, but not the length of a text."""
    plain = text.lower() if len(text.lower()) == len(text) else text
    spans, start = [], 0
    for item in items:
        found = plain.find(item.lower(), start)
        if found < 0:
            return None
        start = found + len(item)
        spans.append((found, start))
    return spans


PERCENT = ("lead", "against", "race")  # criteria whose figures are shares
QUESTION = "May this attention be shown as an explanation?"
_TESTED = ("permuted_tvd", "attention_fall", "lead")  # known of a text that all tests were performed on
_RANK = {"yes": 0, "with caution": 1, "no": 2}


class Cost(NamedTuple):
    """What a stage took."""

    stage: str
    texts: int
    readings: int
    seconds: float


class Example(NamedTuple):
    """A text and its map."""

    title: str
    id: str
    answer: str
    decision: str
    label: str | None
    words: list[Word]
    reasons: list[str]


def figures(criterion: Criterion) -> tuple[str, str, str]:
    """The value, its interval, and what is asked, as text."""
    if criterion.value is None or criterion.low is None or criterion.high is None:
        return "undefined" if criterion.n else "not tested", "", _asked(criterion)
    low, high = (_shown(criterion, value) for value in (criterion.low, criterion.high))
    return _shown(criterion, criterion.value), f"{low} to {high}", _asked(criterion)


def facts(audit: "Audit") -> list[tuple[str, str]]:
    """Model and data, line by line."""
    options, manifest = audit.options, audit.manifest
    model, data, metrics = options.model, manifest["data"], audit.metrics
    about = {"evidence": "evidence", "huggingface": "transformers"}.get(options.route, "torch module")
    lines = [("model", f"{model.name} ({about})"), ("map", str(model.about.get("map", "attention")))]
    if "items" in model.about:
        lines.append(("items", str(model.about["items"])))
    if model.classes:
        lines.append(("classes", ", ".join(model.classes[:6]) + (" …" if len(model.classes) > 6 else "")))
    lines.append(("data", options.data.name))
    lines.append(("texts", f"{data['texts']:,}"))
    lines += [(name, f"{data[name]:,} texts") for name in ("skipped", "truncated") if data[name]]
    lines.append(("accuracy", f"{metrics['accuracy']:.3f}" if metrics else "not known: there are no labels"))
    if options.route != "evidence" and options.sample and options.sample < data["texts"]:
        lines.append(("sample", f"{options.sample:,} texts for the tests that read each one many times"))
    lines.append(("seed", str(options.seed)))
    lines.append(("heedful", str(manifest["heedful"])))
    return lines


def caveats(audit: "Audit") -> list[str]:
    """What must be said with the verdict."""
    told = [limit[0].upper() + limit[1:] + "." for limit in audit.verdict.limits]
    aside = _aside(audit)
    if aside is not None and aside >= 0.01:
        told.append(
            f"{100 * aside:.0f} % of the attention goes to tokens that are no part of the text (such as [CLS], [SEP]): "
            "the map shows how the rest is shared out."
        )
    truncated = audit.manifest["data"]["truncated"]
    if truncated:
        told.append(f"{truncated:,} texts were longer than the model reads and were cut at the end.")
    told.append("A verdict is about this model, this map and texts like these; for others, audit again.")
    told.append("The thresholds are calibrated on models whose attention is faithful, or not, by construction.")
    return told


def advice(audit: "Audit") -> list[str]:
    """What to do next."""
    verdict, steps = audit.verdict, []
    if verdict.better is not None:
        steps.append(f"show {verdict.better.method} instead: its first items matter more")
    if verdict.answer == "no":
        steps.append("do not show this map to people as the reason for a decision")
        if audit.options.route == "huggingface":
            steps.append("try another map: --map norm, --map rollout, or a layer and head")
    elif verdict.answer == "with caution" and verdict.level == "input":  # elsewhere no text's is ever yes
        steps.append("show the map only where its own text's verdict is yes (Audit.verdict.instances)")
    if any(criterion.outcome == "open" for criterion in verdict.criteria):
        steps.append("open criteria: give more texts, or a larger --sample")
    return steps


def costs(audit: "Audit") -> list[Cost]:
    """What each stage took, in all sessions."""
    return [
        Cost(name.replace("_", " "), cost.get("instances", 0), cost.get("readings", 0), cost["seconds"])
        for name, cost in audit.manifest["stages"].items()
    ]


def examples(audit: "Audit") -> list[Example]:
    """Three texts: that whose map is most to be trusted by its own verdict, a middle one, and the least."""
    rank = pl.col("answer").replace_strict(_RANK, return_dtype=pl.Int64)
    told = audit.signals.select("id", "lead", tested=pl.all_horizontal(pl.col(*_TESTED).is_not_null()))
    judged = audit.verdict.instances.join(told, on="id", how="left", maintain_order="left")
    tested = judged.filter(pl.col("tested"))
    order = (tested if len(tested) else judged).sort(
        rank, pl.col("reasons").list.len(), pl.col("lead"), descending=[False, False, True], nulls_last=True
    )
    places = {"most to be trusted": 0, "in the middle": len(order) // 2, "least to be trusted": len(order) - 1}
    if len(order) < len(places):
        places = {"the only text" if len(order) == 1 else f"text {row + 1}": row for row in range(len(order))}
    return [_example(audit, title, order.row(row, named=True)) for title, row in places.items()]


def _example(audit: "Audit", title: str, row: dict[str, object]) -> Example:
    path = audit.folder / "evidence.parquet"
    own = pl.col("id") == row["id"]
    evidence = Evidence.from_frame(scan_parquet(path).filter(own).collect(), read_metadata(path), str(path))
    text = None
    if audit.done("texts"):
        text = scan_parquet(audit.folder / "texts.parquet").filter(own).select("text").collect().item()
    names = evidence.classes or tuple(map(str, range(max(2, evidence.outputs))))
    label = None if evidence.labels is None or evidence.labels[0] < 0 else names[int(evidence.labels[0])]
    words = as_words(text, evidence.tokens.values.tolist(), evidence.weights.values.tolist())
    reasons = row["reasons"] if isinstance(row["reasons"], list) else []
    return Example(title, str(row["id"]), str(row["answer"]), names[int(evidence.decisions[0])], label, words, reasons)


def _aside(audit: "Audit") -> float | None:
    table = scan_parquet(audit.folder / "evidence.parquet")
    if "aside" not in table.collect_schema():
        return None
    mean: float | None = table.select(pl.col("aside").mean()).collect().item()
    return mean


def _asked(criterion: Criterion) -> str:
    return f"{'at least' if criterion.least else 'at most'} {_shown(criterion, criterion.threshold)}"


def _shown(criterion: Criterion, value: float) -> str:
    return f"{100 * value:.0f} %" if criterion.name in PERCENT else f"{value:.3f}"
