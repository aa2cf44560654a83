"""The example of docs/audit-module.md is run as it stands."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "audit-module.md"


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 3
    scope: dict[str, Any] = {}
    exec("\n".join(blocks), scope)
    assert "Contract(identity=" in capsys.readouterr().out
    assert scope["evidence"].validate().scores is not None
    assert scope["evidence"].decisions.tolist() == scope["labels"]  # it has learned something
