from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from heedful.errors import BadConfig
from heedful.report.heatmap import save_heatmap, terminal_heatmap
from heedful.report.instance import Instance


def _instance(tokens: list[str], weights: list[float] | None = None, **values: object) -> Instance:
    plain = {"corpus": "made-up", "decision": "good", "probability": 0.9, "label": "good", "truth": None, "scores": []}
    weights = weights or [1 / len(tokens)] * len(tokens)
    return Instance(id="one", tokens=tokens, weights=weights, **{**plain, **values})  # type: ignore[arg-type]


def _printed(instance: Instance) -> str:
    console = Console(width=80, color_system="truecolor", force_terminal=True, record=True, file=StringIO())
    console.print(terminal_heatmap(instance))
    return console.export_text(styles=True)


def test_the_heaviest_token_has_the_full_colour_and_one_without_weight_is_white() -> None:
    printed = _printed(_instance(["light", "heavy"], [0.0, 1.0]))
    assert "48;2;209;90;0mheavy" in printed
    assert "48;2;255;255;255mlight" in printed


@pytest.mark.parametrize(
    ("label", "words"), [("good", ", rightly"), ("bad", ", but it is bad"), (None, "decided good (p = 0.900)\n")]
)
def test_the_headline_says_whether_the_decision_was_right(label: str | None, words: str) -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(terminal_heatmap(_instance(["x"], label=label)))
    assert words in console.export_text()


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=20))
def test_any_tokens_make_a_file_that_is_well_formed(tokens: list[str]) -> None:
    from heedful.report import heatmap

    root = ElementTree.fromstring(heatmap._svg(_instance(tokens)))
    texts = root.findall("{http://www.w3.org/2000/svg}text")
    assert len(texts) == len(tokens) + 1
    assert heatmap._html(_instance(tokens)).count("<span ") == len(tokens)
    assert heatmap._tex(_instance(tokens)).count("\\colorbox[RGB]") == len(tokens)


def test_the_file_needs_nothing_from_the_network(tmp_path: Path) -> None:
    for ending in (".svg", ".html"):
        save_heatmap(_instance(["a", "b"]), tmp_path / f"h{ending}")
        written = (tmp_path / f"h{ending}").read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http" not in written
        assert "<script" not in written


def test_other_formats_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"unknown heat-map format '\.pdf'; valid: \.html, \.svg, \.tex"):
        save_heatmap(_instance(["a"]), tmp_path / "h.pdf")
