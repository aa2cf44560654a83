import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.evidence import decide
from heedful.experiments import violation
from tests.making import awkward_evidence, instance, make_evidence
from tests.strategies import examples


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4]))
@examples(30)
def test_the_most_attended_item_is_asked_alone(seed: int, outputs: int) -> None:
    evidence = make_evidence(seed, n=5, outputs=outputs) if seed % 5 else awkward_evidence(outputs)
    frame = violation(evidence)
    for row in range(len(evidence)):
        one = evidence.slice(row, row + 1)
        alone = np.zeros(len(one.weights.values))
        alone[one.weights.values.argmax()] = 1.0
        output = one.decode(one.weights.like(alone))
        own = decide(output)[0]
        assert frame["violates"][row] == (own != one.decisions[0])
        chances = np.hstack([1 - output, output])[0] if outputs == 1 else output[0]
        decided = one.decisions[0]
        rivals = np.delete(chances, decided)
        assert frame["margin"][row] == pytest.approx(np.log(chances[decided] / rivals.max()), abs=1e-6)


def test_the_first_of_equally_attended_items_counts() -> None:
    assert violation(instance([0.5, 0.5], [-1.0, 3.0]))["violates"].to_list() == [True]
    frame = violation(instance([0.5, 0.5], [3.0, -1.0]))
    assert frame["violates"].to_list() == [False]
    assert frame["margin"].to_list() == [3.0]
