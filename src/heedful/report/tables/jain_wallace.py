"""Tables 1 and 2 of Jain & Wallace 2019, and the figures of their permutation and adversary experiments."""

from heedful.findings.published import caveats
from heedful.findings.table_rows import adversary_rows, corpus_rows, correlation_rows, permutation_rows
from heedful.report.tables.layout import Layout, estimate, number, published, published_std, share
from heedful.report.tables.table import Column

TABLE_1 = Layout(
    name="jain-wallace-table-1",
    title="Corpora and test performance",
    caption="Table 1 of Jain & Wallace 2019, with their figures beside ours. The paper reports F1 for classifiers "
    "without naming the average; ours is macro F1 (accuracy for question answering; micro F1 equals accuracy). The "
    "paper's score is that of the BiLSTM with additive attention. Instances are listed by class where classes are few.",
    columns=(
        number("vocabulary", "words", "Vocabulary size."),
        published("vocabulary", "Vocabulary size in the paper.", kind="count"),
        Column("mean_length", "length", "figure", 0, "Mean tokens per training text."),
        published("mean_length", "Mean length in the paper.", kind="count"),
        Column("train", "train", meaning="Training instances by class, or in total."),
        published("train", "Training instances in the paper.", kind="text"),
        Column("test", "test", meaning="Test instances by class, or in total."),
        published("test", "Test instances in the paper.", kind="text"),
        number("n", "n", "Test instances scored."),
        Column("metric", "score", meaning="The metric."),
        *estimate("performance", "ours", "Test score.", digits=3),
        published("performance", "Test score in the paper."),
    ),
    rows=corpus_rows,
    needs=("evidence",),
    every=caveats,
)

TABLE_2 = Layout(
    name="jain-wallace-table-2",
    title="Kendall's tau of attention and importance",
    caption="Table 2 of Jain & Wallace 2019, with their figures beside ours: does attention rank the items of a text "
    "like gradients or leave-one-out do? By predicted class where classes are few, and over all. Mean±standard "
    "deviation over instances. The paper reports the BiLSTM and, for gradients, Average, with additive attention, "
    "without intervals.",
    columns=(
        Column("importance", "importance", meaning="The importance measure that attention is compared with."),
        Column("decided", "decided", meaning="The predicted class; all: any class."),
        number("n", "n", "Instances in which tau is defined."),
        number("undefined", "undefined", "Instances in which tau is undefined: a single item, or constant values."),
        *estimate("tau", "tau", "Kendall's tau-b of attention and importance over the items of a text.", std=True),
        *share("significant", "p≤0.05", "Share of instances in which tau differs significantly from 0."),
        published("tau", "Tau in the paper."),
        published_std("paper_tau", "in the paper", "Standard deviation in the paper."),
        published("significant", "Share of significant instances in the paper.", kind="percent", digits=0),
    ),
    rows=correlation_rows,
    needs=("correlation",),
    every=caveats,
)

PERMUTATION = Layout(
    name="permutation",
    title="Permutation: shuffled attention weights",
    caption="Jain & Wallace 2019, section 4.2.1: how far the output moves (TVD, 0 to 1) when the weights are shuffled: "
    "the median over permutations, averaged over instances. Whether any order changes the decision is exact, and known "
    "for affine decoders only.",
    columns=(
        number("n", "n", "Test instances."),
        number("permutations", "permutations", "Random permutations per instance."),
        *estimate("median", "median TVD", "Mean over instances of the median TVD.", digits=3, std=True),
        *share("changed", "decision changes", "Mean share of random permutations that change the decision."),
        *share("can_change", "some order changes it", "Share of instances whose decision some permutation changes."),
    ),
    rows=permutation_rows,
    needs=("permutation",),
)

ADVERSARY = Layout(
    name="adversary",
    title="Adversarial attention: how different with the same output",
    caption="Jain & Wallace 2019, section 4.2.2: the largest Jensen-Shannon divergence (at most 0.69) from the model's "
    "attention that moves the output by at most epsilon (TVD). Ours is the proven optimum where certified, otherwise "
    "the best found, with an upper bound. The paper's search is compared on instances where it stays within epsilon; "
    "the released code (`--preset released`) does not always.",
    columns=(
        Column("epsilon", "epsilon", "figure", 2, "How far the output may move (TVD)."),
        number("n", "n", "Test instances."),
        *estimate("jsd", "JSD", "Mean divergence of the adversarial attention.", digits=3),
        Column("upper", "bound", "figure", 3, "Mean upper bound of the divergence."),
        Column("certified", "certified", "percent", 0, "Share of instances proven optimal."),
        *estimate("search_jsd", "search", "Mean divergence found by the paper's search.", digits=3),
        *share("within", "within", "Share of instances in which the search stays within epsilon."),
        *share("beaten", "beaten", "Share of those in which ours is further away."),
        *estimate("missed", "missed", "Mean divergence that the search misses in those.", digits=3),
    ),
    rows=adversary_rows,
    needs=("adversary",),
    better=("adversary_search",),
)
