"""Published figures of a run: what the papers report for the same model on the same corpus, and its caveats."""

from collections.abc import Iterable, Sequence

from heedful.published import (
    CorpusFigures,
    Tau,
    gradient_beats_attention,
    table1,
    table2,
)
from heedful.runs.directory import Run
from heedful.workspace.environment import mixture

MEASURES = ("gradient", "leave_one_out")  # the columns of Jain & Wallace's Table 2
_OTHER_CLASSES = (("mimic-anemia", "released"), ("snli", "released"))  # in another order than in the paper


def measures_taken(columns: Iterable[str]) -> list[str]:
    """From the columns of `correlation`: the paper's measures that were taken; if none was, those that were."""
    prefix = "tau_attention_"
    taken = [name.removeprefix(prefix) for name in columns if name.startswith(prefix)]
    return [name for name in MEASURES if name in taken] or taken


def published_tau(run: Run, measure: str, decision: int | None) -> Tau | None:
    """Of Jain & Wallace's Table 2; the paper's classes are not always those of its code."""
    config = run.config
    if config.model != "classifier" or config.attention != "additive" or not _comparable(run):
        return None
    return table2(config.corpus, config.encoder, measure, decision)


def published_corpus(run: Run) -> CorpusFigures | None:
    """Of Jain & Wallace's Table 1, whatever the model; the test performance in it is that of a BiLSTM."""
    return table1(run.config.corpus) if _comparable(run) else None


def published_performance(run: Run) -> float | None:
    """Of the same table, for the model that it is of: the classifier with a BiLSTM and additive attention."""
    config, figures = run.config, published_corpus(run)
    same = (config.model, config.encoder, config.attention) == ("classifier", "bilstm", "additive")
    return figures.performance if figures is not None and same else None


def published_wins(run: Run) -> float | None:
    """How often Serrano & Smith's gradient ranking beats attention."""
    config, known = run.config, run.config.attention == "additive"
    return gradient_beats_attention(config.corpus, config.model, config.encoder) if known else None


def _comparable(run: Run) -> bool:
    """Whether classes and variant of the corpus are the paper's; of bAbI there is a smaller one."""
    config = run.config
    return config.corpus_options.get("training") != "1k" and (config.corpus, config.preset) not in _OTHER_CLASSES


def caveats(runs: Sequence[Run]) -> str:
    """Of runs on a part of the data, of those that began with other word vectors than the paper's, and of those whose
    stages were not all performed by one version of heedful."""
    sentences = []
    if any(run.manifest.get("corpus", {}).get("subset") for run in runs):
        sentences.append(
            "(subset): trained and tested on a part of the official data; the paper's figures are of all of it."
        )
    compared = [run for run in runs if published_corpus(run) is not None or published_wins(run) is not None]
    random = [run for run in compared if random_vectors(run)]
    if random:
        noun = "run" if len(compared) == 1 else "runs"
        sentences.append(
            f"Of {len(compared)} {noun} on corpora of the papers, {len(random)} began with random word vectors, the "
            "papers' with pretrained ones."
        )
    mixed = [run.folder.name for run in runs if mixture(run.manifest)]
    if mixed:
        named = ", ".join(mixed[:3]) + (f" and {len(mixed) - 3:,} more" if len(mixed) > 3 else "")
        sentences.append(f"Different versions of heedful performed the stages of {named}: their pages say which.")
    return " ".join(sentences)


def random_vectors(run: Run) -> bool:
    """Whether it began with random word vectors, unlike the paper's; for bAbI the paper's did, too."""
    return not run.config.embedding.vectors and not run.config.corpus.startswith("babi")
