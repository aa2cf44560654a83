"""From one row an instance to one row a quantity: means by decided class and over all, as in the papers' tables."""

import polars as pl

from heedful.measures import summarise

SIGNIFICANT = 0.05


def summary(frame: pl.DataFrame, *, by_decision: bool = True) -> pl.DataFrame:
    """One row for each figure or truth value of an experiment's frame and each group: `quantity`, `decision` (null:
    all instances), `mean`, `std` (of the population), `n` (instances in which it is defined), `undefined`.

    Without `by_decision`, of all instances only: where classes are many, each has few. P-values are summed up as the
    share that is significant, p <= 0.05, under the name `significant_...`.
    """
    quantities = frame.select(
        (pl.col(name) <= SIGNIFICANT).alias(f"significant_{name[2:]}") if name.startswith("p_") else pl.col(name)
        for name, kind in frame.schema.items()
        if kind.is_float() or kind == pl.Boolean
    )
    by_decision = by_decision and "decision" in frame.columns
    groups = [None, *sorted(frame["decision"].unique().to_list())] if by_decision else [None]
    rows = []
    for quantity in quantities.columns:
        for group in groups:
            values = quantities[quantity] if group is None else quantities[quantity].filter(frame["decision"] == group)
            figures = summarise(values.cast(pl.Float64).fill_null(float("nan")))
            rows.append((quantity, group, figures.mean, figures.std, figures.n, figures.undefined))
    kinds = {"quantity": pl.String, "decision": pl.Int32, "mean": pl.Float64, "std": pl.Float64}
    return pl.DataFrame(rows, schema={**kinds, "n": pl.Int64, "undefined": pl.Int64}, orient="row")
