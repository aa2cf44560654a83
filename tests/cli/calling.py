"""Call the command line in this process: what a user would see, without the time to start."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest

from heedful.cli.main import main

COLUMNS = "200"


class Answer(NamedTuple):
    code: int
    out: str
    err: str


def heedful(*arguments: str | Path) -> Answer:
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["heedful", *map(str, arguments)])
        patch.setenv("COLUMNS", COLUMNS)
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Answer(code, out.getvalue(), err.getvalue())
