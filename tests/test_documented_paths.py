"""Import paths that the documentation has shown to people: they keep working, wherever the code lives."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATHS = [
    *(
        ("heedful", name)
        for name in ("Audit", "Evidence", "HeedfulError", "Run", "audit", "experiments", "load_corpus")
    ),
    *(
        ("heedful", name)
        for name in ("load_corpus", "run", "runs_in", "scan", "seed_figures", "seed_pairs", "sweep", "__version__")
    ),
    ("heedful.adapters.changes", "assigned"),
    ("heedful.adapters.checking", "check"),
    ("heedful.adapters.huggingface", "HuggingFace"),
    ("heedful.adapters.module", "Module"),
    ("heedful.adapters.observing", "observe"),
    ("heedful.audits.battery", "BATTERY"),
    ("heedful.errors", "HeedfulError"),
    ("heedful.evidence", "Evidence"),
    ("heedful.evidence", "read_batches"),
    *(
        ("heedful.experiments", name)
        for name in (
            "adversary",
            "adversary_scores",
            "claims",
            "correlation",
            "curves",
            "erasure_scores",
            "estimates",
            "flip_table",
            "never_flipped",
            "permutation",
            "reach",
            "removal",
            "removal_curve",
            "removal_scores",
            "removal_wins",
            "single_weight",
            "substitution",
            "substitution_scores",
            "summary",
            "truth",
            "violation",
        )
    ),
    ("heedful.published", "released_code"),
    ("heedful.report.charts", "CHARTS"),
    ("heedful.report.charts.data", "chart_rows"),
    ("heedful.report.tables", "TABLES"),
    ("heedful.report.tables", "tables"),
    ("heedful.report.tables.formats", "write_tables"),
    ("heedful.report.tables.layout", "Layout"),
    ("heedful.runs.directory", "Run"),
]
IMPORT = re.compile(r"^\s*from (heedful[a-z_.]*) import ([A-Za-z_, ]+)$", re.MULTILINE)


@pytest.mark.parametrize(("module", "name"), PATHS)
def test_a_documented_path_works(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(module), name)


def test_every_import_in_the_documentation_works() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    shown = {
        (module, name.strip().split(" as ")[0])
        for page in pages
        for module, names in IMPORT.findall(page.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert shown, "the documentation shows no import at all"
    for module, name in sorted(shown):
        assert hasattr(importlib.import_module(module), name), f"from {module} import {name}"
