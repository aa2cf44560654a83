"""What must be said where published figures stand beside ours."""

from collections.abc import Sequence

from heedful.report.beside import published_corpus, published_wins
from heedful.runs.directory import Run

_RANDOM_THERE = "babi"  # these models of the paper began with random vectors, too


def caveats(runs: Sequence[Run]) -> str:
    """Of runs on a part of the data, and of those that began with other word vectors than the paper's."""
    said = []
    if any(run.manifest.get("corpus", {}).get("subset") for run in runs):
        said.append(
            "(subset): trained and tested on a part of the official data; the paper's figures are of all of it."
        )
    compared = [run for run in runs if published_corpus(run) is not None or published_wins(run) is not None]
    random = [run for run in compared if not run.config.embedding.vectors and not _alike(run)]
    if random:
        said.append(
            f"Of the {len(compared)} runs on corpora of the papers, {len(random)} began with random word vectors, the "
            "papers' with pretrained ones."
        )
    return " ".join(said)


def _alike(run: Run) -> bool:
    return run.config.corpus.startswith(_RANDOM_THERE)
