"""What runs are called in a table: no two alike."""

from collections import Counter
from collections.abc import Callable, Sequence

from heedful.runs.directory import Run


def corpus_label(run: Run) -> str:
    """The corpus; a subset is called one, as soon as that is known."""
    return run.corpus_label if "corpus" in run.manifest else run.config.corpus


def labels(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Corpus and model of each run. Where several share both, seed, preset, the hash in the folder's name and at last a
    number are added to the model, as far as they are needed."""
    named = [(corpus_label(run), run.model_label) for run in runs]
    for describe in _DETAILS:
        named = _told_apart(named, [describe(run) for run in runs])
    seen: Counter[tuple[str, str]] = Counter()
    counts = Counter(named)
    for index, name in enumerate(named):
        seen[name] += 1
        if counts[name] > 1:
            named[index] = (name[0], f"{name[1]} ({seen[name]})")
    return named


def _told_apart(named: list[tuple[str, str]], details: list[str]) -> list[tuple[str, str]]:
    """Names with a detail, where they are shared and it differs."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, detail in zip(named, details, strict=True):
        found.setdefault(name, set()).add(detail)
    return [
        (name[0], f"{name[1]}, {detail}") if len(found[name]) > 1 else name
        for name, detail in zip(named, details, strict=True)
    ]


def _hash(run: Run) -> str:
    return run.folder.name.rpartition("-")[2]


_DETAILS: tuple[Callable[[Run], str], ...] = (
    lambda run: f"seed {run.config.seed}",
    lambda run: run.config.preset,
    _hash,
)
