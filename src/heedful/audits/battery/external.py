"""Importance that somebody else measured, raced on equal terms: one more ranking for each method."""

import numpy as np
import polars as pl

from heedful.audits.battery.rankings import OWN, Given
from heedful.errors import BadInput
from heedful.nested import ragged
from heedful.ragged import Ragged


def external(frame: pl.DataFrame, ids: list[str], items: Ragged, *, where: str = "importance") -> Given:
    """Values (N,) of all items by each method, from columns `id`, `method`, `values` and, if given, `tokens`: the
    items' names, checked. A text that a method says nothing of has NaN.

    Larger values come first: give signed values, those that speak for the decision positive, or sizes.
    """
    _check_columns(frame, where)
    found: dict[str, Ragged] = {}
    rows = {name: row for row, name in enumerate(ids)}
    for (method,), some in frame.group_by("method", maintain_order=True):
        name = str(method)
        if name in OWN:
            raise BadInput(f"{where}: a method is named '{name}', as one of heedful's own rankings is; rename it")
        if some["id"].n_unique() < len(some):
            raise BadInput(f"{where}: method '{name}' has several rows of one id; give one row an id and method")
        known = some.filter(pl.col("id").is_in(list(rows)))
        given = ragged(known, "values", "doubles", where)
        values = np.full(len(items.values), np.nan)
        tokens = ragged(known, "tokens", "text", where) if "tokens" in known.columns else None
        for place, key in enumerate(known["id"]):
            own, row = items[rows[key]], rows[key]
            what = f"{where}, instance '{key}', method '{name}'"
            if len(given[place]) != len(own):
                raise BadInput(f"{what}: {len(given[place])} values for {len(own)} items; give one an item")
            if tokens is not None and tokens[place].tolist() != own.tolist():
                raise BadInput(f"{what}: its tokens are not the items of the text; give values of the same items")
            if not np.isfinite(given[place]).all():
                raise BadInput(f"{what}: values must be finite numbers")
            values[items.offsets[row] : items.offsets[row + 1]] = given[place]
        found[name] = items.like(values)
    return found


def _check_columns(frame: pl.DataFrame, where: str) -> None:
    for name in ("id", "method", "values"):
        if name not in frame.columns:
            raise BadInput(f"{where}: there is no column '{name}'; give the columns id, method, values (and tokens)")
        if frame[name].null_count():
            raise BadInput(f"{where}: column '{name}' has nulls; leave such rows out")
