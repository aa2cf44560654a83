"""Labels of the data as classes of the model: by name or by index, all of a column the same way."""

from collections.abc import Sequence

import polars as pl

from heedful.errors import BadInput

MANY = 12  # classes that a message lists


def label_indices(frame: pl.LazyFrame, classes: Sequence[str], names: Sequence[str] = ()) -> dict[str, int]:
    """Which class each value of the column `label` means; `where` tells the rows.

    If every value is the name of a class, values are names; otherwise all must be indices. `names` are those that the
    data itself gives to its indices.
    """
    first = frame.group_by("label", maintain_order=True).agg(pl.col("where").first()).collect()
    places: dict[str, str] = dict(zip(first["label"], first["where"], strict=True))
    known = {name: index for index, name in enumerate(classes)}
    if names and set(names) <= known.keys() and all(_index(value, len(names)) is not None for value in places):
        return {value: known[names[int(value)]] for value in places}
    if places.keys() <= known.keys():
        return {value: known[value] for value in places}
    indices = {value: _index(value, len(known)) for value in places}
    found = {value: index for value, index in indices.items() if index is not None}
    if len(found) == len(places):
        return found
    named = places.keys() & known.keys()
    strange = next(value for value in places if value not in (known if named else found))
    raise BadInput(
        f"{places[strange]}: label '{strange}' is no class of the model; it knows {_listed(known)}: give their names "
        "or their indices, the same way in all rows"
    )


def _index(value: str, count: int) -> int | None:
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 and int(value) < count else None


def _listed(known: dict[str, int]) -> str:
    told = [f"{index} {name}" for name, index in list(known.items())[:MANY]]
    return ", ".join(told) + (f" and {len(known) - MANY} more" if len(known) > MANY else "")
