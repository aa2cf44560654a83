"""Columns that many tables have."""

from heedful.experiments import Estimate
from heedful.report.tables.table import Column, Kind, Value

CORPUS = Column("corpus", "corpus", meaning="The corpus; (subset): a part of the official data.")
MODEL = Column("model", "model", meaning="Kind, encoder and attention; what else is needed to tell runs apart.")


def number(key: str, title: str, meaning: str) -> Column:
    """How many."""
    return Column(key, title, "count", meaning=meaning)


def estimate(
    key: str, title: str, meaning: str, *, kind: Kind = "figure", digits: int = 2, std: bool = False
) -> tuple[Column, ...]:
    """A mean, its standard deviation if asked for, and the ends of its interval."""
    parts = ((("std", "standard deviation"),) if std else ()) + (("low", "from"), ("high", "to"))
    return (
        Column(key, title, kind, digits, meaning),
        *(
            Column(f"{key}_{part}", f"{title}, {name}", kind, digits, f"{_PARTS[part]}: {meaning}", part=part, of=key)  # type: ignore[arg-type]
            for part, name in parts
        ),
    )


def share(key: str, title: str, meaning: str) -> tuple[Column, ...]:
    """A share of instances and the ends of its interval."""
    return estimate(key, title, meaning, kind="percent", digits=1)


def published(key: str, meaning: str, *, kind: Kind = "figure", digits: int = 2) -> Column:
    """The figure of the paper that stands beside ours, under `paper_` and the key of ours."""
    return Column(f"paper_{key}", "in the paper", kind, digits, meaning, published=True, beside=key)


def told(key: str, found: Estimate, *, std: bool = False) -> dict[str, Value]:
    """The cells of an estimate."""
    spread = {f"{key}_std": found.std} if std else {}
    return {key: found.mean, **spread, f"{key}_low": found.low, f"{key}_high": found.high}


_PARTS = {"std": "Standard deviation over instances", "low": "Lower end, 95 %", "high": "Upper end, 95 %"}
