"""What a run is likely to cost, by what runs of the same corpus, model and encoder have cost."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from heedful.errors import HeedfulError
from heedful.runs.config import RunConfig
from heedful.runs.directory import Run

_Kind = tuple[str, str, str, bool]


class Costs:
    """Seconds of stages, by kind of run; learns from every finished run that it is shown."""

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._seconds: dict[_Kind, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            self.learn(run)

    @classmethod
    def below(cls, out: Path) -> "Costs":
        """What the runs in a folder have cost."""
        return cls(_runs(out))

    def learn(self, run: Run) -> None:
        """Add what a run has cost."""
        for stage, cost in run.manifest["stages"].items():
            self._seconds[_kind(run.config)][stage].append(cost["seconds"])

    def of(self, config: RunConfig, stages: Sequence[str]) -> float | None:
        """About how many seconds stages will take; None if no run of this kind has been trained."""
        known = self._seconds.get(_kind(config), {})
        if "train" not in known:
            return None
        # a stage that no run of this kind has is one that its corpus does not support
        return sum(sum(known[stage]) / len(known[stage]) for stage in stages if stage in known)


def _kind(config: RunConfig) -> _Kind:
    return config.corpus, config.model, config.encoder, config.subset


def _runs(out: Path) -> Iterable[Run]:
    for file in sorted(out.glob("*/manifest.json")):
        try:
            run = Run.open(file.parent)
            _ = run.manifest
        except HeedfulError:  # damaged, or of another version: nothing to learn from
            continue
        yield run
