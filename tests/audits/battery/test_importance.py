"""Importance and attributions of a subject against plain versions: autograd, fine sums and one reading at a time."""

import numpy as np
import polars as pl
import pytest
import torch

from heedful.adapters.subject import Seen, padded
from heedful.adapters.texts import NO_ITEM, Texts
from heedful.audits.battery import BATTERY
from heedful.audits.battery.subject_texts import SubjectTexts
from heedful.errors import BadConfig
from heedful.evidence import decide, probabilities
from heedful.importance.table import attributions
from heedful.measures import tvd
from tests.audits.battery.subjects import BLANK, Small, make_texts, named

LENGTHS = [5, 1, 4]


def values_of(frame: pl.DataFrame, measure: str, output: int | None = None) -> list[list[float]]:
    chosen = frame.filter((pl.col("measure") == measure) & pl.col("output").eq_missing(output))
    return chosen["values"].to_list()


def plain_products(subject: Small, alone: Texts, share: float, *, fixed: bool) -> np.ndarray:
    """e . dy/de of each item (T,) and each output, of one text whose items are shrunk to a share of them."""
    batch = padded(alone, np.array([0]))
    inside = batch.item[0] != NO_ITEM
    vectors = subject.table[batch.tokens[0]] * torch.where(inside, share, 1.0)[:, None]
    vectors.requires_grad_()
    logits = subject.forward(batch, embed=lambda _: vectors[None], attention_fixed=fixed).logits[0]
    output = torch.sigmoid(logits) if len(logits) == 1 else logits.softmax(dim=0)
    columns = []
    for each in output:
        slope = torch.autograd.grad(each, vectors, retain_graph=True)[0]
        product = (slope * vectors).sum(dim=1).detach().numpy()
        columns.append([product[(batch.item[0] == item).numpy()].sum() for item in range(batch.items)])
    return np.array(columns).T


@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_measures_equal_plain_versions(outputs: int) -> None:
    subject, texts = Small(outputs=outputs, heads=2), make_texts(LENGTHS, framed=True, pieces=True)
    seen = subject.read(texts)
    frame = BATTERY["importance"].perform(subject, named(texts), texts, seen, tolerance=1e-4)
    decided = decide(probabilities(seen.logits))
    shares = (np.arange(400) + 0.5) / 400
    for row in range(len(texts)):
        alone = texts.take([row])
        fixed, free = (plain_products(subject, alone, 1.0, fixed=fixed) for fixed in (True, False))
        if outputs > 3:
            assert values_of(frame, "gradient")[row] == pytest.approx(abs(fixed[:, decided[row]]), abs=1e-5)
        else:
            for output in range(outputs):
                assert values_of(frame, "gradient", output)[row] == pytest.approx(abs(fixed[:, output]), abs=1e-5)
        sign = 2 * decided[row] - 1 if outputs == 1 else 1
        explained = 0 if outputs == 1 else decided[row]
        assert values_of(frame, "gradient_input")[row] == pytest.approx(sign * free[:, explained], abs=1e-5)
        slopes = [plain_products(subject, alone, share, fixed=False)[:, explained] / share for share in shares]
        assert values_of(frame, "integrated_gradients")[row] == pytest.approx(np.mean(slopes, axis=0), abs=1e-3)
        signed = attributions(SubjectTexts(subject, texts, seen), names=["integrated_gradients"], tolerance=1e-4)
        assert signed["integrated_gradients"][row] == pytest.approx(sign * np.mean(slopes, axis=0), abs=1e-3)


@pytest.mark.parametrize("outputs", [1, 3])
def test_leaving_out_equals_one_reading_at_a_time(outputs: int) -> None:
    subject, texts = Small(outputs=outputs, heads=2), make_texts(LENGTHS, framed=True, pieces=True)
    seen = subject.read(texts)
    frame = BATTERY["importance"].perform(
        subject, named(texts), texts, seen, measures=["leave_one_out", "leave_one_out_blank"]
    )
    falls = attributions(SubjectTexts(subject, texts, seen), names=["leave_one_out"])["leave_one_out"]
    for row in range(len(texts)):
        alone, output = texts.take([row]), probabilities(seen.logits[[row]])
        for item in range(texts.lengths[row]):
            gone = np.arange(texts.lengths[row]) == item
            left = probabilities(subject.read(alone.keep(~gone)).logits)
            blanked = probabilities(subject.read(alone.replaced(gone, BLANK)).logits)
            assert values_of(frame, "leave_one_out")[row][item] == pytest.approx(tvd(left, output)[0], abs=1e-5)
            assert values_of(frame, "leave_one_out_blank")[row][item] == pytest.approx(
                tvd(blanked, output)[0], abs=1e-5
            )
            up = output[0, -1] - left[0, -1] if outputs == 1 else (output - left)[0, decide(output)[0]]
            expected = -up if outputs == 1 and decide(output)[0] == 0 else up
            assert falls[row][item] == pytest.approx(expected, abs=1e-5)


def test_nothing_left_is_attention_on_nothing() -> None:
    """As heedful's own models are read: the decoder is given zeros."""
    subject, texts = Small(outputs=2), make_texts([1])
    seen = subject.read(texts)
    frame = BATTERY["importance"].perform(subject, ["x"], texts, seen, measures=["leave_one_out"])
    bias = probabilities(subject.bias.numpy()[None])
    assert frame["values"][0].to_list() == pytest.approx(tvd(bias, probabilities(seen.logits)), abs=1e-6)


def test_what_a_model_has_no_blank_for_is_left_out_or_refused() -> None:
    subject, texts = Small(blank=None), make_texts(LENGTHS)
    seen: Seen = subject.read(texts)
    measures = BATTERY["importance"].perform(subject, named(texts), texts, seen)["measure"].unique().to_list()
    assert "leave_one_out" in measures
    assert "leave_one_out_blank" not in measures
    with pytest.raises(BadConfig, match="stands for nothing"):
        BATTERY["importance"].perform(subject, named(texts), texts, seen, measures=["leave_one_out_blank"])
    with pytest.raises(BadConfig, match="unknown measure"):
        BATTERY["importance"].perform(subject, named(texts), texts, seen, measures=["shap"])
