"""Links planted at every name that a command uses twice: nothing behind them is read, written or deleted."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import heedful
from tests.making import make_evidence
from tests.runs.small import ARGUMENTS

COMMANDS: dict[str, list[str]] = {
    "run": ["run", *ARGUMENTS, "--experiments", "permutation", "--out", "{}/runs"],
    "sweep": ["sweep", "{}/grid.toml", "--workers", "1", "--out", "{}/runs"],
    "audit": ["audit", "--evidence", "{}/evidence.parquet", "--out", "{}/audits"],
    "report": ["report", "{}/finished", "--out", "{}/site", "--formats", "none"],
    "compare": ["compare", "{}/finished", "--out", "{}/table.md"],
    "show": ["show", "{}/finished", "--save", "{}/heat.html"],
}
GRID = """
corpus = "planted"
experiments = ["permutation"]
corpus_options = { train = 64, dev = 20, test = 30 }
embedding = { width = 8 }
encoder_options = { hidden = 4 }
training = { epochs = 1, batch = 16 }
"""
# one of the names that are found, so that the search itself is tested
ENDINGS = {
    "run": ".checkpoint",
    "sweep": ".sweep",
    "audit": ".lock",
    "report": ".site.lock.tmp",
    "compare": ".findings",
    "show": "",
}
# what other processes than this one use: a sweep's workers
OTHERS = {"sweep": ["runs/.sweep", "runs/.sweep/workers.log"]}


class Touched:
    """The paths that Python opens, makes, renames or removes while it listens."""

    paths: set[str] | None = None

    @classmethod
    def listen(cls, event: str, arguments: tuple[Any, ...]) -> None:
        if cls.paths is not None and event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            cls.paths.update(str(each) for each in arguments[:2])

    @classmethod
    @contextmanager
    def hidden(cls, folder: Path) -> Iterator[set[str]]:
        """The hidden files and folders below a folder that are touched inside the block."""
        cls.paths, names = set(), set[str]()
        try:
            yield names
        finally:
            for name in cls.paths:
                parts = Path(name).relative_to(folder).parts if name.startswith(f"{folder}/") else ()
                hidden = [index for index, part in enumerate(parts) if part.startswith(".")]
                names |= {"/".join(parts[: index + 1]) for index in hidden}
            cls.paths = None


@pytest.fixture(scope="module", autouse=True)
def _hook() -> None:
    sys.addaudithook(Touched.listen)  # it cannot be removed, but does nothing outside of `hidden`


def prepared(folder: Path, small_run: Any, command: str) -> list[str]:
    """What a command needs in a new folder, and its arguments."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "grid.toml").write_text(GRID)
    make_evidence(n=12).write(folder / "evidence.parquet")
    if "{}/finished" in COMMANDS[command]:
        shutil.copytree(small_run.folder, folder / "finished", ignore=shutil.ignore_patterns(".*"))
    return [each.replace("{}", str(folder)) for each in COMMANDS[command]]


def predictable(folder: Path, small_run: Any, command: str) -> list[str]:
    """The hidden names that a command touches each of two times."""
    found = []
    for _ in range(2):
        arguments = prepared(folder, small_run, command)
        with Touched.hidden(folder) as names:
            assert heedful(*arguments).code in (0, 1, 3)
        found.append(names)
    return sorted(found[0] & found[1])


@pytest.mark.parametrize("command", COMMANDS)
def test_links_at_predictable_names_are_not_followed(
    command: str, small_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "place"
    names = OTHERS[command] if command in OTHERS else predictable(folder, small_run, command)
    assert not ENDINGS[command] or any(name.endswith(ENDINGS[command]) for name in names), names
    for name in names:
        _plant(folder, name, prepared(folder, small_run, command))


def _plant(folder: Path, name: str, arguments: list[str]) -> None:
    """A link to a folder, or where a file belongs to a file, and the command again."""
    victim, link = folder / "victim", folder / name
    (victim / "deep").mkdir(parents=True)
    expected = dict.fromkeys(("first.safetensors", "000000.parquet", "files.json", "deep/f"), "mine")
    for file, text in expected.items():
        (victim / file).write_text(text)
    link.parent.mkdir(parents=True, exist_ok=True)
    is_file = name.endswith((".lock", ".tmp", ".log", ".json", ".zip"))
    link.symlink_to(victim / "deep" / "f" if is_file else victim)
    answer = heedful(*arguments)
    left = {str(file.relative_to(victim)): file.read_text() for file in victim.rglob("*") if file.is_file()}
    assert left == expected, (name, answer)
    if answer.code == 2:
        assert str(link) in answer.err, answer
        assert "link" in answer.err
        assert "remove it" in answer.err
    else:
        assert answer.code in (0, 1, 3), (name, answer)
