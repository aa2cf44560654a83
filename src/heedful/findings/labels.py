"""What runs are called in a report: no two alike, and by no more than it takes to tell them apart."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from heedful.printable import printable
from heedful.runs.directory import Run

Label = tuple[str, str]  # corpus, model

_SIZES = ("train", "dev", "test", "seed")  # say less about a corpus than its other options do
_NAMED = {"corpus", "model", "encoder", "attention", "seed", "preset", "corpus_options"}  # elsewhere in the label
_MANY = 3  # settings; where it takes more, the hash in the folder's name says as much


def labels(runs: Sequence[Run]) -> list[Label]:
    """Corpus and model of each run. Where corpora of one name differ, the options in which they do are added; where
    runs share both, seed, preset, the settings in which they differ (or the hash in the folder's name) and at last a
    number, as far as they are needed."""
    corpora = _corpora(runs)
    named = [(corpus, run.model_label) for corpus, run in zip(corpora, runs, strict=True)]
    for describe in (_seeds, _presets, _settings, _hashes):
        named = _distinguished(named, runs, describe)
    counts, seen = Counter(named), Counter[Label]()
    for index, name in enumerate(named):
        seen[name] += 1
        if counts[name] > 1:
            named[index] = (name[0], f"{name[1]} ({seen[name]})")
    return named


def corpus_label(run: Run) -> str:
    """The corpus; a subset is called one, as soon as that is known."""
    return run.corpus_label if "corpus" in run.manifest else run.config.corpus


def ranking_name(ranking: str) -> str:
    """A ranking's name to print.

    >>> ranking_name("gradient_attention"), ranking_name("leave_one_out")
    ('gradient x attention', 'leave one out')
    """
    return ranking.replace("gradient_attention", "gradient x attention").replace("_", " ")


def _corpora(runs: Sequence[Run]) -> list[str]:
    """Corpora with the options in which those of one name differ."""
    plain = [corpus_label(run) for run in runs]
    found = list(plain)
    for name in dict.fromkeys(plain):
        places = [index for index, each in enumerate(plain) if each == name]
        options = [
            {name: value for name, value in runs[index].config.corpus_options.items() if name != "cleaning"}
            for index in places  # the preset says what `cleaning` does
        ]
        for place, detail in zip(places, differences(options, last=_SIZES), strict=True):
            found[place] = f"{name} ({detail})" if detail else name
    return found


def _distinguished(
    named: list[Label], runs: Sequence[Run], describe: Callable[[Sequence[Run]], list[str]]
) -> list[Label]:
    """Names with a detail, where they are shared and it differs."""
    found = list(named)
    order = sorted(range(len(named)), key=lambda index: named[index])
    for name, group in groupby(order, key=lambda index: named[index]):
        places = list(group)
        details = describe([runs[index] for index in places]) if len(places) > 1 else []
        if len(set(details)) > 1:
            for place, detail in zip(places, details, strict=True):
                found[place] = (name[0], f"{name[1]}, {detail}" if detail else name[1])
    return found


def _seeds(runs: Sequence[Run]) -> list[str]:
    return [f"seed {run.config.seed}" for run in runs]


def _presets(runs: Sequence[Run]) -> list[str]:
    return [run.config.preset for run in runs]


def _settings(runs: Sequence[Run]) -> list[str]:
    return differences([_flat(run.config.model_dump(mode="json", exclude=_NAMED)) for run in runs])


def _hashes(runs: Sequence[Run]) -> list[str]:
    return [run.folder.name.rpartition("-")[2] for run in runs]


def differences(values: Sequence[Mapping[str, Any]], *, last: Sequence[str] = ()) -> list[str]:
    """Each of some settings in the fewest words that tell it from the others; nothing where that takes many.

    Settings are taken one by one, the one that tells most apart first; those named `last` only if all others fail.

    >>> differences([{"classes": 2, "length": 8}, {"classes": 3, "length": 30}, {"classes": 2, "length": 30}])
    ['classes 2, length 8', 'classes 3, length 30', 'classes 2, length 30']
    """
    keys = sorted({key for each in values for key in each}, key=lambda key: (key in last, key))

    def kinds(chosen: Sequence[str]) -> int:
        return len({tuple(str(each.get(key)) for key in chosen) for each in values})

    chosen: list[str] = []
    while kinds(chosen) < kinds(keys):
        chosen.append(max(keys, key=lambda key: kinds([*chosen, key]) - 0.5 * (key in last)))
    if not 0 < len(chosen) <= _MANY:
        return [""] * len(values)
    return [", ".join(_words(key, each[key]) for key in chosen if key in each) for each in values]


def _words(key: str, value: Any) -> str:
    return f"{key.rpartition('.')[2].replace('_', ' ')} {printable(str(value))}"


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Tables of settings as one, by dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {f"{prefix}{key}": value}
    return flat
