"""Does attention rank words as measures of importance do? (Jain & Wallace 2019, section 4.1)"""

from itertools import combinations

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments.experiment import Experiment, Headline, bounded, check_count, instance_frame
from heedful.experiments.views import decisions_of
from heedful.list_columns import ragged_column
from heedful.ragged import Indices, Ragged
from heedful.rank_correlation import kendall, top_distance


@bounded
def correlation(evidence: Evidence, importance: pl.DataFrame, *, top: int = 10) -> pl.DataFrame:
    """One row an instance; for each two of `attention` and the measures in `importance` (see `measure_values`; without
    signs), Kendall's `tau_<one>_<other>`, its p-value `p_<one>_<other>`, and `top_<one>_<other>`, the distance of the
    lists of the `top` items (0 the same, 1 opposite). Null with fewer than two items, or if one of them is constant."""
    check_count("top", top, least=1)
    decided = decisions_of(evidence)
    measures = measure_values(evidence, importance, decided)
    vectors = {"attention": evidence.weights}
    vectors |= {name: values.like(np.abs(values.values)) for name, values in measures.items()}
    columns: dict[str, pl.Series] = {}
    for (one, first), (other, second) in combinations(vectors.items(), 2):
        tau, p_value = kendall(first, second)
        figures = {"tau": tau, "p": p_value, "top": top_distance(first, second, top=top)}
        columns |= {f"{name}_{one}_{other}": pl.Series(values).fill_nan(None) for name, values in figures.items()}
    return instance_frame(evidence.ids, decided, **columns)


CORRELATION = Experiment(
    name="correlation",
    function=correlation,
    question="Does attention rank words as gradients and leave-one-out do?",
    headline=Headline(
        pl.col("tau_attention_gradient"), "Kendall's tau of attention and gradients is {:.3f} on average"
    ),
    needs=("importance",),
    options=lambda settings: {"top": settings.options.top or usual_top(settings.mean_items())},
)


def usual_top(mean_items: float) -> int:
    """A tenth of a text, ten items at least, as in the released code."""
    return max(10, int(0.1 * mean_items))


def measure_values(evidence: Evidence, importance: pl.DataFrame, decided: Indices) -> dict[str, Ragged]:
    """The values (N,) of each measure in a frame with one row an instance and measure (see docs/formats.md); a measure
    with one row for each output is taken at the decided one."""
    missing = [name for name in ("id", "measure", "output", "values") if name not in importance.columns]
    if missing:
        raise BadInput(f"importance has no column '{missing[0]}'; it needs id, measure, output and values")
    if "attention" in importance["measure"]:
        raise BadInput("importance has a measure 'attention', which names the model's own weights; rename it")
    outputs = np.zeros(len(evidence)) if evidence.outputs == 1 else decided
    kinds = {"id": pl.String, "decided": pl.Int32}
    wanted = pl.DataFrame({"id": list(evidence.ids), "decided": outputs}, schema_overrides=kinds)
    own = wanted.join(importance, on="id", how="left", maintain_order="left").filter(
        pl.col("output").is_null() | (pl.col("output") == pl.col("decided"))
    )
    return {str(name): _aligned(evidence, own, str(name)) for name in importance["measure"].unique(maintain_order=True)}


def _aligned(evidence: Evidence, importance: pl.DataFrame, measure: str) -> Ragged:
    """One measure's values."""
    rows = importance.filter(pl.col("measure") == measure)
    if rows["id"].to_list() != list(evidence.ids):
        lost = set(evidence.ids) - set(rows["id"].to_list())
        problem = "has more than one row for an instance" if not lost else f"has no row for instance '{min(lost)}'"
        raise BadInput(f"importance, measure '{measure}', {problem}; give one row an instance and measure")
    values = ragged_column(rows, "values", "doubles", f"importance, measure '{measure}'")
    off = values.lengths != evidence.weights.lengths
    if off.any():
        raise BadInput(
            f"importance, measure '{measure}', instance '{evidence.ids[int(off.argmax())]}': "
            "the number of values is not that of its items; give one value an item"
        )
    if not np.isfinite(values.values).all():
        bad = int(values.row_of_value[~np.isfinite(values.values)][0])
        raise BadInput(f"importance, measure '{measure}', instance '{evidence.ids[bad]}': a value is NaN or infinite")
    return values
