"""Hugging Face's libraries are offline in the block, whenever they are imported, and as before after it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from heedful.adapters.offline import VARIABLES, offline, refuse_addresses, refuse_kernels
from heedful.errors import BadInput

STATE = """
import json, sys
from heedful.adapters.offline import offline
if sys.argv[1] == "before":
    import datasets, huggingface_hub, transformers
seen = []
def look():
    import datasets.config, huggingface_hub, transformers.utils.hub as hub
    seen.append([huggingface_hub.constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE, hub.is_offline_mode()])
with offline(download=sys.argv[2] == "download"):
    look()
look()
print(json.dumps(seen))
"""


@pytest.mark.parametrize("imported", ["before", "within"])
@pytest.mark.parametrize(
    ("variables", "download", "within", "afterwards"),
    [
        ({}, "", True, False),
        ({}, "download", False, False),
        ({"HF_HUB_OFFLINE": "1"}, "download", True, True),  # what the user set holds
    ],
)
def test_libraries_are_offline_however_early_they_are_imported(
    imported: str, variables: dict[str, str], download: str, within: bool, afterwards: bool
) -> None:
    for library in ("datasets", "transformers"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | variables
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", STATE, imported, download]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[within] * 3, [afterwards] * 3]


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    before = dict(os.environ)
    with offline():
        assert [os.environ[name] for name in VARIABLES] == ["1"] * 3
    assert dict(os.environ) == before


class Config:
    """As transformers has them: parts of a model have configurations of their own."""

    sub_configs: ClassVar = {"text_config": None, "vision_config": None}

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


@pytest.mark.parametrize("kernel", ["org/kernel", {"": "sdpa", "text": "org/kernel"}])
def test_kernels_are_refused_wherever_a_configuration_names_them(kernel: Any) -> None:
    for config in (Config(_attn_implementation=kernel), Config(text_config=Config(_attn_implementation=kernel))):
        with pytest.raises(BadInput, match="asks for the attention 'org/kernel'"):
            refuse_kernels(config, "mine")
    refuse_kernels(Config(_attn_implementation="sdpa", text_config=Config(_attn_implementation=None)), "mine")


def test_cards_may_link_but_not_fetch(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="datasets is not installed")
    card = tmp_path / "README.md"
    for harmless in (
        "No metadata; see https://example.org.",
        "---\nhomepage: https://example.org\nconfigs:\n- data_files: data/*.csv\n---\nSee hf://datasets/x.",
        "---\nconfigs: &a [*a]\n---\n",  # contains itself
        "---\n- a list\n---\n",
    ):
        card.write_text(harmless)
        refuse_addresses(tmp_path)
    card.write_text("---\nconfigs:\n- config_name: x\n  data_files: {test: [a.csv, 'S3://bucket/b.csv']}\n---\n")
    with pytest.raises(BadInput, match=r"README.md names data elsewhere \(S3://bucket/b.csv\)"):
        refuse_addresses(tmp_path)
    for damaged in (b"---\nconfigs: [\n---\n", b"---\n\xff\n---\n", b"---\n" + b"[" * 100_000 + b"\n---\n"):
        card.write_bytes(damaged)
        with pytest.raises(BadInput, match=r"README.md cannot be read"):
            refuse_addresses(tmp_path)
