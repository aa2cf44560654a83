from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from heedful.errors import BadConfig
from heedful.report.heatmaps.files import save_heatmap, to_html, to_svg, to_tex
from heedful.report.heatmaps.instance import Adversarial, FlipSet, Instance
from heedful.report.heatmaps.terminal import terminal_heatmap


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
    ("label", "words"), [("good", ", correct"), ("bad", ", but the label is bad"), (None, "decided good (p = 0.900)")]
)
def test_the_headline_says_whether_the_decision_was_right(label: str | None, words: str) -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(terminal_heatmap(_instance(["x"], label=label)))
    assert words in console.export_text()


def _adversarial(size: int) -> Adversarial:
    return Adversarial(
        weights=[0.0] * (size - 1) + [1.0],
        decision="good",
        probability=0.892,
        tvd=0.008,
        jsd=0.61,
        upper=0.61,
        certified=True,
        epsilon=0.01,
    )


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=20), st.booleans())
def test_any_tokens_make_a_file_that_is_well_formed(tokens: list[str], adversarial: bool) -> None:
    instance = _instance(tokens, adversarial=_adversarial(len(tokens)) if adversarial else None)
    maps = 2 if adversarial and len(tokens) > 1 else 1
    root = ElementTree.fromstring(to_svg(instance))
    assert len(root.findall("{http://www.w3.org/2000/svg}rect")) >= maps * len(tokens) + 1
    assert to_html(instance).count("<span ") == maps * len(tokens)
    assert to_tex(instance).count("\\colorbox[RGB]") == maps * len(tokens)


def test_attention_and_its_adversary_stand_side_by_side_with_what_they_do() -> None:
    console = Console(width=100, record=True, file=StringIO())
    console.print(terminal_heatmap(_instance(["fine", "film"], [0.9, 0.1], adversarial=_adversarial(2))))
    printed = console.export_text()
    titles = next(line for line in printed.splitlines() if "adversarial attention" in line)
    assert titles.startswith("attention")
    for words in (
        "p = 0.900",
        "p = 0.892",
        "TVD 0.008",
        "JSD 0.610",
        "this is the most different map possible",
        "film 1.000",
    ):
        assert words in printed


def test_the_file_needs_nothing_from_the_network(tmp_path: Path) -> None:
    for ending in (".svg", ".html"):
        save_heatmap(_instance(["a", "b"]), tmp_path / f"h{ending}")
        written = (tmp_path / f"h{ending}").read_text().replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "http" not in written
        assert "<script" not in written


def test_other_formats_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"unknown heat-map format '\.pdf'; valid: \.html, \.svg, \.tex"):
        save_heatmap(_instance(["a"]), tmp_path / "h.pdf")


def test_long_tokens_and_headlines_are_folded_not_cut() -> None:
    long = "L" * 300
    instance = _instance([long, "short"], decision="a very long class name " * 8, adversarial=_adversarial(2))
    svg = ElementTree.fromstring(to_svg(instance))
    lines = ["".join(text.itertext()) for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert max(map(len, lines)) <= 116
    assert "".join(line for line in lines if set(line) == {"L"}).count("L") >= 2 * 300
    assert "p = 0.900" in " ".join(lines)


@pytest.mark.parametrize("width", [20, 61, 80, 200])
def test_no_token_is_cut_in_a_terminal_of_any_width(width: int) -> None:
    tokens = ["日本語", "about", "https://example.org/" + "x" * 90, "film"] * 3
    console = Console(width=width, record=True, file=StringIO())
    console.print(terminal_heatmap(_instance(tokens, adversarial=_adversarial(len(tokens))), top=0))
    printed = console.export_text()
    assert "…" not in printed
    assert printed.count("x") >= 2 * 3 * 90


def test_a_single_item_has_no_other_attention() -> None:
    console = Console(width=80, record=True, file=StringIO())
    console.print(terminal_heatmap(_instance(["x"], adversarial=_adversarial(1))))
    assert "There is no other attention over a single item" in console.export_text()


def test_the_fewest_items_that_decide_are_marked_without_colours() -> None:
    tokens = ["a", "dull", "film"]
    instance = _instance(tokens, [0.1, 0.8, 0.1], flip_set=FlipSet([1, 2], "bad"), adversarial=_adversarial(3))
    console = Console(width=100, record=True, file=StringIO(), no_color=True)
    console.print(terminal_heatmap(instance))
    printed = console.export_text()
    assert "a [dull] [film]" in printed
    assert "a dull film" in printed  # the adversary's map is not about them
    told = "Zeroing the attention of dull, film (marked; 2 of 3 words, the minimum) flips the decision to bad."
    assert told in " ".join(printed.split())
    for written in (to_html(instance), to_svg(instance)):
        assert told in " ".join(written.split())
    assert to_html(instance).count('class="marked"') == 2
    assert to_svg(instance).count('stroke="black"') == 2
    assert to_tex(instance).count("\\underline{[") == 2
    assert instance.to_dict()["flip_set"] == {"items": [1, 2], "decision": "bad"}


def test_decisions_that_no_removal_changes_are_called_so() -> None:
    assert "Zeroing attention never flips the decision" in to_html(_instance(["x"], flip_set=FlipSet(None, None)))
    assert "removal" not in to_html(_instance(["x"]))


def test_of_many_items_the_first_are_named() -> None:
    instance = _instance(["w"] * 30, flip_set=FlipSet(list(range(20)), "bad"))
    assert "w and 8 more (marked; 20 of 30 words, the minimum)" in to_html(instance)


def test_sentences_stand_line_by_line_with_number_and_weight() -> None:
    said = ["we went .", "the plot was <dull> ."]
    instance = _instance(said, [0.25, 0.75], sentences=True, flip_set=FlipSet([1], "good"))
    console = Console(width=100, record=True, file=StringIO(), no_color=True)
    console.print(terminal_heatmap(instance))
    printed = console.export_text()
    assert "1 0.250 we went ." in printed
    assert "2 0.750 [the plot was <dull> .]" in printed
    told = "Zeroing the attention of sentence 2 (marked; 1 of 2 sentences, the minimum) flips the decision to good."
    assert told in " ".join(printed.split())
    assert "most attended: sentence 2 0.750, sentence 1 0.250" in printed
    html, svg, tex = to_html(instance), to_svg(instance), to_tex(instance)
    assert "1 (0.250) <span" in html
    assert html.count("<br>") == 1
    assert "&lt;dull&gt;" in html
    assert "2 (0.750) the plot was" in svg
    heights = {line.split('y="')[1].split('"')[0] for line in svg.splitlines() if "<rect x" in line}
    assert len(heights) == 2  # each in a line of its own
    assert tex.count("\\parbox") == 2
