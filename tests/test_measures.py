import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from heedful import measures
from heedful.measures import bootstrap, bootstraps, entropy, holm, jsd, output_jsd, sign_test, summarise, tvd
from heedful.ragged import Ragged
from tests.strategies import ragged_distributions


@given(ragged_distributions())
def test_jsd_is_scipys_row_by_row(pair: tuple[Ragged, Ragged]) -> None:
    ours = jsd(*pair)
    with np.errstate(invalid="ignore"):  # SciPy takes the root of -1e-17 for equal rows
        theirs = [np.nan_to_num(jensenshannon(p, q)) ** 2 for p, q in zip(*pair, strict=True)]
    assert np.allclose(ours, theirs, atol=1e-7)
    assert np.all((ours >= 0) & (ours <= np.log(2)))


@given(ragged_distributions())
def test_jsd_is_symmetric_and_zero_on_equal_rows(pair: tuple[Ragged, Ragged]) -> None:
    first, second = pair
    assert np.allclose(jsd(first, second), jsd(second, first), atol=1e-12)
    assert np.allclose(jsd(first, first), 0, atol=1e-12)


def test_jsd_of_disjoint_distributions_is_ln_2() -> None:
    assert jsd(Ragged.from_rows([[1.0, 0.0]]), Ragged.from_rows([[0.0, 1.0]])).tolist() == [np.log(2)]


@given(ragged_distributions())
def test_entropy_is_scipys(pair: tuple[Ragged, Ragged]) -> None:
    assert np.allclose(entropy(pair[0]), [stats.entropy(row) for row in pair[0]], atol=1e-9)


@given(st.integers(0, 2**32), st.integers(2, 5))
def test_tvd_is_half_the_l1_distance(seed: int, classes: int) -> None:
    draw = np.random.default_rng(seed)
    p, q = draw.dirichlet(np.ones(classes), 3), draw.dirichlet(np.ones(classes), 3)
    assert np.allclose(tvd(p, q), np.abs(p - q).sum(1) / 2)
    assert np.allclose(tvd(p[:, :1], q[:, :1]), np.abs(p - q)[:, 0])


def test_one_sigmoid_output_and_its_two_classes_are_equally_far() -> None:
    p, q = np.array([[0.3]]), np.array([[0.75]])
    assert np.allclose(tvd(p, q), tvd(np.hstack([1 - p, p]), np.hstack([1 - q, q])))


def test_rows_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same lengths"):
        jsd(Ragged.from_rows([[0.4, 0.6]]), Ragged.from_rows([[1.0]]))


def test_summaries_leave_out_what_is_undefined_and_say_so() -> None:
    summary = summarise([np.nan, 2.0, 4.0])
    assert (summary.mean, summary.std, summary.n, summary.undefined) == (3.0, 1.0, 2, 1)
    nothing = summarise([np.nan])
    assert (nothing.mean, nothing.std, nothing.n, nothing.undefined) == (None, None, 0, 1)


def test_one_level_bootstrap_agrees_with_the_normal_interval() -> None:
    sample = np.random.default_rng(0).normal(1.0, 2.0, 400)
    interval = bootstrap([sample], seed=0)
    assert interval is not None
    half = 1.96 * sample.std() / np.sqrt(len(sample))
    assert interval.low == pytest.approx(sample.mean() - half, abs=0.05)
    assert interval.high == pytest.approx(sample.mean() + half, abs=0.05)


def test_two_level_bootstrap_sees_the_spread_between_runs() -> None:
    draw = np.random.default_rng(0)
    runs = [draw.normal(mean, 0.1, 300) for mean in (0.0, 1.0, 2.0, 3.0)]
    within = bootstrap([np.concatenate(runs)], seed=1)
    between = bootstrap(runs, seed=1)
    assert within is not None
    assert between is not None
    assert between.high - between.low > 3 * (within.high - within.low)
    assert between.low < 1.5 < between.high


def test_intervals_over_runs_that_share_their_instances_cover_the_truth() -> None:
    draw = np.random.default_rng(0)
    covered = 0
    for repetition in range(60):
        texts = draw.normal(0, 1, 200)  # easy and hard ones, the same for every run
        runs = texts + draw.normal(0, 0.3, (6, 200)) + draw.normal(0, 0.02, (6, 1))
        interval = bootstrap(runs, seed=repetition, draws=300)
        assert interval is not None
        covered += interval.low <= 0 <= interval.high
    assert covered >= 51  # 0.95 of 60 is 57; intervals that draw texts anew for each run covered about 34


