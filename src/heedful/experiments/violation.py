"""Does the top-attended item argue for the decision, as a heat-map suggests?"""

import numpy as np
import polars as pl

from heedful.evidence import Evidence
from heedful.experiments.experiment import Experiment, Headline, bounded, instance_frame
from heedful.experiments.views import view_of


@bounded
def violation(evidence: Evidence) -> pl.DataFrame:
    """One row an instance: `violates`, whether the most attended item (the first one on ties) would decide for another
    class if it had all the attention; `margin`, by how much it argues for the decision against its strongest rival
    (null where there is no rival)."""
    view = view_of(evidence)
    alone = view.decode_single(view.weights.argmax())  # (n, K)
    own = np.take_along_axis(alone.logits, view.decided[:, None], axis=1)  # (n, 1)
    rivals = np.arange(view.classes) != view.decided[:, None]
    margin = pl.Series(np.where(rivals, own - alone.logits, np.inf).min(axis=1))
    defined = pl.select(pl.when(margin.is_finite()).then(margin)).to_series()
    return instance_frame(evidence.ids, view.decided, violates=alone.decided != view.decided, margin=defined)


VIOLATION = Experiment(
    name="violation",
    function=violation,
    question="Would the top-attended word alone decide for another class?",
    headline=Headline(pl.col("violates"), "The top-attended {item} argues against the decision in {:.1%} of texts"),
)
