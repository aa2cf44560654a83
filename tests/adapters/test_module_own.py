"""heedful's own trained BiLSTM, audited as any torch module, gives the figures of `heedful run`."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from heedful.adapters.checking import check
from heedful.adapters.module import Module
from heedful.adapters.observing import observe
from heedful.adapters.subject import Seen
from heedful.adapters.texts import Texts
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.evidence import Evidence, chance, decide, probabilities
from heedful.experiments import EXPERIMENTS
from heedful.importance.erasure import RANKINGS, raced, random_values
from heedful.importance.gradient import gradient, gradient_input
from heedful.importance.highlights import Donors, donor_rows, highlights
from heedful.importance.integrated_gradients import integrated_gradients
from heedful.importance.table import attributions
from heedful.list_columns import ragged_column
from heedful.measures import tvd
from heedful.randomness import keys
from heedful.runs.directory import Run
from heedful.runs.execution import perform
from heedful.runs.experiment_stages import HIGHLIGHT_RANKINGS, run_options
from tests.adapters.own import Erasing, own_subject

# brief, but trained until it decides by what it reads
VALUES: dict[str, Any] = {
    "corpus": "planted",
    "embedding": {"width": 8},
    "encoder_options": {"hidden": 6},
    "training": {"epochs": 8, "batch": 16, "learning_rate": 0.01},
    "importance": {"tolerance": 1e-4},
    "experiment_options": {"sample": 0},
}
SIZES = {"train": 300, "dev": 30, "test": 25, "length": 10, "distraction": 0.0}
EXACT = ("permutation", "substitution", "adversary", "reach", "removal", "curves", "single_weight", "violation")


class Audited(NamedTuple):
    run: Run
    subject: Module
    texts: Texts
    seen: Seen
    evidence: Evidence


@pytest.fixture(scope="module", params=[2, 3])
def audited(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """A sigmoid, and a softmax of three classes."""
    options = {"corpus_options": SIZES | {"classes": request.param}}
    run = perform(VALUES | options, out=tmp_path_factory.mktemp("runs"))
    subject = own_subject(run.model(), run.vocabulary, run.classes)
    evidence = run.evidence
    texts = subject.encode([" ".join(words) for words in evidence.tokens])
    seen = subject.read(texts)
    return Audited(run, subject, texts, seen, observe(subject, evidence.ids, texts, seen, labels=evidence.labels))


def close(frame: pl.DataFrame, other: pl.DataFrame) -> None:
    assert frame.columns == other.columns
    for name in frame.columns:
        mine, theirs = _flat(frame[name]), _flat(other[name])
        assert len(mine) == len(theirs), name
        assert mine.null_count() == theirs.null_count(), name
        if mine.dtype.is_float():
            gap = (mine - theirs).abs().max()
            assert gap is None or gap <= 1e-5, (name, gap)
        else:
            assert mine.to_list() == theirs.to_list(), name


def _flat(column: pl.Series) -> pl.Series:
    while isinstance(column.dtype, pl.List):
        column = column.explode()
    return column


def test_the_model_was_trained(audited: Audited) -> None:
    assert audited.run.metrics["test"]["accuracy"] > 0.5
    assert len(set(audited.evidence.decisions)) == len(audited.run.classes)


def test_contracts_are_kept(audited: Audited) -> None:
    contract = check(audited.subject, audited.texts)
    assert contract.identity <= 1e-5
    assert contract.invariance <= 1e-5
    assert contract.moved > 0.1


def test_evidence_is_that_of_the_run(audited: Audited) -> None:
    theirs, mine = audited.run.evidence, audited.evidence.validate()
    assert [list(words) for words in mine.tokens] == [list(words) for words in theirs.tokens]
    assert mine.scores is not None
    assert theirs.scores is not None
    for ours, other in (
        (mine.weights.values, theirs.weights.values),
        (mine.output, theirs.output),
        (mine.scores.values, theirs.scores.values),
        (mine.bias, theirs.bias),
    ):
        assert np.abs(ours - other).max() <= 1e-5


@pytest.mark.parametrize("name", EXACT)
def test_experiments_on_the_recovered_evidence_are_those_of_the_run(audited: Audited, name: str) -> None:
    experiment = EXPERIMENTS[name]
    close(experiment(audited.evidence, **run_options(audited.run, experiment)), audited.run.results(name))


def test_importance_is_that_of_the_run(audited: Audited) -> None:
    run, subject, texts, _, evidence = audited
    table = run.importance
    outputs = evidence.outputs

    def theirs(measure: str, output: int | None = None) -> np.ndarray:
        rows = table.filter(measure=measure)
        rows = rows.filter(pl.col("output").is_null() if output is None else pl.col("output") == output)
        return ragged_column(rows, "values", "numbers", measure).values

    instances = SubjectTexts(subject, texts, subject.read(texts))
    for measure, fixed in (("gradient", True), ("gradient_through_attention", False)):
        values = gradient(instances, attention_fixed=fixed).values
        for output in range(outputs):
            assert np.abs(values[:, output] - theirs(measure, output)).max() <= 1e-5
            assert theirs(measure, output).max() > 0.01  # there is something to be equal
    integral = integrated_gradients(instances, tolerance=1e-4)
    assert np.abs(integral.values.values - theirs("integrated_gradients")).max() <= 1e-5
    assert np.abs(_left_out(subject, texts, evidence)[0] - theirs("leave_one_out")).max() <= 1e-5


def test_the_erasure_race_is_that_of_the_run(audited: Audited) -> None:
    run, subject, texts, _, evidence = audited
    instances = SubjectTexts(subject, texts, subject.read(texts))
    integral = integrated_gradients(instances, tolerance=1e-4).values
    signs = 2 * evidence.decisions - 1 if evidence.outputs == 1 else np.ones(len(texts))
    ranked = {
        "attention": run.evidence.weights,
        "gradient_input": gradient_input(instances),
        "integrated_gradients": integral.like(integral.values * signs[integral.row_of_value]),
        "leave_one_out": texts.names.like(_left_out(subject, texts, evidence)[1]),
        "random": random_values(evidence.ids, texts.names, run.config.seed),
    }
    assert tuple(ranked) == RANKINGS
    frame = raced(Erasing(subject, texts), evidence.ids, run.evidence.weights, ranked, ways=("delete", "blank"))
    columns = [name.replace("blank_", "unknown_") for name in frame.columns]
    close(frame.rename(dict(zip(frame.columns, columns, strict=True))), run.results("erasure"))


def test_highlights_are_those_of_the_run(audited: Audited) -> None:
    run, subject, texts, seen, evidence = audited
    instances = SubjectTexts(subject, texts, seen)
    ids, weights, seed = evidence.ids, run.evidence.weights, run.config.seed
    some = donor_rows(ids, evidence.decisions, seed)
    names = np.array(ids, dtype=object)[some]
    donors = Donors(texts.take(some), weights.take(some), instances.output[some], keys(names))
    rankings = attributions(instances, names=HIGHLIGHT_RANKINGS)
    frame = highlights(instances, ids, weights, donors, rankings=rankings, ways=instances.ways, seed=seed)
    columns = [name.replace("blank_", "unknown_") for name in frame.columns]
    close(
        frame.rename(dict(zip(frame.columns, columns, strict=True))),
        run.results("highlights").drop("truth_mass", "truth_decides"),
    )
    assert frame.select("swap_attention", "weights_attention").null_count().row(0) == (0, 0)
    assert frame["swap_attention"].mean() > 0.05  # there is something to be equal


def test_a_text_without_tokens_is_what_the_decoder_says_of_nothing(audited: Audited) -> None:
    run, subject, texts, _, _ = audited
    nothing = subject.read(texts.keep(np.zeros(len(texts.names.values), dtype=bool)))
    assert np.abs(nothing.logits - run.evidence.bias).max() <= 1e-6


def _left_out(subject: Module, texts: Texts, evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """How far the output moves without each item, and by how much the decided class's probability falls."""
    rows = texts.names.row_of_value
    places = np.arange(len(rows)) - texts.names.offsets[rows]
    many = texts.take(rows)
    kept = np.ones(len(many.names.values), dtype=bool)
    kept[many.names.offsets[:-1] + places] = False
    whole = evidence.output.astype(np.float64)[rows]
    output = probabilities(subject.read(many.keep(kept)).logits)
    decided = decide(evidence.output)[rows]
    return tvd(whole, output), chance(whole, decided) - chance(output, decided)