def test_undefined_values_are_left_out_of_the_bootstrap() -> None:
    values = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 5.0]])
    interval = bootstrap(values, seed=0)
    assert interval is not None
    assert 1 <= interval.low <= interval.high <= 5


def test_bootstrap_is_the_same_for_the_same_seed_and_none_for_nothing() -> None:
    sample = [np.arange(10.0)]
    assert bootstrap(sample, seed=3) == bootstrap(sample, seed=3)
    assert bootstrap(sample, seed=3) != bootstrap(sample, seed=4)
    assert bootstrap([[np.nan]], seed=0) is None


def test_sign_test_is_exact_and_drops_ties() -> None:
    result = sign_test([1, 1, 1, 1, 5], [2, 2, 2, 1, 1])
    assert (result.lower, result.higher, result.ties) == (3, 1, 1)
    assert result.p_value == pytest.approx(2 * (4 + 1) / 16)
    assert sign_test([1, 1], [1, 1]).p_value == 1.0
    assert sign_test([1, np.nan], [2, 2]).undefined == 1
    with pytest.raises(ValueError, match="pairs are needed"):
        sign_test([1, 2], [1])


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_divergences_of_outputs_are_scipys(seed: int, classes: int) -> None:
    draw = np.random.default_rng(seed)
    p, q = draw.dirichlet(np.full(classes, 0.3), 4), draw.dirichlet(np.full(classes, 0.3), 4)
    p[0], q[0] = np.eye(classes)[0], np.eye(classes)[1]
    theirs = [jensenshannon(first, second) ** 2 for first, second in zip(p, q, strict=True)]
    assert np.allclose(output_jsd(p, q), theirs, atol=1e-12)
    assert np.all(output_jsd(p, p) == 0)


def test_tiny_divergences_keep_their_order() -> None:
    own, near, far = ([1 - small, small] for small in (1e-20, 2e-20, 9e-20))
    assert 0 < output_jsd(own, near) < output_jsd(own, far) < 1e-18


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holms_correction_is_the_plain_one(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for index, p_value in enumerate(p_values):
        # as great as that of any smaller one, each times the number of those not yet passed
        ranks = sorted(range(len(p_values)), key=lambda other: (p_values[other], other))
        before = ranks[: ranks.index(index) + 1]
        plain = max((len(p_values) - rank) * p_values[other] for rank, other in enumerate(before))
        assert corrected[index] == pytest.approx(min(1.0, plain))
        assert corrected[index] >= p_value


def test_several_quantities_have_the_intervals_that_each_has_alone() -> None:
    values = np.random.default_rng(0).normal(size=(2, 30, 3))
    values[:, :5, 1] = np.nan
    values[:, :, 2] = np.nan
    together = bootstraps(values, seed=4, draws=50)
    for index in (0, 1):  # sums of more columns may be rounded otherwise
        assert together[index] == pytest.approx(bootstrap(values[..., index], seed=4, draws=50), rel=1e-12)
    assert together[2] is None
    assert bootstraps(values, seed=4, draws=0) == [None] * 3


def test_draws_in_blocks_are_those_of_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).normal(size=(3, 40, 2))
    values[1, 7] = np.nan
    monkeypatch.setattr(measures, "_MOST", 7)  # blocks of seven draws
    monkeypatch.setattr(measures, "_LEAST", 7)
    means = []
    for draw in range(30):
        picked, times = (counts[draw % 7] for counts in measures._resampled(2, 3, 40, 7, draw // 7))
        assert (picked.sum(), times.sum()) == (3, 40)
        chosen = np.repeat(np.repeat(values, picked, axis=0), times, axis=1)
        means.append(np.nanmean(chosen, axis=(0, 1)))
    expected = np.quantile(means, [0.025, 0.975], axis=0).T
    assert np.allclose(bootstraps(values, seed=2, draws=30), expected, rtol=1e-12)  # type: ignore[arg-type]


def test_large_results_have_the_same_intervals_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(size=(2, 30, 5))
    whole = bootstraps(values, seed=1, draws=40)
    monkeypatch.setattr(measures, "_HELD", 100)
    monkeypatch.setattr(measures, "_CELLS", 1)  # nothing is kept
    monkeypatch.setattr(measures, "_LEAST", 128)
    assert np.allclose(bootstraps(values, seed=1, draws=40), whole, rtol=1e-12)  # type: ignore[arg-type]
