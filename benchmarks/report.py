"""A benchmark's result (a ratio, printed and kept as JSON), and reports: the first time against later ones."""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heedful.files import write_json
from heedful.findings.comparison import compare
from heedful.findings.configurations import seed_figures
from heedful.findings.gathering import gather
from heedful.report.site.writer import write_site
from tests.report.seeded import run_as

FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Result:
    name: str
    plain_seconds: float
    fast_seconds: float
    least: float  # the ratio to keep
    details: dict[str, Any] = field(default_factory=dict)
    limit_seconds: float | None = None  # of the matrix products alone
    least_share: float = 0.0  # the share of the time to keep that these take

    @property
    def ratio(self) -> float:
        return self.plain_seconds / self.fast_seconds

    @property
    def share(self) -> float | None:
        """Of the multiply-add limit: 1 if nothing but the products took time."""
        return None if self.limit_seconds is None else self.limit_seconds / self.fast_seconds

    @property
    def kept_up(self) -> bool:
        return self.ratio >= self.least and (self.share is None or self.share >= self.least_share)

    def __str__(self) -> str:
        details = "; ".join(
            f"{name}: {value:.3g}" if isinstance(value, float) else f"{name}: {value}"
            for name, value in self.details.items()
        )
        share = "" if self.share is None else f"share of the limit {self.share:.2f}, wanted {self.least_share}; "
        return (
            f"{self.name}: {self.ratio:.2f}x, wanted {self.least}x ({share}"
            f"plain {self.plain_seconds:.2f} s, heedful {self.fast_seconds:.2f} s; {details})"
        )

    def keep(self) -> None:
        file = "".join(c if c.isalnum() else "-" for c in self.name)
        write_json(FOLDER / f"{file}.json", {**asdict(self), "ratio": self.ratio, "share": self.share})


def kept_results(*, runs: int = 20, least: float = 5.0) -> Iterator[Result]:
    """Findings and figures are kept with the runs: a later report, comparison or summary over seeds only reads them."""
    experiments = ("correlation", "permutation", "adversary", "substitution", "single_weight", "removal")
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder) / "runs"
        for number in range(runs):
            encoder = ("bilstm", "average")[number % 2]
            name = f"sst-{encoder}-{number // 2}"
            run_as(places / name, n=300, corpus="sst", encoder=encoder, experiments=experiments, seed=number // 2)
        commands: dict[str, Callable[[], Any]] = {
            "report": lambda: write_site(gather([places]), Path(folder) / "site"),
            "compare": lambda: compare(gather([places]).runs),
            "seed_figures": lambda: seed_figures(places),
        }
        for name, command in commands.items():
            first, later = _timed(command), _timed(command)
            yield Result(f"{name}, {runs} runs: first against later", first, later, least, details={"runs": runs})


def _timed(command: Callable[[], Any]) -> float:
    started = time.perf_counter()
    command()
    return time.perf_counter() - started
