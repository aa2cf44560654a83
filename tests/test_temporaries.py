"""Temporary files and folders: hidden, new, unguessable, and gone when their writers are."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from heedful import temporaries
from heedful.temporaries import hidden_name, remove_leftover, remove_leftovers, temporary_file, temporary_folder

Maker = Callable[[Path], AbstractContextManager[Path]]
KINDS = pytest.mark.parametrize("make", [temporary_file, temporary_folder])
PROGRAM = """
import sys
from pathlib import Path
import heedful.temporaries as temporaries
with getattr(temporaries, sys.argv[1])(Path(sys.argv[2])) as made:
    print(made, flush=True)
    sys.stdin.read()
"""


def writer(make: Maker, path: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PROGRAM, make.__name__, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@KINDS
def test_names_cannot_be_guessed_and_vanish_at_the_end(make: Maker, tmp_path: Path) -> None:
    names = set()
    for _ in range(20):
        with make(tmp_path / "table") as made:
            assert made.parent == tmp_path
            assert made.name.startswith(".table.")
            names.add(made.name)
        assert not list(tmp_path.iterdir())
    assert len(names) == 20


@KINDS
def test_what_is_there_under_a_name_is_never_used(make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("mine")
    taken = [tmp_path / f".table.{letter * 8}.tmp" for letter in "ab"]
    taken[0].symlink_to(victim / "file")
    taken[1].symlink_to(victim)
    guesses = iter(["a" * 8, "b" * 8, "c" * 8])
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: next(guesses))
    with make(tmp_path / "table") as made:
        assert made.name == f".table.{'c' * 8}.tmp"
        assert not made.is_symlink()
    assert (victim / "file").read_text() == "mine"
    assert all(link.is_symlink() for link in taken)


@KINDS
def test_leftovers_are_removed_once_their_writer_has_ended(make: Maker, tmp_path: Path) -> None:
    with writer(make, tmp_path / "table") as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        remove_leftovers(tmp_path, "table")
        with make(tmp_path / "table") as own:
            assert left.exists()  # its writer lives
            remove_leftovers(tmp_path, "table")
            assert own.exists()
        process.kill()
        process.wait()
    assert left.exists()
    with make(tmp_path / "table") as own:
        assert own.exists()
        assert not left.exists()
    assert not list(tmp_path.iterdir())


def test_leftovers_of_earlier_versions_are_removed_and_other_files_are_not(tmp_path: Path) -> None:
    old = [f".table.{kind}.tmp" for kind in ("1234", "new", "old", "a1b2C3-_", "a1b2C3-_.old")]
    kept = [".table.tmp", "table", ".table.lock.tmp", ".table.notes.tmp", ".tables.1234.tmp", ".table.a1b2C3d4.txt"]
    for name in (*old, *kept):
        (tmp_path / name).mkdir() if name.endswith(("old.tmp", "new.tmp")) else (tmp_path / name).touch()
    remove_leftovers(tmp_path, "table")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


@KINDS
def test_a_writer_whose_new_name_was_taken_for_a_leftover_takes_another(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, held = [], temporaries._held

    def removed_first(descriptor: int, path: Path) -> int:
        names.append(path)
        if len(names) == 1:
            remove_leftover(path)
        return held(descriptor, path)

    monkeypatch.setattr(temporaries, "_held", removed_first)
    with make(tmp_path / "table") as made:
        assert [path for path in names if path.exists()] == [made] == names[1:]


@KINDS
def test_without_locks_only_what_is_old_is_left_over(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporaries, "fcntl", None)  # as on Windows
    with make(tmp_path / "table") as made:
        left = hidden_name(tmp_path / "table")
        made.rename(left)
    (tmp_path / "victim").touch()
    link = hidden_name(tmp_path / "table")
    link.symlink_to(tmp_path / "victim")
    past = time.time() - temporaries.STALE - 1
    os.utime(tmp_path / "victim", (past, past))
    remove_leftovers(tmp_path, "table")
    assert left.exists()
    os.utime(left, (past, past))
    remove_leftovers(tmp_path, "table")
    assert {path.name for path in tmp_path.iterdir()} == {"victim", link.name}
    future = time.time() + 10 * temporaries.STALE  # a clock that was put back
    with make(tmp_path / "table") as made:
        os.utime(made, (future, future))
        remove_leftovers(tmp_path, "table")
        assert made.exists()
