"""A directory of stages that does nothing."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from heedful.files import write_text
from heedful.workspace.folder import Stage, StageFolder

STAGES = [
    Stage("texts", ("texts.txt",)),
    Stage("model", ("model.txt", "log.txt"), ("texts",), optional=("extra.txt",)),
    Stage("scores", ("scores.parquet",), ("model",)),
    Stage("lengths", ("lengths.parquet",), ("texts",)),
]


class Toy(StageFolder):
    KIND, OPTIONS, COMMAND = "a toy", "toy.toml", "make toy"

    @classmethod
    def load(cls, folder: Path) -> "Toy":
        cls.options_path(folder)
        return cls(folder)

    @classmethod
    def stages_of(cls, manifest: Mapping[str, Any]) -> Iterable[Stage]:
        return STAGES

    def _files_of(self, stage: str, entry: Mapping[str, Any]) -> Iterable[str]:
        return next(each.files for each in STAGES if each.name == stage)


def perform(toy: Toy, *names: str) -> None:
    for stage in STAGES:
        if not names or stage.name in names:
            with toy.performing(stage):
                for file in stage.files:
                    write_text(toy.folder / file, stage.name)
