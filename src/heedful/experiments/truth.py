"""Is the attention on the items that really decide? For corpora that mark these."""

import polars as pl

from heedful.errors import BadInput
from heedful.evidence import Evidence
from heedful.experiments.experiment import Experiment, Headline, bounded, instance_frame
from heedful.experiments.view import normalised
from heedful.experiments.views import decisions_of


@bounded
def truth(evidence: Evidence) -> pl.DataFrame:
    """One row an instance: `mass`, the attention on deciding items; `share`, the share of items that decide (what
    uniform attention would put on them); `top`, whether the most attended item decides (the first one on ties). Null
    where no item is known to decide."""
    if evidence.truth is None:
        raise BadInput("this evidence has no column 'truth': which items decide is not known for this corpus")
    weights, deciding = normalised(evidence.weights), evidence.truth
    known = deciding.sum()  # (n,)
    mass = weights.like(weights.values * deciding.values).sum()
    figures = {"mass": mass, "share": known / weights.lengths, "top": deciding.values[weights.argmax()]}
    some = pl.Series(known > 0)
    defined = {name: pl.select(pl.when(some).then(pl.Series(values))).to_series() for name, values in figures.items()}
    return instance_frame(evidence.ids, decisions_of(evidence), **defined)


TRUTH = Experiment(
    name="truth",
    function=truth,
    question="Is the attention on the words that really decide?",
    headline=Headline(pl.col("mass"), "{:.1%} of the attention is on the {item}s that really decide"),
    needs=("truth",),
    exact="yes, where that is known",
)
