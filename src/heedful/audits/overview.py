"""An audit in words and plain values, for the terminal, the card, notebooks and the site."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import polars as pl

from heedful.audits.plan import PLAUSIBILITY
from heedful.evidence import Evidence, read_metadata
from heedful.experiments.plausibility_summary import Plausibility, plausibility_summary
from heedful.files import scan_parquet
from heedful.verdict.signals import GAIN
from heedful.workspace.environment import mixture, performers

if TYPE_CHECKING:
    from heedful.audits.directory import Audit

UNKNOWN = 0.5  # share of unknown items that a reader is warned of
_RANK = {"yes": 0, "with caution": 1, "not determined": 2, "no": 3}


class Cost(NamedTuple):
    """The cost of a stage, expected or measured."""

    stage: str
    texts: int
    readings: int  # forward passes over one text
    replays: int  # forward passes over one text that start from kept states: the audited layer, or a prefix
    seconds: float


class Word(NamedTuple):
    """A word and the summed weight of its items."""

    text: str
    weight: float


class Example(NamedTuple):
    """A text with its map and its own verdict."""

    title: str
    id: str
    answer: str
    decision: str
    label: str | None
    words: list[Word]
    reasons: list[str]


def facts(audit: "Audit") -> list[tuple[str, str]]:
    """Model and data, line by line."""
    options, manifest = audit.options, audit.manifest
    model, data, metrics = options.model, manifest["data"], audit.metrics
    kinds = {"evidence": "evidence", "huggingface": "transformers", "run": "heedful run"}
    about = kinds.get(options.route, "torch module")
    lines = [("model", f"{model.name} ({about})"), ("map", str(model.about.get("map", "attention")))]
    if "items" in model.about:
        lines.append(("items", str(model.about["items"])))
    if model.classes:
        lines.append(("classes", ", ".join(model.classes[:6]) + (" …" if len(model.classes) > 6 else "")))
    lines += [("data", options.data.name), ("texts", f"{data['texts']:,}")]
    lines += [(name, f"{data[name]:,} texts") for name in ("skipped", "truncated") if data[name]]
    contract = manifest.get("contract", {})
    if "precision" in contract:  # not in older audits, nor in those of evidence
        lines.append(("computed", f"in {contract['precision']} on {contract['device']}"))
    lines.append(("accuracy", f"{metrics['accuracy']:.3f}" if metrics else "unknown (no labels)"))
    if options.route != "evidence" and audit.done("highlights"):
        tested = manifest["stages"]["highlights"].get("instances", 0)
        if tested < data["texts"]:
            lines.append(("sample", f"{tested:,} texts for the tests that re-run the model"))
    return [*lines, ("seed", str(options.seed)), ("heedful", ", ".join(performers(manifest)))]


def caveats(audit: "Audit") -> list[str]:
    """What a reader of the verdict must know."""
    lines = [f"{limit[0].upper()}{limit[1:]}." for limit in audit.verdict.limits]
    if audit.outdated:
        lines.append("An earlier version performed these tests; what it said of them stands in verdict.json.")
    outside = _outside_text(audit)
    if outside is not None and outside >= 0.01:
        lines.append(
            f"{100 * outside:.0f} % of the attention is on tokens outside the text (such as [CLS], [SEP]); the map "
            "shows how the rest is distributed."
        )
    contract = audit.manifest.get("contract", {})
    if contract.get("precision") in ("bfloat16", "float16"):
        lines.append(
            f"The model computes in {contract['precision']}: probabilities that differ by less than "
            f"{contract['rounding']:.2g} count as equal. Audit with --float32 to resolve smaller changes."
        )
    unknown = audit.manifest.get("unknown", 0)  # not in older audits, nor in those of evidence
    if unknown >= UNKNOWN:
        lines.append(
            f"{100 * unknown:.0f} % of the items are unknown words to the model (such as [UNK]): it hardly reads these "
            "texts. Check that they are in the language and form that it was trained on."
        )
    truncated = audit.manifest["data"]["truncated"]
    if truncated:
        lines.append(f"{truncated:,} texts were longer than the model's limit and were cut at the end.")
    mixed = mixture(audit.manifest)
    if mixed:
        lines.append(f"Its stages were performed by different versions of heedful ({mixed}).")
    lines.append("The verdict holds for this model, this map and texts like these; for others, audit again.")
    lines.append("Thresholds were calibrated on trained models whose attention is known to be faithful or not.")
    return lines


def advice(audit: "Audit") -> list[str]:
    """What to do next."""
    verdict, steps = audit.verdict, []
    if verdict.better is not None:
        steps.append(f"show {verdict.better.method} instead: its top words matter more")
    if verdict.answer == "no":
        steps.append("do not show this map to people as the reason for a decision")
        if audit.options.route == "huggingface":
            steps.append("try another map: --map norm, --map rollout, or a layer and head")
    elif verdict.answer == "with caution":
        steps.append("show the map only for texts whose own answer is yes (instances.csv)")
    elif audit.options.budget is not None and not any(verdict.answers.values()):
        steps.append("give a larger --budget: no text was tested")
    elif verdict.answer == "not determined" and verdict.level == "attention":
        alone = audit.options.route == "evidence"
        why = "from an evidence file alone, no words can be deleted from the texts"
        steps.append(f"audit the model itself: {why}" if alone else "audit the model again, with this version")
    elif verdict.answer == "not determined" and verdict.more is not None:
        steps.append(f"give about {verdict.more:,} more texts, or a larger --sample or --budget")
    return steps


def plausibility_of(audit: "Audit") -> Plausibility | None:
    """Attention against the words that people marked, beside the verdict; None where no rationales were given."""
    if not audit.done(PLAUSIBILITY):
        return None
    return plausibility_summary(audit.results(PLAUSIBILITY), seed=audit.options.seed)


def costs(audit: "Audit") -> list[Cost]:
    """The cost of each stage, summed over interrupted sessions."""
    return [
        Cost(name, cost.get("instances", 0), cost.get("readings", 0), cost.get("replays", 0), cost["seconds"])
        for name, cost in audit.manifest["stages"].items()
    ]


def examples(audit: "Audit") -> list[Example]:
    """Three texts: the most trustworthy map by its own verdict, a middling one, and the least trustworthy."""
    gain = f"attention{GAIN}"
    found = scan_parquet(audit.folder / "signals.parquet")
    gains = found.select("id", gain) if gain in found.collect_schema() else found.select("id", pl.lit(None).alias(gain))
    answers = audit.verdict.table.join(gains, on="id", how="left").collect()
    order = answers.with_columns(rank=pl.col("answer").replace_strict(_RANK, return_dtype=pl.Int64)).sort(
        "rank",
        pl.col("reasons").list.len(),
        gain,
        descending=[False, False, True],
        nulls_last=True,
        maintain_order=True,
    )
    places = {"most trustworthy": 0, "middling": len(order) // 2, "least trustworthy": len(order) - 1}
    if len(order) < len(places):
        places = {"the only text" if len(order) == 1 else f"text {row + 1}": row for row in range(len(order))}
    return [_example(audit, title, order.row(place, named=True)) for title, place in places.items()]


def as_words(text: str | None, items: Sequence[str], weights: Sequence[float]) -> list[Word]:
    """Join items that touch in the text and meet in letters or digits into words. If the text is unknown, or an item
    is not found in it, every item is a word.

    >>> [word.text for word in as_words("unbelievable!", ["un", "believ", "able", "!"], [0.1, 0.2, 0.3, 0.4])]
    ['unbelievable', '!']
    """
    spans = None if text is None else _spans(text, items)
    words: list[Word] = []
    end = -1
    for place, (item, weight) in enumerate(zip(items, weights, strict=True)):
        touches = bool(words) and spans is not None and spans[place][0] == end
        if touches and words[-1].text[-1:].isalnum() and item[:1].isalnum():
            words[-1] = Word(words[-1].text + item, words[-1].weight + weight)
        else:
            words.append(Word(item, weight))
        end = -1 if spans is None else spans[place][1]
    return words


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


def _outside_text(audit: "Audit") -> float | None:
    """Mean share of attention on tokens outside the text; None where it is unknown."""
    table = scan_parquet(audit.folder / "evidence.parquet")
    if "aside" not in table.collect_schema():
        return None
    return cast(float | None, table.select(pl.col("aside").mean()).collect().item())


def _spans(text: str, items: Sequence[str]) -> list[tuple[int, int]] | None:
    """Where each item stands in the text; None if one is not found. Tokenizers may change the case of a text."""
    plain = text.lower() if len(text.lower()) == len(text) else text
    spans, start = [], 0
    for item in items:
        found = plain.find(item.lower(), start)
        if found < 0:
            return None
        start = found + len(item)
        spans.append((found, start))
    return spans
