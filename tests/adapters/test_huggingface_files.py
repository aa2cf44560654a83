"""Folders that point elsewhere, or at weights that can run code, are refused before any weights are opened."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import safetensors
import torch

from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.huggingface.files import check_files
from heedful.errors import BadInput, HeedfulError
from tests.adapters.tiny import TEXTS, classifier, word_pieces

INDEX = "model.safetensors.index.json"


class Bomb:
    """Leaves a file where it is unpickled."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return Path.touch, (self.place,)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    classifier("bert").save_pretrained(folder, max_shard_size="20KB")
    word_pieces().save_pretrained(folder)
    assert (folder / INDEX).is_file()
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "model"))


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Weights that are opened while a folder is refused."""
    names: list[str] = []
    for module, function in ((torch, "load"), (safetensors, "safe_open"), (pickle, "load")):
        original = getattr(module, function)

        def noting(*arguments: Any, _original: Any = original, **options: Any) -> Any:
            names.append(str(arguments[0]))
            return _original(*arguments, **options)

        monkeypatch.setattr(module, function, noting)
    return names


def refused(folder: Path, words: str, opened: list[str]) -> None:
    with pytest.raises(BadInput, match=words):
        HuggingFace.load(str(folder), device="cpu")
    assert not opened


def change(file: Path, **values: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_weights_in_parts_are_loaded(saved: Path) -> None:
    subject = HuggingFace.load(str(saved), device="cpu")
    direct = HuggingFace(classifier("bert"), word_pieces())
    texts = direct.encode(TEXTS)
    assert (subject.read(texts).logits == direct.read(texts).logits).all()


@pytest.mark.parametrize(
    "name",
    ["pytorch_model.bin", "model.pt", "x.safetensors.bin", "tf_model.h5", "", 3, None, ["a.safetensors"], "a\x00.bin"],
)
def test_an_index_that_names_anything_but_safetensors(folder: Path, name: Any, opened: list[str]) -> None:
    index = json.loads((folder / INDEX).read_text())
    first = next(iter(index["weight_map"]))
    if isinstance(name, str) and name.isprintable() and name:
        (folder / name).write_bytes(pickle.dumps(Bomb(folder / "exploded")))
    change(folder / INDEX, weight_map=index["weight_map"] | {first: name})
    refused(folder, r"index\.json: '.*' is in .*, which is no \.safetensors file", opened)
    assert not (folder / "exploded").exists()


@pytest.mark.parametrize(
    "name", ["../{}", "/etc/{}", "sub/{}", "..\\{}", "C:{}", "./{}", "~/../{}", "https://example.org/{}"]
)
def test_an_index_that_points_outside(folder: Path, name: str, opened: list[str]) -> None:
    index = json.loads((folder / INDEX).read_text())
    first, file = next(iter(index["weight_map"].items()))
    shutil.copy(folder / file, folder.parent / file)
    change(folder / INDEX, weight_map=index["weight_map"] | {first: name.format(file)})
    refused(folder, r"outside the model's folder", opened)


@pytest.mark.parametrize("other", ["adapter_model.safetensors.index.json", "model.safetensors.index.fp16.json"])
def test_any_other_index_is_held_to_the_same(folder: Path, other: str, opened: list[str]) -> None:
    (folder / other).write_text(json.dumps({"metadata": {}, "weight_map": {"a": "../../b.safetensors"}}))
    refused(folder, "outside the model's folder", opened)


@pytest.mark.parametrize("content", ["[]", "{}", '{"weight_map": [], "metadata": {}}', "[" * 100_000, "\xff", ""])
def test_an_index_that_is_none(folder: Path, content: str, opened: list[str]) -> None:
    (folder / INDEX).write_text(content, encoding="latin-1")
    refused(folder, r"index\.json", opened)


def test_adapters(folder: Path, opened: list[str]) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "somebody/else"}')
    refused(folder, "holds an adapter.*merge", opened)


def test_pickled_weights(folder: Path, opened: list[str]) -> None:
    for file in folder.glob("*.safetensors*"):
        file.unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(folder / "exploded")))
    refused(folder, r"only pytorch_model\.bin, which can run code.*weights must be safetensors", opened)
    assert not (folder / "exploded").exists()


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("pytorch_model.bin", r"no \.safetensors file"),
        ("adapter_model.bin", r"no \.safetensors file"),
        ("../other/model.safetensors", "outside the model's folder"),
        (["a"], r"no \.safetensors file"),
    ],
)
def test_weights_that_the_configuration_chooses(folder: Path, chosen: Any, words: str, opened: list[str]) -> None:
    change(folder / "config.json", transformers_weights=chosen)
    refused(folder, f"transformers_weights.*{words}", opened)


@pytest.mark.parametrize(
    "values",
    [
        {"num_hidden_layers": 10**9},
        {"num_labels": 10**12},
        {"num_labels": -3},
        {"num_attention_heads": 0},
        {"num_attention_heads": "many"},
        {"hidden_size": 10**12},
        {"hidden_size": -1},
        {"vocab_size": None},
        {"max_position_embeddings": "x"},
        {"id2label": [1, 2]},
        {"id2label": {"a": "b"}},
        {"architectures": 5},
        {"architectures": [None]},
        {"dtype": "float0"},
        {"hidden_act": {"a": 1}},
        {"model_type": ["bert"]},
        {"quantization_config": 7},
    ],
    ids=str,
)
def test_hostile_values_of_a_configuration(folder: Path, values: dict[str, Any]) -> None:
    change(folder / "config.json", **values)
    with pytest.raises(HeedfulError, match="model"):
        HuggingFace.load(str(folder), device="cpu")


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", "null", '{"a":', "\x00"])
def test_a_configuration_that_is_none(folder: Path, content: str, opened: list[str]) -> None:
    (folder / "config.json").write_text(content)
    refused(folder, r"config\.json", opened)


def test_a_file_where_the_folder_belongs(folder: Path, opened: list[str]) -> None:
    refused(folder / "config.json", f"is a file: give the folder that it lies in, {folder}", opened)


def test_a_folder_without_a_model_is_somebody_elses_to_refuse(tmp_path: Path) -> None:
    check_files(tmp_path)
