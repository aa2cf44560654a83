"""Does attention lie on the items that really decide?"""

from collections.abc import Iterable

from heedful.experiments import estimates
from heedful.report.tables.columns import number, share, told
from heedful.report.tables.layout import DRAWS, SEED, Cells, Layout
from heedful.report.tables.source import Source


def _rows(source: Source) -> Iterable[Cells]:
    found = estimates(source.results("truth").select("mass", "share", "top"), seed=SEED, draws=DRAWS)
    told_all = {key: value for name in ("mass", "share", "top") for key, value in told(name, found[name]).items()}
    yield {"n": found["mass"].n, "undefined": found["mass"].undefined, **told_all}


TRUTH = Layout(
    name="truth",
    title="Truth: attention on the items that decide",
    caption=(
        "For corpora that know which items decide: how much of the attention lies on them, beside what uniform "
        "attention would put there, and how often the most attended item is one of them."
    ),
    columns=(
        number("n", "n", "Test instances in which some item is known to decide."),
        number("undefined", "unknown", "Test instances in which none is."),
        *share("mass", "attention", "Mean share of the attention on deciding items."),
        *share("share", "if uniform", "Mean share of the items that decide: what uniform attention would put there."),
        *share("top", "top decides", "Share of instances whose most attended item decides."),
    ),
    rows=_rows,
    needs=("truth",),
)
