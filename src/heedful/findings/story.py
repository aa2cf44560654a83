"""The story that a site tells of a run: the texts that show its answer best, each with another map, and how often what
they show is so."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import polars as pl

from heedful.files import scan_parquet
from heedful.findings.instance_table import columns_of, instance_rows
from heedful.runs.directory import STAGES, Run
from heedful.verdict.verdict import Verdict

TEXTS = 5  # that a reader can step through
CONFIDENT = 0.6  # what is nearly undecided says little
WORDS, SENTENCES = (5, 40), (3, 12)  # items of a text that is read at a glance

# adversarial: very different, with nearly the same output; unattended: nothing on the highlighted items
Other = Literal["adversarial", "unattended", "uniform"]


@dataclass(frozen=True)
class Told:
    """A text of the story, and the map that is set beside the model's own."""

    id: str
    index: int  # in the evidence
    other: Other | None  # None: no other map was tested
    items: list[int]  # that the map `unattended` does not attend to
    decision: int | None  # under the other map; None: unknown
    moved: float | None  # by which the other map moves the output (TVD; of `unattended`, the fall of the decision's
    # probability, mean over the sets of highlighted items); None: unknown


class Change(NamedTuple):
    """A way to change the weights, and in how many texts the decision stays as it is."""

    name: str
    kept: int
    n: int  # texts in which it is known
    column: str  # of instance_table: 0 where the decision stays


_CHANGES = {
    "top": "top_flips",
    "uniform": "uniform_changed",
    "shuffled": "permuted_changed",
    "any": "attention_matters",
}
_NEEDED = ("items", "decision", "wrong", "confidence", "jsd", "adversary_tvd", "uniform_tvd", "uniform_changed")


def story(run: Run, verdict: Verdict) -> dict[str, Any]:
    """Plain values: `texts` (`Told`, the most striking one first) and `changes` (`Change`)."""
    return {
        "texts": [asdict(told) for told in texts(run, verdict)],
        "changes": [change._asdict() for change in changes(run)],
    }


def texts(run: Run, verdict: Verdict) -> list[Told]:
    """The texts that show the answer best: those of a readable length, decided correctly and with confidence, whose own
    answer is the model's; of these, if attention is faithful, those whose output falls most without the attention on
    the highlighted items; otherwise those in which the other map is most different, or changes the output least."""
    rows = _rows(run)
    other, score = _other(rows, verdict.answer)
    own = verdict.table.filter(pl.col("answer") == verdict.answer).select("id", own=pl.lit(True)).collect()
    least, most = SENTENCES if run.config.hierarchical else WORDS
    order = (
        rows.join(own, on="id", how="left", maintain_order="left")
        .with_columns(
            several=pl.col("items") > 1,
            known=score.is_not_null(),
            readable=pl.col("items").is_between(least, most),
            fit=~pl.col("wrong").cast(pl.Boolean).fill_null(value=False) & (pl.col("confidence") >= CONFIDENT),
            own=pl.col("own").fill_null(value=False),
            score=score,
        )
        .sort(
            *("several", "known", "readable", "fit", "own", "score", "id"),
            descending=[True, True, True, True, True, True, False],
            nulls_last=True,
        )
        .head(TEXTS)
    )
    return [_told(run, row, other) for row in order.iter_rows(named=True)]


def changes(run: Run) -> list[Change]:
    """How often the decision stays under other weights, as far as it was tested."""
    there = {column.name for column in columns_of(run)}
    found = []
    rows = instance_rows(run, _CHANGES.values())
    for name, column in _CHANGES.items():
        values = rows[column].cast(pl.Float64).drop_nulls().drop_nans() if column in there else pl.Series()
        if len(values):
            found.append(Change(name, int((values == 0).sum()), len(values), column))
    return found


def _rows(run: Run) -> pl.DataFrame:
    """What is known of each text, null where undefined; `fall` and `highlighted` are those of the highlighted items."""
    rows = instance_rows(run, _NEEDED).with_row_index("index")
    rows = rows.with_columns(pl.lit(None, pl.Float64).alias(name) for name in _NEEDED if name not in rows.columns)
    known = pl.DataFrame(schema={"id": pl.String, "fall": pl.Float64, "highlighted": pl.Int32})
    if run.done("highlights"):
        frame = scan_parquet(run.folder / STAGES["highlights"].files[0])
        if {"weights_attention", "highlighted"} <= set(frame.collect_schema().names()):
            largest = pl.col("highlighted").list.max().cast(pl.Int32)
            known = frame.select("id", fall=pl.col("weights_attention"), highlighted=largest).collect()
    rows = rows.join(known, on="id", how="left", maintain_order="left")
    return rows.with_columns(pl.selectors.float().fill_nan(None))


def _other(rows: pl.DataFrame, answer: str) -> tuple[Other | None, pl.Expr]:
    """Which other map is set beside the model's own, and how well a text shows it."""
    known = {name for name in ("jsd", "fall", "uniform_tvd") if rows[name].is_not_null().any()}
    if answer == "yes" and "fall" in known:
        return "unattended", pl.col("fall")
    if answer == "yes" and "uniform_tvd" in known:
        return "uniform", pl.col("uniform_tvd")
    if "jsd" in known:
        return "adversarial", pl.col("jsd")
    if "uniform_tvd" in known:
        return "uniform", -pl.col("uniform_tvd")
    return None, pl.lit(None, pl.Float64)


def _told(run: Run, row: dict[str, Any], other: Other | None) -> Told:
    told = Told(row["id"], row["index"], None, [], None, None)
    if row["items"] < 2 or not row["known"]:
        return told
    match other:
        case "adversarial":
            decision = _value(run, STAGES["adversary"].files[0], row["id"], "adversary_decision")
            return replace(told, other=other, decision=decision, moved=row["adversary_tvd"])
        case "uniform":
            kept = row["uniform_changed"] is not None and not row["uniform_changed"]
            return replace(told, other=other, decision=row["decision"] if kept else None, moved=row["uniform_tvd"])
        case "unattended":
            weights = _value(run, "evidence.parquet", row["id"], "weights")
            items = sorted(range(len(weights)), key=lambda item: (-weights[item], item))[: row["highlighted"]]
            return replace(told, other=other, items=sorted(items), moved=row["fall"])
        case _:
            return told


def _value(run: Run, file: str, id: str, column: str) -> Any:
    """What a file of the run says of a text; None if it does not know."""
    frame = scan_parquet(run.folder / file)
    if column not in frame.collect_schema().names():
        return None
    found = frame.filter(pl.col("id") == id).select(column).collect()[column].to_list()
    return found[0] if found else None
