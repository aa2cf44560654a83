"""The highlighted words deleted, kept alone, swapped for those of other texts, and robbed of their attention.

It needs the model, so its stage (runs/experiment_stages.py) performs it with heedful.importance.highlights; here is
what is known of it without one.
"""

import polars as pl

from heedful.experiments.experiment import Experiment, Headline

HIGHLIGHTS = Experiment(
    name="highlights",
    function=None,
    question="Does the decision depend on the highlighted words, and on their weights?",
    headline=Headline(
        pl.col("delete_necessity_attention"),
        "Deleting the highlighted {item}s lowers the predicted class's probability by {:.2f}",
    ),
    needs=("model",),
    random=True,
    exact="no need: it re-runs the model, on a sample",
)
