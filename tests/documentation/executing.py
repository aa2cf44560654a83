"""Executes the blocks of a page in order, in one folder and one Python scope."""

import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from heedful.runs import config as run_config
from tests.cli.calling import heedful
from tests.documentation.blocks import Block, commands

# defaults that make a run take seconds; what a block says itself wins
SMALLER = {
    "embedding": {"width": 8},
    "training": {"epochs": 1},
    "experiment_options": {"sample": 10, "permutations": 10},
}
SMALLER_CORPORA = {"planted": {"train": 64, "dev": 20, "test": 30}, "babi": {"train": 60, "dev": 20, "test": 20}}
# what is typed besides, for the same reason, where a command does not say it itself
BESIDES = {
    ("report",): ("--formats", "none"),
    ("run", "--corpus", "sst"): ("--experiments", "correlation,permutation"),
}
VERDICTS = (0, 1, 3)  # of `heedful audit`: any answer is one


def make_runs_small(patch: pytest.MonkeyPatch) -> None:
    """Runs have smaller defaults from here on."""
    usual = run_config.defaults

    def smaller(preset: str, corpus: str, model: str, encoder: str, *, query: bool) -> dict[str, Any]:
        values = run_config.merge(usual(preset, corpus, model, encoder, query=query), SMALLER)
        if encoder in ("bilstm", "bigru"):
            values = run_config.merge(values, {"encoder_options": {"hidden": 8}})
        if corpus == "planted" or corpus.endswith("-simulated"):
            sizes = SMALLER_CORPORA[corpus.partition("-")[0]]
            values = run_config.merge(values, {"corpus_options": sizes})
        return values

    patch.setattr(run_config, "defaults", smaller)


class Reader:
    """Who follows a page: types its commands in a folder, its Python into one session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scope: dict[str, Any] = {"__name__": "page"}

    def follow(self, block: Block) -> str | None:
        """Execute a block; why it did not work, or None."""
        if block.language == "sh":
            return next((problem for command in commands(block.text) if (problem := self._type(command))), None)
        if block.language == "python":
            return self._python(block)
        if block.language == "toml":
            name = block.text.split("\n", 1)[0].removeprefix("# ")
            (self.folder / name).write_text(block.text)
            return None if name.endswith(".toml") else "its first line does not name its file: # run.toml"
        return f"nothing is known of {block.language!r}: execute it here, or mark it"

    def _type(self, command: str) -> str | None:
        words = [self._named(word) for word in shlex.split(command, comments=True)]
        if words[:1] != ["heedful"]:
            return f"`{command}` is no command of heedful: mark the block"
        besides = [
            word
            for begin, more in BESIDES.items()
            if tuple(words[1 : 1 + len(begin)]) == begin and more[0] not in words
            for word in more
        ]
        answer = heedful(*words[1:], *besides)
        fine = VERDICTS if words[1] == "audit" else (0,)
        return None if answer.code in fine else f"`{command}` ends with {answer.code}: {answer.err[-2000:]}"

    def _named(self, word: str) -> str:
        """A run by its whole name where the page has x for the hash: the latest one."""
        found = list(self.folder.glob(word.replace("xxxxxxxx", "*"))) if "xxxxxxxx" in word else []
        latest = max(found, key=lambda folder: folder.stat().st_mtime, default=None)
        return word if latest is None else str(latest.relative_to(self.folder))

    def _python(self, block: Block) -> str | None:
        first = block.text.split("\n", 1)[0]
        if first.startswith("# ") and first.endswith(".py"):
            (self.folder / first.removeprefix("# ")).write_text(block.text)
            return None
        code = compile(block.text, block.place, "exec")
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                exec(code, self.scope)
        except Exception as error:
            lines = block.text.split("\n")
            trace, at = error.__traceback__, 0
            while trace is not None:
                at = trace.tb_lineno if trace.tb_frame.f_code.co_filename == block.place else at
                trace = trace.tb_next
            return f"`{lines[at - 1].strip()}` raises {type(error).__name__}: {error}"
        return None
