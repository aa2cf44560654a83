"""Items deleted from the text until the decision flips: the model reads what is left.

It needs the model, so its stage (runs/experiment_stages.py) performs it; here is what is known of it without one.
"""

import re

import polars as pl

from heedful.experiments.experiment import Experiment, Headline, check_frame, share_removed
from heedful.experiments.summary import estimates, interval_kinds

_RACE = re.compile("(delete|unknown|blank)_(.+)_comprehensiveness")
_ERASURE_MEANS = ("fraction_all", "comprehensiveness", "sufficiency")
ERASURE = Experiment(
    name="erasure",
    function=None,
    question="How many words must be deleted from the text before the decision flips?",
    headline=Headline(
        share_removed("delete_attention_fraction"),
        "Deleting {item}s from the text, top-attended first, flips the decision after {:.1%} of them (never: all)",
    ),
    needs=("model",),
    random=True,
    exact="no need: it re-runs the model, on a sample",
)


def erasure_scores(frame: pl.DataFrame, *, seed: int = 0, draws: int = 2000) -> pl.DataFrame:
    """From the frame of `erasure`, one row a `way` of erasing and a `ranking`, over the `n` instances of several items.

    `never`, how many decisions never change; means of `fraction_all`, the share of items erased until the decision
    changes (all, where it never does), `comprehensiveness` and `sufficiency`, with 95 % bootstrap intervals
    `<mean>_low`, `<mean>_high` (null without draws). `never` and `fraction_all` are null where items were not erased
    until the decision changes, as in an audit that measures only what its verdict rests on.
    """
    races = [found.groups() for found in map(_RACE.fullmatch, frame.columns) if found]
    check_frame(frame, "erasure", ["items", *([] if races else ["delete_attention_comprehensiveness"])])
    several = frame.filter(pl.col("items") > 1)
    quantities = {}
    until_flip = {(way, ranking): f"{way}_{ranking}_fraction" in frame.columns for way, ranking in races}
    for way, ranking in races:
        share = pl.col(f"{way}_{ranking}_fraction").fill_null(1.0) if until_flip[way, ranking] else pl.lit(None)
        quantities[f"{way} {ranking} fraction_all"] = share
        quantities |= {f"{way} {ranking} {mean}": pl.col(f"{way}_{ranking}_{mean}") for mean in _ERASURE_MEANS[1:]}
    found = estimates(several.select(**quantities), seed=seed, draws=draws)
    rows = []
    for way, ranking in races:
        never = several[f"{way}_{ranking}_count"].null_count() if until_flip[way, ranking] else None
        row: dict[str, object] = {"way": way, "ranking": ranking, "n": len(several), "never": never}
        for mean in _ERASURE_MEANS:
            row |= found[f"{way} {ranking} {mean}"].columns(mean)
        rows.append(row)
    return pl.DataFrame(rows, schema_overrides={"never": pl.Int64, **interval_kinds(_ERASURE_MEANS)})
