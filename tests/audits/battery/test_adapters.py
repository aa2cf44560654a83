"""The battery on models of other people: heedful's own BiLSTM as any torch module, and tiny transformers."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from heedful.adapters.huggingface import HuggingFace
from heedful.adapters.observing import observe
from heedful.adapters.subject import Subject
from heedful.adapters.texts import Texts
from heedful.audits.battery import BATTERY
from heedful.experiments import adversary
from heedful.importance.erasure import erasure
from heedful.importance.table import importance_table
from heedful.models.batches import Inputs
from heedful.ragged import Ragged
from heedful.text.vocabulary import Vocabulary
from tests.adapters.own import own_subject
from tests.adapters.tiny import TEXTS, classifier, word_pieces
from tests.audits.battery.subjects import named
from tests.models.making import make_model

OPTIONS: dict[str, dict[str, Any]] = {
    "permutation": {"permutations": 3},
    "adversary": {"restarts": 2, "steps": 8, "epsilon": 0.05},
    "importance": {"tolerance": 0.1},
    "erasure": {"rankings": ["attention", "gradient_input", "random"], "steps": 5},
}


def same(ours: pl.DataFrame, theirs: pl.DataFrame) -> None:
    for name in theirs.columns:
        if theirs[name].dtype.is_float():
            assert all(abs(apart) <= 1e-5 for apart in (ours[name] - theirs[name]).drop_nulls()), name
        assert ours[name].null_count() == theirs[name].null_count(), name


@pytest.mark.parametrize("outputs", [1, 3])
def test_importance_and_erasure_are_those_of_heedfuls_own_models(outputs: int) -> None:
    model = make_model("bilstm", outputs=outputs).eval()
    draw = np.random.default_rng(0)
    words = [f"w{word}" for word in range(len(model.embedding))]
    rows = [draw.integers(4, len(words), size=size).tolist() for size in (5, 1, 8, 3)]
    subject = own_subject(model, Vocabulary(words), ("a", "b", "c")[: max(2, outputs)])
    texts = subject.encode([" ".join(words[token] for token in row) for row in rows])
    ids, seen, inputs = named(texts), subject.read(texts), Inputs(Ragged.from_rows(rows, dtype=np.int32))
    measures = ["gradient", "leave_one_out", "integrated_gradients"]
    theirs = importance_table(model, ids, inputs, measures=measures, tolerance=0.001)
    ours = BATTERY["importance"].perform(subject, ids, texts, seen, measures=measures, tolerance=0.001)
    assert ours.select("id", "measure", "output").equals(theirs.select("id", "measure", "output"))
    apart = ours["values"].explode() - theirs["values"].explode()
    assert apart.abs().max() <= 1e-5
    raced = BATTERY["erasure"].perform(subject, ids, texts, seen, tolerance=0.001, seed=5)
    same(
        raced.rename({name: name.replace("blank_", "unknown_") for name in raced.columns if "blank" in name}),
        erasure(model, ids, inputs, seen.weights, tolerance=0.001, seed=5),
    )
    found = BATTERY["adversary"].perform(subject, ids, texts, seen, epsilon=0.05)
    best = adversary(observe(subject, ids, texts, seen), epsilon=0.05)
    assert (found["tvd"] <= 0.05).all()
    assert (found["jsd"] <= best["upper"] + 1e-4).all()
    assert found["jsd"].sum() >= 0.6 * best["jsd"].sum()


@pytest.fixture(scope="module")
def transformer() -> tuple[Subject, Texts]:
    subject = HuggingFace(classifier("bert"), word_pieces(), items="words")
    return subject, subject.encode([*TEXTS[:3], ""])


@pytest.mark.parametrize("name", BATTERY)
def test_every_test_of_a_transformer(transformer: tuple[Subject, Texts], name: str) -> None:
    subject, texts = transformer
    ids, seen, options = named(texts), subject.read(texts), OPTIONS.get(name, {})
    frame = BATTERY[name].perform(subject, ids, texts, seen, **options)
    turned = [2, 3, 0, 1]
    other = BATTERY[name].perform(
        subject, [ids[row] for row in turned], texts.take(turned), subject.read(texts.take(turned)), **options
    )
    assert frame["id"].unique(maintain_order=True).to_list() == ids
    for column in frame.columns:
        if frame[column].dtype == pl.Float64:
            back = pl.DataFrame({"id": ids}).join(
                other.select("id", column), on="id", how="left", maintain_order="left"
            )
            apart = (frame[column] - back[column]).abs().max()
            assert apart is None or apart <= (1e-2 if name == "adversary" else 1e-5), column
            assert frame[column].null_count() == back[column].null_count()
    if name == "adversary":
        assert (frame["tvd"].drop_nulls() <= 0.05).all()
        assert (frame["jsd"].drop_nulls() <= frame["upper"].drop_nulls() + 1e-9).all()
