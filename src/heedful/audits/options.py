"""What an audit is of, and how it is done: every value that can change its results."""

import re
from typing import Any, Literal

from pydantic import Field

from heedful.files import fingerprint
from heedful.models.options import Options

Route = Literal["huggingface", "module", "subject", "evidence"]


class ModelFacts(Options):
    """Which model, and which of its maps."""

    name: str
    fingerprint: str = ""  # of its parameters; empty: not known
    classes: tuple[str, ...] = ()
    about: dict[str, Any] = Field(default_factory=dict)  # what its adapter says of it


class DataFacts(Options):
    """Which texts."""

    name: str
    fingerprint: str
    text: str = "text"  # columns
    label: str | None = None
    id: str | None = None
    truncate: bool = False  # texts longer than the model reads are cut at the end
    skip_empty: bool = False  # texts with nothing in them are left out


class GivenFacts(Options):
    """Which importance was measured elsewhere."""

    name: str
    fingerprint: str
    methods: tuple[str, ...]


class AuditOptions(Options):
    """All of it."""

    route: Route
    model: ModelFacts
    data: DataFacts
    importance: GivenFacts | None = None
    sample: int = Field(200, ge=0)  # texts of the tests that read each of them many times; 0: all
    seed: int = Field(0, ge=0)
    exact: bool = True  # where logits are affine in attention, tests go by scores and not by readings

    @property
    def name(self) -> str:
        """The audit directory's name: the same options are the same directory."""
        by_content = {"data": {"name"}, "importance": {"name"}}  # files are known by what is in them
        values = self.model_dump(mode="json", exclude=by_content)
        model, data = (slug(name) for name in (self.model.name, self.data.name))
        return f"{model}-{data}-{fingerprint(values)[:8]}" if model != data else f"{model}-{fingerprint(values)[:8]}"


def slug(name: str) -> str:
    """The last part of a path or name as a file may be called."""
    last = re.split(r"[\\/]", name.removeprefix("hf:").rstrip("/\\"))[-1]
    return re.sub(r"[^A-Za-z0-9]+", "-", last.split(".")[0]).strip("-").lower()[:40] or "unnamed"
