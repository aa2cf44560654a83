"""The browser's arithmetic against Python's, on made-up evidence."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from heedful.evidence import Evidence, decide
from heedful.measures import jsd, tvd
from heedful.ragged import Ragged
from heedful.report.site.packing import pack
from tests.making import awkward_evidence, make_evidence

CASES = [(1, "affine"), (2, "affine"), (4, "affine"), (3, "tanh"), (12, "tanh")]


@pytest.fixture(scope="module")
def page(chromium: Any, shown: Any) -> Iterator[Any]:
    """One page for all: nothing here depends on what it shows."""
    context = chromium.new_context(offline=True)
    opened = context.new_page()
    opened.goto(shown.page.as_uri())
    opened.wait_for_selector(".page-overview h1")
    yield opened
    context.close()


def maps_of(evidence: Evidence, index: int) -> dict[str, Any]:
    """An instance as the site has it, its arrays as lists."""
    known: dict[str, Any] = {"weights": evidence.weights[index].tolist(), "output": evidence.output[index].tolist()}
    if evidence.scores is not None and evidence.bias is not None:
        known |= {"scores": evidence.scores[index].ravel().tolist(), "bias": evidence.bias[index].tolist()}
    if evidence.features is not None and evidence.context is not None and evidence.candidates is not None:
        known |= {"features": evidence.features[index].ravel().tolist(), "context": evidence.context[index].tolist()}
        known["candidates"] = evidence.candidates[index].tolist()
    return known


def run_of(evidence: Evidence) -> dict[str, Any]:
    """What of a run decoding needs."""
    if evidence.decoder is None:
        return {}
    weight = evidence.decoder.weight
    return {"decoder": {"weight": pack(weight), "bias": pack(evidence.decoder.bias), "features": weight.shape[1]}}


@pytest.mark.parametrize(("outputs", "decoder"), CASES)
@pytest.mark.parametrize("make", [make_evidence, awkward_evidence])
def test_outputs_under_any_attention_are_those_of_the_evidence(
    page: Any, make: Any, outputs: int, decoder: Any
) -> None:
    evidence = make(outputs=outputs, decoder=decoder)
    draw = np.random.default_rng(1)
    other = Ragged.from_rows([draw.dirichlet(np.ones(size)) for size in evidence.weights.lengths], dtype=np.float64)
    expected = evidence.decode(other)
    known = [maps_of(evidence, index) for index in range(len(evidence))]
    script = """([maps, run, weights]) => maps.map((one, index) => {
      const output = heedful.decode.output(one, run, weights[index]);
      return [Array.from(output), heedful.decode.decision(output), heedful.decode.possible(one, run)];
    })"""
    found = page.evaluate(script, [known, run_of(evidence), [row.tolist() for row in other]])
    assert np.allclose([output for output, _, _ in found], expected, rtol=0, atol=1e-9)
    assert [decision for _, decision, _ in found] == decide(expected).tolist()
    assert all(possible for _, _, possible in found)


@pytest.mark.parametrize("outputs", [1, 3])
def test_distances_are_those_of_the_measures(page: Any, outputs: int) -> None:
    draw = np.random.default_rng(2)
    first, second = (draw.dirichlet(np.ones(outputs + 1), 40)[:, :outputs] for _ in range(2))
    script = "([all, name]) => all.map(([one, other]) => heedful.decode[name](one, other))"
    pairs = [[one.tolist(), other.tolist()] for one, other in zip(first, second, strict=True)]
    assert np.allclose(page.evaluate(script, [pairs, "tvd"]), tvd(first, second), rtol=0, atol=1e-12)

    rows = [[1.0], [0.0, 1.0], [0.5, 0.5, 0.0], *draw.dirichlet(np.ones(9), 20).tolist()]
    others = [[1.0], [1.0, 0.0], [0.0, 0.5, 0.5], *draw.dirichlet(np.ones(9), 20).tolist()]
    expected = jsd(Ragged.from_rows(rows, dtype=np.float64), Ragged.from_rows(others, dtype=np.float64))
    found = page.evaluate(script, [list(zip(rows, others, strict=True)), "jsd"])
    assert np.allclose(found, expected, rtol=0, atol=1e-12)


def test_ties_are_decided_as_in_python(page: Any) -> None:
    outputs = [[0.5], [0.5000001], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]
    found = page.evaluate("(all) => all.map((output) => heedful.decode.decision(output))", outputs)
    assert found == [int(decide(np.array([output]))[0]) for output in outputs] == [0, 1, 0, 1]


def test_items_taken_away_leave_weights_that_sum_to_one(page: Any) -> None:
    found = page.evaluate(
        "() => [[0, 2], [0, 1, 2]].map((items) => [...heedful.decode.removal([0.5, 0.3, 0.2], items)])"
    )
    assert found == [[0, 1, 0], [0, 0, 0]]
    assert page.evaluate("() => heedful.decode.possible({weights: [1]}, {})") is False


APPLY = """([text, own, adversarial]) => {
  const state = heedful.weights.parse(text);
  return [heedful.weights.format(state), [...heedful.weights.apply(state, Float64Array.from(own), adversarial)]];
}"""
OWN = [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("own", OWN),
        ("uniform", [0.25] * 4),
        ("adversarial", [1.0, 0.0, 0.0, 0.0]),
        ("only.2", [0.0, 0.0, 1.0, 0.0]),
        ("without.3", [1 / 6, 2 / 6, 3 / 6, 0.0]),
        ("own~3:0.1", [0.15, 0.3, 0.45, 0.1]),
        ("own~3:0.1~0:0.5", [0.5, 0.16, 0.24, 0.1]),
        ("only.2~2:0.4", [0.2, 0.2, 0.4, 0.2]),  # the others have nothing to be in proportion to
        ("own~0:1~1:1~2:1~3:1", [0.25] * 4),
        ("own~0:0~1:0~2:0~3:0", OWN),  # nothing is no attention
    ],
)
def test_other_attention_is_written_in_a_word(page: Any, text: str, expected: list[float]) -> None:
    again, weights = page.evaluate(APPLY, [text, OWN, [1.0, 0.0, 0.0, 0.0]])
    assert again == text
    assert np.allclose(weights, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "only.99", "without.99", "own~9:0.5", "own~x:1", "own~1:7", "only.-1"]
)
def test_what_cannot_be_read_is_the_models_own(page: Any, text: str) -> None:
    assert np.allclose(page.evaluate(APPLY, [text, OWN, None])[1], OWN, rtol=0, atol=1e-12)


def test_shuffles_keep_the_weights_and_follow_their_seed(page: Any) -> None:
    found = [page.evaluate(APPLY, [f"permuted.{seed}", OWN, None])[1] for seed in (1, 1, 2, 3, 4)]
    assert found[0] == found[1]
    assert len({tuple(weights) for weights in found}) > 1
    assert all(sorted(weights) == OWN for weights in found)


def test_any_number_of_changes_keeps_the_sum_and_the_proportions(page: Any) -> None:
    script = """([own, steps]) => {
      let state = heedful.weights.parse("own");
      const all = [];
      for (const [item, weight] of steps) {
        const before = heedful.weights.apply(state, Float64Array.from(own), null);
        state = heedful.weights.change(state, before, item, weight);
        all.push([[...before], [...heedful.weights.apply(state, Float64Array.from(own), null)]]);
      }
      return all;
    }"""
    draw = np.random.default_rng(3)
    steps = [[int(draw.integers(4)), float(draw.random())] for _ in range(60)]
    for (item, weight), (before, after) in zip(steps, page.evaluate(script, [OWN, steps]), strict=True):
        assert sum(after) == pytest.approx(1, abs=1e-9)
        assert after[item] == pytest.approx(weight, abs=2e-6)
        others = [index for index in range(4) if index != item]
        shares = np.array(before)[others] / sum(before[index] for index in others)
        assert np.allclose(np.array(after)[others], shares * (1 - after[item]), atol=1e-5)
