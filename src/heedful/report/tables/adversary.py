"""How different attention may be with the same output, and how much of that the paper's search finds."""

from collections.abc import Iterable

from heedful.experiments import Estimate, adversary_scores
from heedful.report.tables.columns import estimate, number, share, told
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source
from heedful.report.tables.table import Column

_NOTHING = Estimate(None, None, None, None, 0, 0)


def _rows(source: Source) -> Iterable[Cells]:
    found, epsilon = source.results("adversary"), source.run.config.experiment_options.epsilon
    search = source.results("adversary_search") if source.run.done("adversary_search") else None
    scores = adversary_scores(found, search, epsilon=epsilon, seed=SEED, draws=DRAWS)
    yield {
        "epsilon": epsilon,
        "n": len(found),
        **told("jsd", scores["jsd"]),
        "upper": scores["upper"].mean,
        "certified": scores["certified"].mean,
        **{
            key: value
            for name in ("search_jsd", "within", "beaten", "missed")
            for key, value in told(name, scores.get(name, _NOTHING)).items()
        },
    }


ADVERSARY = Layout(
    name="adversary",
    title="Adversarial attention: how different with the same output",
    caption=(
        "Jain & Wallace 2019, section 4.2.2: the greatest Jensen-Shannon divergence (at most 0.69) of other attention "
        "from the model's while the output moves by epsilon at most (TVD). Ours is the proven optimum where it is "
        "certified, and otherwise the best found, below a bound that none exceeds. The paper's search is compared "
        "where it keeps to epsilon; the released code's selection (`--preset released`) does not always."
    ),
    columns=(
        Column("epsilon", "epsilon", "figure", 2, "How far the output may move."),
        number("n", "n", "Test instances."),
        *estimate("jsd", "JSD", "Mean divergence of the attention found from the model's.", digits=3),
        Column("upper", "bound", "figure", 3, "Mean of what no attention exceeds."),
        Column("certified", "certified", "percent", 0, "Share of instances in which what was found is proven optimal."),
        *estimate("search_jsd", "search", "Mean divergence that the paper's search finds.", digits=3),
        *share("within", "within", "Share of instances in which the search keeps to epsilon."),
        *share("beaten", "beaten", "Share of these in which ours is further away."),
        *estimate("missed", "missed", "Mean divergence that the search misses in these.", digits=3),
    ),
    rows=_rows,
    needs=("adversary",),
    better=("adversary_search",),
)
