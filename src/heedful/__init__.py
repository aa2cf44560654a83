"""heedful: may the attention weights of a text model be shown to people as an explanation of its decisions?

>>> import heedful
>>> run = heedful.run(corpus="planted", encoder="average", training={"epochs": 1})  # doctest: +SKIP
>>> run.metrics["test"]["accuracy"]  # doctest: +SKIP
0.71
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heedful import experiments
    from heedful.audits.directory import Audit
    from heedful.audits.request import audit
    from heedful.corpora.loading import load as load_corpus
    from heedful.errors import HeedfulError
    from heedful.evidence import Evidence
    from heedful.findings.configurations import seed_figures, seed_pairs
    from heedful.runs.catalogue import runs_in, scan
    from heedful.runs.directory import Run
    from heedful.runs.execution import run
    from heedful.sweeps.sweep import sweep

from heedful.version import __version__

__all__ = [
    "Audit",
    "Evidence",
    "HeedfulError",
    "Run",
    "__version__",
    "audit",
    "experiments",
    "load_corpus",
    "run",
    "runs_in",
    "scan",
    "seed_figures",
    "seed_pairs",
    "sweep",
]

# where each public name lives; loaded when first asked for, so that `heedful --help` imports neither torch nor polars
_HOMES = {
    "Audit": ("heedful.audits.directory", "Audit"),
    "Evidence": ("heedful.evidence", "Evidence"),
    "HeedfulError": ("heedful.errors", "HeedfulError"),
    "Run": ("heedful.runs.directory", "Run"),
    "audit": ("heedful.audits.request", "audit"),
    "load_corpus": ("heedful.corpora.loading", "load"),
    "run": ("heedful.runs.execution", "run"),
    "runs_in": ("heedful.runs.catalogue", "runs_in"),
    "scan": ("heedful.runs.catalogue", "scan"),
    "seed_figures": ("heedful.findings.configurations", "seed_figures"),
    "seed_pairs": ("heedful.findings.configurations", "seed_pairs"),
    "sweep": ("heedful.sweeps.sweep", "sweep"),
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(import_module(module), attribute)
    if name == "experiments":
        return import_module("heedful.experiments")
    raise AttributeError(f"module 'heedful' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
