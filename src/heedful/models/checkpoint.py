"""Checkpoints: everything training needs to go on after a kill, written once an epoch, whole or not at all."""

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from heedful.errors import BadInput
from heedful.files import atomic, not_linked
from heedful.integrity import checked


class Checkpoint:
    """Files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = not_linked(folder)
        self.first = folder / "first.safetensors"  # the word vectors that training starts from
        self.last = folder / "last.safetensors"  # parameters, optimiser state and history after the last epoch
        self.best = folder / "best.safetensors"  # the parameters selected on the dev split

    def save(self, model: nn.Module, optimiser: torch.optim.Optimizer, history: list[dict[str, Any]]) -> None:
        """Keep the state after an epoch."""
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        for index, state in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{name}": tensor for name, tensor in state.items()}
        write_tensors(self.last, tensors, {"history": json.dumps(history)})

    def save_best(self, model: nn.Module) -> None:
        """Keep the parameters; written before `last`, so that a kill between the two only repeats an epoch."""
        write_tensors(self.best, model.state_dict())

    def remove(self) -> None:
        """Training and everything after it is done."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def resume(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> list[dict[str, Any]]:
        """Put model and optimiser back to the last finished epoch; the history tells which (empty: a fresh start)."""
        try:
            tensors, metadata = read_tensors(self.last)
            read_tensors(self.best)
        except (FileNotFoundError, BadInput):  # not there yet, or damaged: training starts again
            return []
        model.load_state_dict({key[6:]: value for key, value in tensors.items() if key.startswith("model.")})
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("optimiser."):
                _, index, name = key.split(".")
                state.setdefault(int(index), {})[name] = value
        optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
        history: list[dict[str, Any]] = json.loads(metadata["history"])
        return history


def write_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors in the safetensors format, whole or not at all."""
    with atomic(path) as temporary:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, temporary, metadata)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file."""
    try:
        with safe_open(checked(path), framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except SafetensorError as error:
        raise BadInput(f"{path} is damaged ({error}): delete it and run again") from error
