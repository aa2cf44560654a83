"""Would the same weights in another order have changed the output?"""

from collections.abc import Iterable

from heedful.experiments import estimates
from heedful.report.tables.columns import estimate, number, share, told
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source


def _rows(source: Source) -> Iterable[Cells]:
    frame = source.results("permutation")
    found = estimates(frame.select("median", "changed", "can_change"), seed=SEED, draws=DRAWS)
    yield {
        "n": len(frame),
        "permutations": source.run.config.experiment_options.permutations,
        **told("median", found["median"], std=True),
        **told("changed", found["changed"]),
        **told("can_change", found["can_change"]),
    }


PERMUTATION = Layout(
    name="permutation",
    title="Permutation: the same weights in another order",
    caption=(
        "Jain & Wallace 2019, section 4.2.1: how far the output moves (TVD, 0 to 1) when the weights are shuffled; "
        "the median over the permutations of an instance, its mean over instances. Whether some order of all changes "
        "the decision is exact, and known where the decoder is affine."
    ),
    columns=(
        number("n", "n", "Test instances."),
        number("permutations", "orders", "Random permutations of an instance."),
        *estimate("median", "median TVD", "Mean over instances of the median TVD.", digits=3, std=True),
        *share("changed", "orders that change it", "Mean share of the random orders that change the decision."),
        *share("can_change", "some order does", "Share of instances whose decision some order of the weights changes."),
    ),
    rows=_rows,
    needs=("permutation",),
)
