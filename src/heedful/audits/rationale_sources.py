"""The rationales of an audit: a file, a column of its data, a frame, or a list with one entry per text."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from heedful.audits.execution import Inputs
from heedful.audits.plan import AuditOptions, RationaleFacts
from heedful.audits.text_sources import Source
from heedful.corpora.rationales import (
    COLUMNS,
    ID,
    TOKENS,
    Rationale,
    Rationales,
    column_rationales,
    content_hash,
    file_rationales,
    list_rationales,
)
from heedful.errors import BadInput, NotFound


def with_rationales(
    options: AuditOptions, inputs: Inputs, rationales: Any, *, id: str | None
) -> tuple[AuditOptions, Inputs]:
    """Options and inputs with these rationales, None: as they are; `id` names the data's column of ids."""
    if rationales is None:
        return options, inputs
    found = _found(rationales, inputs.source, id)
    facts = RationaleFacts(name=found.name, fingerprint=found.fingerprint)
    return options.model_copy(update={"rationales": facts}), replace(inputs, rationales=found)


def _found(rationales: Any, source: Source | None, id: str | None) -> Rationales:
    if isinstance(rationales, Rationales):
        return rationales
    if isinstance(rationales, pl.DataFrame):
        return _frame(rationales)
    if not isinstance(rationales, Path | str):
        if source is None:
            raise BadInput("rationales: a list goes with texts; for evidence, give a file or a frame")
        return list_rationales(rationales, [row.id for row in source.rows()])
    path, name = Path(rationales), str(rationales)
    if path.is_file():
        return file_rationales(path)
    if source is not None and source.cells is not None and name in source.columns:
        whole = source.fingerprint if Path(source.name).is_file() else ""
        return column_rationales(source.name, name, source.cells, columns=source.columns, id=id, fingerprint=whole)
    there = f" or column of {source.name}, which has: {', '.join(source.columns)}" if source and source.columns else ""
    raise NotFound(f"rationales '{name}': no such file{there}; give a file with the columns id and spans or rationale")


def _frame(frame: pl.DataFrame) -> Rationales:
    marked: Sequence[str] = [name for name in COLUMNS if name in frame.columns]
    if ID not in frame.columns or len(marked) != 1:
        raise BadInput("rationales need the column 'id' and either 'spans' or 'rationale'")
    columns = [ID, *marked, *([TOKENS] if TOKENS in frame.columns else [])]

    def rows() -> Any:
        for number, (name, *rest) in enumerate(frame.select(columns).iter_rows(), start=1):
            yield Rationale(f"rationales, row {number}", str(name), *rest)

    return Rationales("rationales", content_hash(rows()), rows)
