"""Flapping and settling on series that are made by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anabranch.fairness import dominance, settling_time, swaps

LEFT, RIGHT, BOTH, NONE = [95.0, 5.0], [5.0, 95.0], [50.0, 50.0], [math.nan, math.nan]
WINDOWS = arrays(int, st.tuples(st.integers(1, 30), st.integers(2, 4)), elements=st.integers(1, 99))
"""Whole segments: their sums are exact in any order."""


@pytest.mark.parametrize(
    ("rows", "fraction", "turns"),
    [
        ([BOTH] * 4, 0.0, 0),
        ([LEFT] * 4, 1.0, 0),
        ([LEFT, RIGHT, LEFT, RIGHT], 1.0, 3),
        ([LEFT, BOTH, BOTH, RIGHT], 0.5, 1),  # a swap may take its time
        ([LEFT, BOTH, LEFT, BOTH], 0.5, 0),  # coming back to the same path is none
        ([BOTH, BOTH, BOTH, RIGHT], 0.25, 0),  # nor is coming from nowhere
        ([[90.0, 10.0]] * 2, 0.0, 0),  # exactly 90 % does not dominate
        ([[0.0, 0.0]] * 2, 0.0, 0),  # nothing does not dominate nothing
        ([LEFT, NONE, LEFT, LEFT], 0.75, 0),  # what is not known is not dominated
        ([LEFT, NONE, RIGHT, [math.nan, 99.0]], 0.5, 1),  # nor half known
    ],
)
def test_dominance_is_more_than_nine_tenths_and_a_swap_changes_the_path(
    rows: list[list[float]], fraction: float, turns: int
) -> None:
    windows = np.array(rows)
    assert dominance(windows) == fraction
    assert swaps(windows) == turns


def test_among_three_paths_every_change_of_the_leader_is_one_swap() -> None:
    windows = 98.0 * np.eye(3)[[0, 1, 2, 2, 0]] + 1.0
    assert dominance(windows) == 1.0
    assert swaps(windows) == 3


def test_a_tie_dominates_at_no_share_that_two_can_have() -> None:
    tie = np.array([BOTH, BOTH])
    assert dominance(tie, share=0.5) == 0.0
    assert dominance(tie, share=0.499) == 1.0
    assert swaps(tie, share=0.499) == 0  # the first of equals leads, and stays


@given(WINDOWS, st.integers(-20, 20), st.floats(0.5, 0.99))
def test_dominance_depends_on_shares_of_the_window_alone(
    windows: np.ndarray, power: int, share: float
) -> None:
    scaled = windows * 2.0**power
    assert dominance(scaled, share) == dominance(windows, share)
    assert swaps(scaled, share) == swaps(windows, share)


@given(WINDOWS, st.floats(0.5, 0.99), st.data())
def test_the_order_of_paths_and_the_direction_of_time_change_nothing(
    windows: np.ndarray, share: float, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(windows.shape[1])))
    for other in (windows[:, order], windows[::-1]):
        assert dominance(other, share) == dominance(windows, share)
        assert swaps(other, share) == swaps(windows, share)


@given(WINDOWS, st.floats(0.5, 0.9), st.floats(0.0, 0.09))
def test_a_higher_share_is_reached_less_often(
    windows: np.ndarray, share: float, more: float
) -> None:
    assert dominance(windows, share + more) <= dominance(windows, share)
    assert swaps(windows, share) < len(windows)


# Settling: a path sampled every 100 ms whose rate is given as a function of time, in bit/s.

EVENT_S, UNTIL_S, STEADY = 60.0, 120.0, 1e7


def settled(
    rate_bps: Callable[[float], float], steady_bps: float = STEADY, **options: float
) -> float:
    t_s = np.linspace(0.0, 180.0, 1801)
    rates = np.array([rate_bps(float(t)) for t in t_s])
    arrived = np.concatenate([[0.0], np.cumsum(rates[1:] * 0.1 / 8.0)])
    return settling_time(t_s, arrived, EVENT_S, UNTIL_S, steady_bps, **options)


def test_a_path_that_has_its_rate_already_settles_at_once() -> None:
    assert settled(lambda t: STEADY) == 0.0


def test_a_path_that_is_given_the_rate_at_the_event_needs_four_fifths_of_the_smoothing() -> None:
    step = lambda t: STEADY if t > EVENT_S + 1e-6 else 0.0  # noqa: E731
    assert settled(step, level=0.79) == pytest.approx(1.6)
    assert settled(step, level=0.79, smooth_s=0.1) == pytest.approx(0.1)
    assert settled(step, level=0.79, smooth_s=10.0) == pytest.approx(7.9)


def test_a_ramp_settles_where_its_mean_over_the_last_seconds_crosses_the_level() -> None:
    ramp = lambda t: STEADY * min(1.0, max(0.0, (t - EVENT_S) / 20.0))  # noqa: E731
    # The mean of the last 2 s is the rate of 1 s ago: 80 % is reached at 16 s, seen at 17 s.
    assert settled(ramp) == pytest.approx(17.0, abs=0.11)


@pytest.mark.parametrize(
    "rate",
    [
        lambda t: 0.0,
        lambda t: 0.79 * STEADY,  # just below the level for ever
        lambda t: STEADY if t > UNTIL_S else 0.0,  # too late
        lambda t: STEADY if t < EVENT_S - 2.0 else 0.0,  # too early
        lambda t: STEADY if t % 2.0 < 1.0 else 0.0,  # never for two seconds
        lambda t: math.nan,
    ],
)
def test_a_path_that_never_reaches_the_level_in_time_never_settles(
    rate: Callable[[float], float],
) -> None:
    assert settled(rate) == math.inf


def test_the_level_itself_is_enough() -> None:
    t_s = np.arange(5.0)
    arrived = 1000.0 * t_s  # 8000 bit/s, exactly
    assert settling_time(t_s, arrived, 2.0, 4.0, 10_000.0, level=0.8) == 0.0
    assert settling_time(t_s, arrived, 2.0, 4.0, 10_001.0, level=0.8) == math.inf


def test_both_ends_of_the_time_that_is_watched_count() -> None:
    t_s = np.arange(8.0)
    arrived = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1000.0, 1000.0, 1000.0])
    at = lambda until: settling_time(t_s, arrived, 3.0, until, 4000.0, smooth_s=1.0)  # noqa: E731
    assert at(5.0) == 2.0
    assert at(4.0) == math.inf
    assert at(2.0) == math.inf  # nothing is watched


def test_the_first_time_counts_even_if_the_rate_falls_again() -> None:
    burst = lambda t: STEADY if 70.0 < t < 75.0 else 0.0  # noqa: E731
    assert settled(burst) == pytest.approx(11.6, abs=0.11)


def test_samples_that_are_missing_only_delay() -> None:
    t_s = np.arange(20.0)
    arrived = 1000.0 * t_s
    arrived[:10] = math.nan
    found = settling_time(t_s, arrived, 5.0, 19.0, 8000.0, smooth_s=1.0)
    assert found == 6.0  # the first rate whose both ends are known is that of 10 to 11 s


def test_a_smoothing_longer_than_the_series_never_settles() -> None:
    t_s = np.arange(5.0)
    assert settling_time(t_s, 1000.0 * t_s, 0.0, 4.0, 8000.0, smooth_s=60.0) == math.inf


@given(st.lists(st.integers(0, 5000), min_size=8, max_size=60), st.integers(-10, 10))
def test_settling_does_not_depend_on_the_unit_of_rates(steps: list[int], power: int) -> None:
    t_s, unit = np.arange(float(len(steps))), 2.0**power
    arrived = np.cumsum(np.array(steps, dtype=float))
    plain = settling_time(t_s, arrived, 2.0, 50.0, 16_000.0)
    assert settling_time(t_s, unit * arrived, 2.0, 50.0, unit * 16_000.0) == plain


@given(
    st.lists(st.integers(0, 5000), min_size=8, max_size=60), st.floats(0.1, 0.9), st.floats(0, 0.1)
)
def test_a_higher_level_is_never_reached_sooner(
    steps: list[int], level: float, more: float
) -> None:
    t_s, arrived = np.arange(float(len(steps))), np.cumsum(np.array(steps, dtype=float))
    low, high = (
        settling_time(t_s, arrived, 2.0, 50.0, 16_000.0, level=at) for at in (level, level + more)
    )
    assert low <= high
