"""What the page says between its tables."""

from collections.abc import Sequence

from benchmarks.reproduction.reading import CORPORA, ENCODERS
from heedful.runs.directory import Run

WORDS = {
    "head": """# Reproduction

What the experiments of Jain & Wallace 2019 and Serrano & Smith 2019 give here, beside what was published. One command
does the runs and writes this page, its figures and its numbers:

<!-- hours -->

    make reproduction

It goes on where it was interrupted and uses the corpora at hand; on two processors it takes some hours, most of them
for bAbI. The runs are those of [three grids](../benchmarks/reproduction/grids); from runs of your own, the page is
written by `python -m benchmarks.reproduction runs/ --out FOLDER`. All tables in full, with intervals, are
[CSV files](reproduction): `comparison.csv` has every published figure beside ours, `claims.csv` what each model says of
each claim. `heedful compare runs/` prints both, `heedful report runs/` shows every instance.

## In short

What the two papers found, looked for in these models ([the rules](compare.md#claims)). "Often" and "mostly" are taken
as more than half, which is more than the papers say: where such a claim does not hold here, it is weaker, not refuted.
""",
    "near": """
How many published figures ours are near to, and not (near: within half of the published standard deviation, not far:
within one; where none was published, inside our interval, or within 0.05). The released code's figures are of a later
run with other settings than the paper's. Furthest from the paper: {farthest}.
""",
    "differences": """
## What is different from the papers

- **Word vectors.** Jain & Wallace's models begin with pretrained vectors, ours with random ones (bAbI's did so in the
  paper, too): none were at hand. Where training data are few, scores are lower; how much of the difference
  in tau comes from the vectors is not known. Serrano & Smith's are trained on the training texts, here as
  there.
- **Subsets.** *(subset)*: trained on a part of the official data, because no more was at hand: 17 % of AG News, 4.5 %
  of SNLI. Yahoo is 2 of 10 topics; IMDB ratings are the eight ratings of aclImdb; Amazon is another corpus, without
  three-star reviews; Yelp is another release. Test sets of AG News and SNLI are complete. SNLI's models learn little
  from so few pairs, and the BiLSTM's outputs hardly depend on its attention at all: read their rows with that in mind.
- **Training.** Jain & Wallace: `--preset paper` throughout. Serrano & Smith: a larger learning rate (0.001) and few
  epochs, see the last table; their own settings are for a hundred times the data.
- **Seeds.** One, 0, except for SST, with three. Intervals are over instances alone, where there is one seed.
- **Published figures.** Of Serrano & Smith only the 16 that stand in their code are known here.
""",
    "table 1": """
## Jain & Wallace, Table 1: corpora and test scores

In round brackets the paper's figures, where it has other ones; it has scores of the BiLSTM only. In square brackets
95 % intervals over instances. The paper says F1 and not of what mean; ours is macro F1.
""",
    "table 2": """
## Jain & Wallace, Table 2: does attention rank words as importance does?

Kendall's tau of attention with the gradient and with leave-one-out, by decided class: mean±standard deviation over
instances, and in how many of them p ≤ 0.05. The paper's figures stand beside ours.
""",
    "ordering": """
### Average above BiLSTM?

The paper's sharpest finding: where the encoder mixes nothing, attention agrees much better with the gradient. Over all
classes, 95 % intervals over instances (and seeds, where there are several).
""",
    "wins": """
## Serrano & Smith: does the gradient change decisions sooner than attention?

In how many documents of several sentences fewer items have to be removed in the order of the gradient than in that of
attention until the decision changes; in brackets the figure left in the paper's code, of all data.
""",
    "single": """
How often the decision changes without the most attended item / without another one (exact mean over all others):
""",
    "exact": """
## Exact answers

What the papers searched or sampled, solved. *JSD*: how far other attention can be (at most 0.69) while the output moves
by ε at most; *searched*: by the released code's search, *ours*: the proven optimum in two-class models, elsewhere the
best found, below what *none exceeds*. *No attention does*: decisions that no attention whatever could change.
*Top item argues against*: the most attended item alone would decide for another class. A dash: not known, because the
decoder is not affine (questions), or the search was not performed.
""",
    "substitution": """
Accuracy with weights that are not the model's own:
""",
    "removed": """
How much of a document must go until the decision changes, in per cent of its items, in the order of attention /
of the gradient / in random order / at the very least. The last is the exact optimum, which the paper could not give; a
decision that never changes counts as 100.
""",
    "seeds": """
## Seeds

The same model, trained again with other seeds ([what the figures mean](compare.md#seeds)). *sd*: standard deviation of
the seeds' own figures. The interval draws seeds and instances; from three seeds it is too narrow.
""",
    "attention": """
Do two seeds attend to the same words? JSD of their attention on the same sentence (0: the same, 0.69: no word in
common), TVD of their outputs, and how often they decide alike, with 95 % intervals over instances:
""",
    "figures": """
## Figures

Kendall's tau of attention and gradient by decided class (Jain & Wallace, Figure 2; seed 0, dashed: the mean):
""",
    "sst": """
The papers' other figures, for SST ([what they show](figures.md)):
""",
    "costs": """
## What it took

Wall time and the most memory of each run; one thread each, on a machine that was busy with other work, so that times
are upper bounds. The runs were made while heedful was written; each one's manifest names the code that made it.
""",
}

_USUAL = {"sst", "imdb", "newsgroups", "agnews", "babi-1", "babi-2", "snli"}
_REASONS = """- **Left out.** ADR may not be redistributed and MIMIC needs credentials, so neither was at hand; of
  CNN's news and bAbI 3 there were only parts, too small for models that learn the task. CNN encoders and dot attention
  are in the [short grid](sweeps.md), not here."""


def left_out(runs: Sequence[Run]) -> str:
    """What the page lacks, and why."""
    there = {
        (run.config.corpus, run.config.encoder)
        for run in runs
        if run.config.model == "classifier" and run.done("removal")
    }
    late = [
        f"{CORPORA[corpus]} with {ENCODERS[encoder]}"
        for corpus in CORPORA
        for encoder in ("bilstm", "average")
        if corpus in _USUAL and (corpus, encoder) not in there
    ]
    return _REASONS + (f" Not finished when this page was written: {', '.join(late)}." if late else "") + "\n"
