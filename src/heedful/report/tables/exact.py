"""Tables of the experiments that neither paper has: reach, substitution, violation, truth and erasure."""

from heedful.findings.table_rows import erasure_rows, reach_rows, substitution_rows, truth_rows, violation_rows
from heedful.report.tables.layout import Layout, estimate, number, share
from heedful.report.tables.table import Column

REACH = Layout(
    name="reach",
    title="Reach: decisions that no attention could change",
    caption="Share of texts where no attention weights could change the decision; there a heat-map explains nothing. "
    "Exact, for affine decoders. gap: how far the reported maximum probabilities may be from the true ones, with more "
    "than two classes.",
    columns=(
        number("n", "n", "Test instances."),
        *share("irrelevant", "no attention could", "Share of instances whose decision no attention could change."),
        Column("gap", "gap", "figure", 6, "Mean of how far a maximum probability may exceed the reported one."),
    ),
    rows=reach_rows,
    needs=("reach",),
)

SUBSTITUTION = Layout(
    name="substitution",
    title="Substitution: test scores with other attention weights",
    caption="At test time the weights are replaced by uniform ones, by a random distribution (uniform over all "
    "distributions), or by the model's own in random order. Changes are against the model's own weights, with paired "
    "intervals.",
    columns=(
        Column("weights", "weights", meaning="The model's own, or their replacement."),
        number("n", "n", "Test instances."),
        *estimate("accuracy", "accuracy", "Share of correct decisions.", digits=3),
        *estimate("accuracy_change", "change", "Accuracy minus that with the own weights.", kind="signed", digits=3),
        *estimate("macro_f1", "macro F1", "Mean F1 over classes.", digits=3),
        *estimate("macro_f1_change", "change", "Macro F1 minus that with the own weights.", kind="signed", digits=3),
        *share("changed", "other decision", "Share of instances whose decision changes."),
    ),
    rows=substitution_rows,
    needs=("substitution",),
)

VIOLATION = Layout(
    name="violation",
    title="Violation: the most attended item argues against the decision",
    caption="Share of texts whose most attended item, taken alone, would decide for another class. For audited models "
    "without scores: deleting that item makes the decision more likely, which need not be the same.",
    columns=(
        number("n", "n", "Test instances."),
        *share("violates", "violates", "Share of instances whose most attended item argues against the decision."),
    ),
    rows=violation_rows,
    needs=("violation",),
)

TRUTH = Layout(
    name="truth",
    title="Truth: attention on the items that decide",
    caption="For corpora that mark the items that decide: how much attention they get, how much uniform attention "
    "would give them, and how often the most attended item is one of them.",
    columns=(
        number("n", "n", "Test instances with marked items."),
        number("undefined", "unknown", "Test instances without marked items."),
        *share("mass", "attention", "Mean share of attention on the deciding items."),
        *share("share", "if uniform", "Mean share of items that decide: what uniform attention would give them."),
        *share("top", "top decides", "Share of instances whose most attended item decides."),
    ),
    rows=truth_rows,
    needs=("truth",),
)

ERASURE = Layout(
    name="erasure",
    title="Erasure: items deleted from the text",
    caption="Items are deleted from the model's input, or replaced by the unknown word or a blank, in the order of a "
    "ranking. A decision that never changes counts as all items. Comprehensiveness and sufficiency: how far the "
    "probability of the decision falls without the top items (higher is better), and with them alone (lower is "
    "better).",
    columns=(
        Column("way", "erased", meaning="How items are erased: deleted, or replaced by an uninformative word."),
        Column("ranking", "ranking", meaning="The order of erasing."),
        number("sampled", "sampled", "Test instances sampled for this experiment."),
        number("n", "n", "Those with several items."),
        Column("never", "never", "percent", 1, "Share of instances whose decision never changes."),
        *share("fraction_all", "items", "Mean share of items erased until the decision changes; all if never."),
        *estimate("comprehensiveness", "comprehensiveness", "Mean fall without the top items."),
        *estimate("sufficiency", "sufficiency", "Mean fall with the top items alone."),
    ),
    rows=erasure_rows,
    needs=("erasure",),
)
