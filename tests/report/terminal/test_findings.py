"""What is said about removals after a run."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from heedful.experiments import curves, removal, single_weight
from heedful.findings.run_facts import several_sentences
from heedful.importance.erasure import WAYS
from heedful.ragged import Ragged
from heedful.report.terminal.findings import (
    claims_words,
    curves_words,
    erasure_table,
    removal_table,
    removal_words,
    single_weight_words,
)
from tests.making import make_evidence


def _run(
    folder: Path, corpus: str = "yelp", model: str = "han", encoder: str = "bigru", *, subset: bool = False
) -> Any:
    """A run of four texts; those of a flat model have one sentence or two."""
    evidence = make_evidence(n=4, longest=5)
    sizes = evidence.weights.lengths.tolist()
    lengths = [[size] if row == 1 else [1, size - 1] for row, size in enumerate(sizes)]
    if model == "flan":
        evidence = replace(evidence, sentences=Ragged.from_rows(lengths, dtype=np.int32))
    evidence.write(folder / "evidence.parquet")
    config = SimpleNamespace(corpus=corpus, model=model, encoder=encoder, attention="additive")
    return SimpleNamespace(config=config, manifest={"corpus": {"subset": subset}}, folder=folder)


def _printed(frame: pl.DataFrame) -> str:
    console = Console(width=80, record=True, file=StringIO())
    console.print(removal_table(frame))
    return console.export_text()


def _wins(counts: list[tuple[int | None, int | None]]) -> pl.DataFrame:
    kinds = {"attention_count": pl.Int32, "gradient_count": pl.Int32}
    return pl.DataFrame(counts, schema=kinds, orient="row").with_columns(items=pl.lit(9))


def test_shares_are_of_all_instances_as_in_the_paper(tmp_path: Path) -> None:
    frame = _wins([(3, 1), (None, 2), (1, 2), (None, None)])
    told = removal_words(_run(tmp_path), frame)
    assert "fewer items than in attention order in 50% (in the paper 32%) of 4 texts; the reverse in 25%" in told
    assert "(in the paper, on all data, 32%)" in removal_words(_run(tmp_path, subset=True), frame)
    assert "paper" not in removal_words(_run(tmp_path, "sst", "classifier", "bilstm"), frame)
    assert "were not compared" in removal_words(_run(tmp_path), frame.drop("gradient_count"))


def test_flat_models_are_compared_on_documents_of_several_sentences(tmp_path: Path) -> None:
    run = _run(tmp_path, model="flan")
    only = several_sentences(run)
    assert only is not None
    assert only.to_list() == [True, False, True, True]
    frame = pl.DataFrame({"attention_count": [3] * 4, "gradient_count": [1] * 4, "items": [9] * 4})
    told = removal_words(run, frame)
    assert "in 100% (in the paper 71%) of 3 documents of several sentences; the reverse in 0%" in told


def test_the_papers_findings_are_told_whichever_way_they_come_out(tmp_path: Path) -> None:
    frame = _wins([(3, 1)] * 40).with_columns(random_count=pl.lit(2))
    told = claims_words(_run(tmp_path), None, frame)
    assert told == [
        "- holds: zeroing in gradient order flips decisions sooner than in attention order (100% of texts; the reverse "
        "in 0%)",
        "- does not hold: zeroing in attention order flips decisions sooner than in random order (0% of texts; the "
        "reverse in 100%)",
    ]
    few = claims_words(_run(tmp_path), None, frame.head(3))
    assert few[0].startswith("- not significant here: zeroing in gradient order")
    assert claims_words(_run(tmp_path), None, None) == []


def test_erasure_fits_a_terminal() -> None:
    figures = ("count", "fraction", "comprehensiveness", "sufficiency")
    rankings = ("attention", "gradient_input", "integrated_gradients", "leave_one_out", "random")
    values = {f"{way}_{name}_{figure}": [0.25, None] for way in WAYS for name in rankings for figure in figures}
    console = Console(width=80, record=True, file=StringIO())
    console.print(erasure_table(pl.DataFrame({**values, "items": [4, 5]})))
    printed = console.export_text()
    assert "\u2026" not in printed
    assert printed.count("62%") == 2 * len(rankings)  # what never changes counts as all


@pytest.mark.parametrize("decoder", ["affine", "tanh"])
def test_the_table_fits_a_terminal_and_tells_of_the_optimum_where_it_is_known(decoder: str) -> None:
    evidence = make_evidence(2, n=40, outputs=3, decoder=decoder)  # type: ignore[arg-type]
    printed = _printed(removal(evidence))
    assert "\u2026" not in printed
    assert ("optimal" in printed) == ("extra" in printed) == (decoder == "affine")
    assert "Zeroing the top word's attention alone flips" in single_weight_words(single_weight(evidence))
    assert "Zeroing the top words' attention lowers the predicted class's" in curves_words(curves(evidence))


def test_nothing_to_tell_is_called_undefined() -> None:
    evidence = make_evidence(longest=1)
    assert "undefined" in _printed(removal(evidence))
    assert "undefined" in single_weight_words(single_weight(evidence))


@pytest.mark.parametrize("width", [40, 60])
def test_no_figure_is_cut_in_a_narrow_terminal(width: int) -> None:
    evidence = make_evidence(2, n=40, outputs=3)
    console = Console(width=width, record=True, file=StringIO())
    console.print(removal_table(removal(evidence)))
    assert "\u2026" not in console.export_text()
