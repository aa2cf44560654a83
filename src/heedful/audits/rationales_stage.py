"""The stage `rationales`: the characters that people marked in each text, and which items of a model these are."""

import numpy as np
import polars as pl

from heedful.audits.directory import Audit
from heedful.audits.given_importance import Misfit
from heedful.audits.plan import RATIONALES
from heedful.corpora.rationales import Rationales, marked_spans, unknown_id
from heedful.errors import BadInput
from heedful.files import rows_of, scan_parquet, write_parquet
from heedful.ragged import Indices, Ragged
from heedful.text.alignment import items_in

_SPANS = pl.List(pl.List(pl.Int64))


def write_rationales(audit: Audit, rationales: Rationales) -> str:
    """Write rationales.parquet: `id` and `spans`, the characters of the text that people marked. Rationales that do not
    fit the texts are refused; without a model, a text is its items separated by spaces."""
    known = _texts(audit, None)
    place = {name: row for row, name in enumerate(known["id"])}
    found: dict[str, list[tuple[int, int]]] = {}
    try:
        for each in rationales.rows():
            if each.id not in place:
                raise unknown_id(each)
            if each.id in found:
                raise BadInput(f"{each.where}: a second rationale of text '{each.id}'; give one per text")
            spans = marked_spans(each, known["text"][place[each.id]])
            if spans is not None:
                found[each.id] = spans
        if not found:
            raise BadInput(f"{rationales.name}: it has no rationale; leave it out")
    except BadInput as error:
        raise Misfit(str(error)) from error
    column = pl.Series("spans", [[list(span) for span in each] for each in found.values()], dtype=_SPANS)
    frame = pl.DataFrame({"id": pl.Series(list(found), dtype=pl.String), "spans": column})
    write_parquet(audit.folder / f"{RATIONALES}.parquet", frame, {"audit": audit.folder.name})
    return f"of {len(found):,} texts"


class Marked:
    """Which items people marked, from rationales.parquet."""

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        table = scan_parquet(audit.folder / f"{RATIONALES}.parquet").collect()
        self.spans = dict(zip(table["id"], table["spans"].to_list(), strict=True))

    def __call__(self, rows: Indices, items: Ragged) -> Ragged:
        """Flags (N,) for ascending rows of the evidence and their items; none where there is no rationale, or too few
        items are found in the text."""
        flags = items.like(np.zeros(len(items.values), dtype=np.bool_))
        for row, (name, text) in enumerate(_texts(self.audit, rows).iter_rows()):
            if name in self.spans:
                inside = items_in(text, items[row].tolist(), self.spans[name])
                if inside is not None:
                    flags[row][:] = inside
        return flags


def _texts(audit: Audit, rows: Indices | None) -> pl.DataFrame:
    """`id` and `text` of ascending rows, or (None) of all."""
    if audit.done("texts"):
        table = scan_parquet(audit.folder / "texts.parquet").select("id", "text")
    else:
        table = scan_parquet(audit.folder / "evidence.parquet").select("id", text=pl.col("tokens").list.join(" "))
    return table.collect() if rows is None else rows_of(table, rows)
