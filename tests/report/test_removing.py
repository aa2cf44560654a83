"""What is said about removals after a run."""

from io import StringIO
from types import SimpleNamespace

import polars as pl
import pytest
from rich.console import Console

from heedful.experiments import curves, removal, single_weight
from heedful.report.removing import curves_words, removal_table, removal_words, single_weight_words
from tests.making import make_evidence


def _run(corpus: str = "yelp", model: str = "han", encoder: str = "bigru") -> object:
    return SimpleNamespace(config=SimpleNamespace(corpus=corpus, model=model, encoder=encoder))


def _printed(frame: pl.DataFrame) -> str:
    console = Console(width=80, record=True, file=StringIO())
    console.print(removal_table(frame))
    return console.export_text()


def _wins(counts: list[tuple[int | None, int | None]]) -> pl.DataFrame:
    kinds = {"attention_count": pl.Int32, "gradient_count": pl.Int32}
    return pl.DataFrame(counts, schema=kinds, orient="row").with_columns(items=pl.lit(9))


def test_shares_are_of_all_instances_as_in_the_paper() -> None:
    frame = _wins([(3, 1), (None, 2), (1, 2), (None, None)])
    told = removal_words(_run(), frame)  # type: ignore[arg-type]
    assert "sooner by gradient than by attention in 50% (in the paper 32%) of the instances, later in 25%" in told
    flat = removal_words(_run(model="flan"), frame)  # type: ignore[arg-type]
    assert "(in the paper 71%, in documents of several sentences)" in flat
    assert "paper" not in removal_words(_run("sst", "classifier", "bilstm"), frame)  # type: ignore[arg-type]
    alone = frame.drop("gradient_count")
    assert "were not compared" in removal_words(_run(), alone)  # type: ignore[arg-type]


@pytest.mark.parametrize("decoder", ["affine", "tanh"])
def test_the_table_fits_a_terminal_and_tells_of_the_optimum_where_it_is_known(decoder: str) -> None:
    evidence = make_evidence(2, n=40, outputs=3, decoder=decoder)  # type: ignore[arg-type]
    printed = _printed(removal(evidence))
    assert "\u2026" not in printed
    assert ("optimal" in printed) == ("needless" in printed) == (decoder == "affine")
    assert "the most attended item alone changes" in single_weight_words(single_weight(evidence))
    assert "by attention" in curves_words(curves(evidence))


def test_nothing_to_tell_is_called_undefined() -> None:
    evidence = make_evidence(longest=1)
    assert "undefined" in _printed(removal(evidence))
    assert "undefined" in single_weight_words(single_weight(evidence))
