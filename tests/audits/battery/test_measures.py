"""One set of measures for our classifiers and for audited models: a new one serves both."""

from collections.abc import Iterator

import numpy as np
import pytest

from heedful.audits.battery import BATTERY
from heedful.importance import MEASURES
from heedful.importance.measure import Instances, Measure, Measured
from heedful.importance.table import attributions, importance_table
from heedful.models.inference import predict
from tests.audits.battery.subjects import Small, make_texts, named
from tests.models.making import make_model, make_tokens


def keep_one(instances: Instances, tolerance: float) -> Measured:
    """The largest probability when an item is all that is left."""
    items = instances.items
    row = items.row_of_value
    copies = items.like(np.arange(len(row))).take(row)
    gone = copies.values != np.arange(len(row))[copies.row_of_value]
    return Measured(items.like(instances.erased(row, gone, "delete").max(axis=1)))


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    MEASURES.register("keep_one", Measure(keep_one, signed=lambda texts, _: keep_one(texts, 0).values))
    yield
    MEASURES.unregister("keep_one")


def test_a_toy_measure_serves_classifiers() -> None:
    model, tokens = make_model("cnn", outputs=3).eval(), make_tokens([4, 1, 2])
    frame = importance_table(model, ["a", "b", "c"], tokens, measures=["gradient", "keep_one"], tolerance=0.01)
    values = frame.filter(measure="keep_one")["values"].to_list()
    assert values[1] == pytest.approx(predict(model, tokens.take([1])).max(axis=1), abs=1e-6)
    assert [len(row) for row in values] == [4, 1, 2]


def test_a_toy_measure_serves_audits_as_a_measure_and_as_a_ranking() -> None:
    subject, texts = Small(outputs=3, heads=2), make_texts([4, 1, 2])
    seen = subject.read(texts)
    test = BATTERY["importance"]
    frame = test.perform(subject, named(texts), texts, seen, measures=["keep_one"])
    assert [len(row) for row in frame["values"].to_list()] == [4, 1, 2]
    raced = BATTERY["erasure"].perform(subject, named(texts), texts, seen, rankings=["keep_one"])
    assert "delete_keep_one_count" in raced.columns
    assert "keep_one" not in attributions.__kwdefaults__["names"]  # what is usual stays as it is
