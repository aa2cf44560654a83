import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heedful.randomness import Stream, keys


@given(st.lists(st.text(max_size=5), min_size=1, max_size=10, unique=True), st.randoms())
def test_a_number_depends_on_its_own_coordinates_alone(names: list[str], random: object) -> None:
    stream = Stream(7, "test")
    together = stream.uniform(keys(names)[:, None], np.arange(3))
    shuffled = names[::-1]
    apart = np.stack([stream.uniform(keys([name])[0], np.arange(3)) for name in shuffled])
    assert np.array_equal(together[::-1], apart)


def test_seed_purpose_instance_draw_and_position_all_matter() -> None:
    base = Stream(0, "a").uniform(1, 2, 3)
    others = [
        Stream(1, "a").uniform(1, 2, 3),
        Stream(0, "b").uniform(1, 2, 3),
        Stream(0, "a").uniform(2, 2, 3),
        Stream(0, "a").uniform(1, 3, 3),
        Stream(0, "a").uniform(1, 2, 4),
        Stream(0, "a").uniform(2, 1, 3),
    ]
    assert len({float(number) for number in [base, *others]}) == 7


def test_numbers_are_uniform_and_independent() -> None:
    numbers = Stream(3, "uniform").uniform(np.arange(200)[:, None], np.arange(500))
    assert numbers.min() > 0
    assert numbers.max() < 1
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-3
    for shifted in (numbers[:, 1:].ravel(), numbers[1:].ravel()):
        other = (numbers[:, :-1] if len(shifted) == 200 * 499 else numbers[:-1]).ravel()
        assert abs(np.corrcoef(shifted, other)[0, 1]) < 0.02


def test_a_stream_without_coordinates_is_uniform_over_seeds() -> None:
    numbers = [float(Stream(seed, "x").uniform()) for seed in range(2000)]
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3


def test_normal_numbers_are_normal() -> None:
    numbers = Stream(3, "normal").normal(np.arange(50_000))
    assert stats.kstest(numbers, "norm").pvalue > 1e-3


def test_streams_are_the_same_in_another_process() -> None:
    code = "from heedful.randomness import *; print(repr(Stream(5, 'x').uniform(keys(['a', 'b']), 2).tolist()))"
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "77"}
    )
    assert other.stdout.strip() == repr(Stream(5, "x").uniform(keys(["a", "b"]), 2).tolist())


def test_generators_of_different_coordinates_differ_and_repeat() -> None:
    stream = Stream(0, "shuffle")
    assert stream.generator(1).random() == stream.generator(1).random()
    assert stream.generator(1).random() != stream.generator(2).random()
    assert Stream(1, "1").integer() != Stream(11, "").integer()
