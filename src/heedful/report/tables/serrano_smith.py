"""What Serrano & Smith 2019 measured by zeroing attention weights: single items, and rankings of items."""

from heedful.experiments.single_weight import SHARES
from heedful.findings.published import caveats
from heedful.findings.table_rows import claim_rows, flip_rows, ranking_rows, win_rows
from heedful.report.tables.layout import Layout, estimate, number, published, share
from heedful.report.tables.table import Column

_SHARES = {
    "both": ("both", "Share in which zeroing either item changes the decision."),
    "top_only": ("first only", "Share in which only zeroing the top-ranked item does."),
    "rival_only": ("rival only", "Share in which only zeroing the rival does."),
    "neither": ("neither", "Share in which neither does."),
    "negative": ("rival more", "Share in which zeroing the rival moves the output more."),
}

CLAIMS = Layout(
    name="claims",
    title="Serrano & Smith's claims, and whether they hold here",
    caption="Shares of instances for and against each claim. Which ranking changes decisions first is decided by a "
    "sign test, Holm-corrected over all pairs of rankings. Ignore rows with learned = no: that model does not beat the "
    "majority class.",
    columns=(
        Column("claim", "claim", meaning="What the paper found."),
        number("n", "n", "Instances of several items (for rankings of words: documents of several sentences)."),
        Column("share", "for", "percent", 1, "Share of instances that support the claim."),
        Column("against", "against", "percent", 1, "Share of instances that contradict it."),
        Column("verdict", "verdict", meaning="Whether the claim holds; not significant where it may be chance."),
        Column("learned", "learned", "flag", meaning="Whether the model beats the majority class."),
    ),
    rows=claim_rows,
    needs=("evidence",),
    better=("single_weight", "removal"),
)

FLIPS = Layout(
    name="serrano-smith-flips",
    title="Decisions changed by zeroing one item's attention",
    caption="Serrano & Smith 2019, section 4: the attention of the top-ranked item (by attention, gradient or both) is "
    "zeroed, or that of another item, the rival. drawn: one random rival per instance, as in the paper; expected: the "
    "exact mean over all rivals. Shares of the instances with several items.",
    columns=(
        Column("ranking", "first by", meaning="The ranking whose top item is zeroed."),
        Column("rival", "rival", meaning="drawn: one at random; expected: mean over all."),
        number("n", "n", "Instances with several items."),
        *(column for name in SHARES for column in share(name, *_SHARES[name])),
    ),
    rows=flip_rows,
    needs=("single_weight",),
)

RANKINGS = Layout(
    name="serrano-smith-rankings",
    title="Share of items and of attention zeroed until the decision changes",
    caption="Serrano & Smith 2019, section 5: attention is zeroed item by item, in the order of a ranking, until the "
    "decision changes. The paper leaves out decisions that never change; the columns `or all` count them as everything "
    "zeroed. optimal is the smallest set that changes the decision, exact and known for affine decoders only; extra "
    "and best compare with it. random is the mean over its orders.",
    columns=(
        Column("ranking", "ranking", meaning="The order in which items are zeroed."),
        number("n", "n", "Instances with several items."),
        Column("never", "never", "percent", 1, "Share of instances whose decision never changes in this order."),
        *estimate("fraction", "items", "Share of the items zeroed when the decision changes.", std=True),
        *estimate("fraction_all", "or all", "The same, counting all items where it never changes."),
        *estimate("mass", "attention", "Share of the attention on the zeroed items when it changes.", std=True),
        *estimate("mass_all", "or all", "The same, counting all attention where it never changes."),
        *estimate("excess", "extra", "Items zeroed beyond the smallest set that changes the decision.", digits=1),
        *share("optimal", "best", "Share of instances with no item beyond it."),
    ),
    rows=ranking_rows,
    needs=("removal",),
)

WINS = Layout(
    name="serrano-smith-wins",
    title="Rankings against attention: which changes the decision with fewer items",
    caption="Serrano & Smith 2019, section 5. Shares of all instances with several items (where items are words and "
    "sentences are known: of documents with several sentences), including those that neither ranking changes, as in "
    "the paper, whose share of documents on which the gradient wins is shown beside ours. p: exact sign test, "
    "Holm-corrected over all pairs of rankings. random is its first order.",
    columns=(
        Column("rival", "rival", meaning="The ranking that attention is compared with."),
        number("n", "n", "Instances that the shares refer to."),
        *share("rival_wins", "rival wins", "Share in which the rival needs fewer items than attention."),
        published("rival_wins", "The same share in the paper.", kind="percent", digits=1),
        *share("attention_wins", "attention wins", "Share in which attention needs fewer items than the rival."),
        number("ties", "ties", "Instances in which both need the same number."),
        number("neither", "neither", "Instances whose decision neither changes."),
        Column("p_holm", "p", "p", meaning="p-value that both win equally often, corrected for the number of pairs."),
    ),
    rows=win_rows,
    needs=("removal",),
    every=caveats,
)
