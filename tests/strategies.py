"""Hypothesis: strategies for ragged batches, and how many examples a test tries."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from heedful.ragged import Ragged


def examples(count: int) -> settings:
    """So many examples under the profile `full`, and a share of them, but a few, under `quick`."""
    share = settings.default.max_examples / settings.get_profile("full").max_examples
    return settings(max_examples=max(round(count * share), min(count, 5)))


lengths = st.lists(st.integers(0, 6), min_size=1, max_size=8)
positive_lengths = st.lists(st.integers(1, 6), min_size=1, max_size=8)


@st.composite
def ragged_floats(draw: st.DrawFn, lengths: st.SearchStrategy[list[int]] = lengths) -> Ragged:
    sizes = draw(lengths)
    values = draw(st.lists(st.floats(-5, 5, width=32), min_size=sum(sizes), max_size=sum(sizes)))
    return Ragged.from_lengths(np.array(values, dtype=np.float64), sizes)


@st.composite
def ragged_distributions(draw: st.DrawFn) -> tuple[Ragged, Ragged]:
    """Two batches of distributions over the same rows, zeros included."""
    sizes = draw(positive_lengths)
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def rows() -> Ragged:
        made = []
        for size in sizes:
            row = generator.dirichlet(np.full(size, 0.3))
            row[generator.random(size) < 0.2] = 0
            made.append(row / row.sum() if row.sum() > 0 else np.eye(size)[0])
        return Ragged.from_rows(made)

    return rows(), rows()
