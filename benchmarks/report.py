"""A benchmark's result: a ratio, printed and kept as JSON."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heedful.files import write_json

FOLDER = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Result:
    name: str
    plain_seconds: float
    fast_seconds: float
    least: float  # the ratio to keep
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.plain_seconds / self.fast_seconds

    def __str__(self) -> str:
        details = "; ".join(
            f"{name}: {value:.3g}" if isinstance(value, float) else f"{name}: {value}"
            for name, value in self.details.items()
        )
        return (
            f"{self.name}: {self.ratio:.2f}x, wanted {self.least}x "
            f"(plain {self.plain_seconds:.2f} s, heedful {self.fast_seconds:.2f} s; {details})"
        )

    def keep(self) -> None:
        file = "".join(c if c.isalnum() else "-" for c in self.name)
        write_json(FOLDER / f"{file}.json", {**asdict(self), "ratio": self.ratio})
