"""How the command line ends when something fails that is nobody's bad input, or is a bug of ours."""

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from heedful.version import __version__
from tests.cli.calling import Answer, heedful


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> Answer:
    def app() -> None:
        raise error

    monkeypatch.setattr("heedful.cli.main.app", app)
    answer = heedful("report")
    assert answer.err.count("error:") == 1
    assert "Traceback" not in answer.err
    return answer


def test_a_bug_is_reported_with_the_version_and_the_file_of_its_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for error in (KeyError("surprise"), pl.exceptions.PanicException("surprise")):
        answer = failing(error, monkeypatch)
        assert answer.code == 70
        assert f"bug in heedful {__version__}: please report it" in answer.err
        (file,) = tmp_path.iterdir()
        assert str(file) in answer.err
        text = file.read_text()
        assert f"heedful {__version__}, Python" in text
        assert "Traceback" in text
        assert "raise error" in text
        assert "surprise" in text
        assert file.stat().st_mode & 0o077 == 0
        file.unlink()


def test_a_bug_is_reported_where_no_file_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    answer = failing(KeyError("surprise"), monkeypatch)
    assert answer.code == 70
    assert "HEEDFUL_DEBUG=1" in answer.err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "not enough memory: lower options"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), "not enough memory"),
        (RuntimeError("can't start new thread"), "not enough memory"),
        (OSError(errno.EMFILE, "Too many open files", "a.parquet"), "ulimit -n"),
        (UnicodeEncodeError("utf-8", "runs/a\udcffb", 6, 7, "surrogates not allowed"), "no UTF-8 text; rename it"),
    ],
)
def test_limits_are_one_line_and_bad_use(error: Exception, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = failing(error, monkeypatch)
    assert answer.code == 2
    assert words in answer.err


def test_arguments_that_are_no_text_are_refused(tmp_path: Path) -> None:
    name = os.fsdecode(b"runs\xff")
    for arguments in (["report", name], ["run", "--corpus", "planted", "--out", str(tmp_path / name)], ["show", name]):
        answer = heedful(*arguments)
        assert answer.code == 2, answer
        assert "no UTF-8 text" in answer.err
    assert not list(tmp_path.iterdir())
