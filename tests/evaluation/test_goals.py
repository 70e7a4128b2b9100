"""Goals: which values meet them."""

from __future__ import annotations

import numpy as np
import pytest
from planted import numbers

from anabranch.evaluation.goals import Between, Goal, NoWorse, at_least, at_most

NAN = float("nan")


@pytest.mark.parametrize(
    ("goal", "values", "verdict"),
    [
        (at_most(1.0), (0.8, 0.9, 0.85), "meets"),
        (at_most(1.0), (1.8, 1.9, 1.85), "misses"),
        (at_most(1.0), (0.5, 1.5, 1.0), "undecided"),
        (at_least(1.0), (1.0, 1.0, 1.0), "meets"),
        (at_least(1.0), (0.8, 0.9, 0.85), "misses"),
        (Between(0.5, 1.0), (0.7, 0.7, 0.7), "meets"),
        (Between(0.5, 1.0), (0.2, 0.2, 0.2), "misses"),
        (at_most(0.0), (0.0, 0.0, 0.0), "meets"),
    ],
)
def test_a_goal_with_ends_is_met_by_intervals_inside(
    goal: Goal, values: tuple[float, ...], verdict: str
) -> None:
    assert goal.judge(numbers(*values), {}) == verdict


def test_a_replication_without_a_value_misses() -> None:
    assert at_most(1.0).judge(numbers(0.1, NAN, 0.1), {}) == "misses"


def test_one_replication_decides_nothing() -> None:
    assert at_most(1.0).judge(numbers(0.1), {}) == "undecided"


def test_no_worse_than_compares_with_the_worst_reference() -> None:
    references = {"reno": numbers(1.0, 1.2, 1.1), "cubic": numbers(2.0, 2.4, 2.2)}
    goal = NoWorse(factor=1.1)
    assert goal.bound(references) == (-np.inf, pytest.approx(1.1 * 2.2))
    assert goal.judge(numbers(2.0, 2.4, 2.2), references) == "meets"
    assert goal.judge(numbers(4.0, 4.8, 4.4), references) == "misses"
    less = NoWorse(more_is_worse=False, factor=1.1)
    assert less.bound(references) == (pytest.approx(1.1 / 1.1), np.inf)
    assert less.judge(numbers(1.0, 1.2, 1.1), references) == "meets"
    assert less.judge(numbers(0.5, 0.6, 0.5), references) == "misses"


def test_no_worse_than_pairs_the_seeds() -> None:
    """Seeds differ by a factor of ten, and the controller is as good on each."""
    references = {"reno": numbers(1.0, 10.0, 5.0), "cubic": numbers(0.5, 5.0, 2.0)}
    assert NoWorse().judge(numbers(1.0, 10.0, 5.0), references) == "meets"


def test_no_worse_than_is_strict_beyond_the_tolerance() -> None:
    references = {"reno": numbers(1.0, 1.1, 0.9, 1.0), "cubic": numbers(0.5, 0.5, 0.5, 0.5)}
    goal = NoWorse(factor=1.1, slack=0.1)
    assert goal.judge(numbers(1.18, 1.22, 1.1, 1.2), references) == "undecided"
    assert goal.judge(numbers(1.5, 1.4, 1.6, 1.5), references) == "misses"
    assert goal.judge(numbers(1.0, 1.2, 1.0, 1.1), references) == "meets"
    zero = {"reno": numbers(0.0, 0.0), "cubic": numbers(0.0, 0.0)}
    assert goal.judge(numbers(0.05, 0.05), zero) == "meets"
    assert goal.judge(numbers(0.5, 0.5), zero) == "misses"


def test_where_the_references_fail_any_value_is_no_worse() -> None:
    references = {"reno": numbers(1.0, NAN, 1.0), "cubic": numbers(1.0, 1.0, 1.0)}
    goal = NoWorse()
    assert goal.judge(numbers(1.0, 9.0, 1.0), references) == "meets"
    assert goal.judge(numbers(1.0, NAN, 1.0), references) == "meets"
    assert goal.judge(numbers(NAN, 1.0, 1.0), references) == "misses"
    nothing = {"reno": numbers(NAN, NAN), "cubic": numbers(1.0, 1.0)}
    assert goal.judge(numbers(9.0, 9.0), nothing) == "meets"
    assert goal.judge(numbers(9.0, NAN), nothing) == "undecided"
    assert goal.bound(nothing) == (-np.inf, np.inf)


def test_goals_say_which_values_are_worse() -> None:
    assert at_most(1.0).worse == "more"
    assert at_least(1.0).worse == "less"
    assert Between(0.0, 1.0).worse == "outside"
    assert NoWorse().worse == "more"
    assert NoWorse(more_is_worse=False).worse == "less"


def test_goals_are_said_with_their_unit() -> None:
    def show(value: float) -> str:
        return f"{100 * value:.0f} %"

    assert at_most(0.05).text(show) == "at most 5 %"
    assert at_least(0.5).text(show) == "at least 50 %"
    assert Between(0.0, 0.5).text(show) == "from 0 % to 50 %"
    assert (
        NoWorse(slack=0.01).text(show) == "at most 1.1 times the larger of reno and cubic, plus 1 %"
    )
    less = NoWorse(more_is_worse=False, factor=1.25).text(show)
    assert less == "at least the smaller of reno and cubic over 1.25"


INF = float("inf")


@pytest.mark.parametrize(
    ("goal", "values", "verdict"),
    [
        (at_most(1.0), (0.5, INF, 0.5), "misses"),
        (at_most(1.0), (INF, INF, INF), "misses"),
        (at_most(1.0), (-INF, 0.5, 0.5), "meets"),
        (at_least(1.0), (-INF, 2.0, 2.0), "misses"),
        (at_least(1.0), (INF, 2.0, 2.0), "meets"),
        (at_least(1.0), (INF, 0.5, 0.5), "misses"),
        (at_least(1.0), (INF, INF), "meets"),
        (Between(0.5, 1.0), (0.7, 0.7, INF), "misses"),
        (Between(0.5, 1.0), (0.7, 0.7, -INF), "misses"),
    ],
)
def test_an_infinite_value_beyond_an_end_misses(
    goal: Goal, values: tuple[float, ...], verdict: str
) -> None:
    assert goal.judge(numbers(*values), {}) == verdict


def test_an_infinite_value_is_no_worse_than_that_of_a_reference() -> None:
    finite = {"reno": numbers(1.0, 1.0, 1.0), "cubic": numbers(1.0, 1.0, 1.0)}
    goal, less = NoWorse(), NoWorse(more_is_worse=False)
    assert goal.judge(numbers(1.0, INF, 1.0), finite) == "misses"
    assert goal.judge(numbers(1.0, -INF, 1.0), finite) == "meets"
    assert less.judge(numbers(1.0, INF, 1.0), finite) == "meets"
    assert less.judge(numbers(1.0, -INF, 1.0), finite) == "misses"
    infinite = {"reno": numbers(1.0, INF, 1.0), "cubic": numbers(1.0, 1.0, 1.0)}
    assert goal.judge(numbers(1.0, INF, 1.0), infinite) == "meets"
    assert goal.judge(numbers(1.0, NAN, 1.0), infinite) == "misses"
    assert goal.judge(numbers(INF, 1.0, 1.0), infinite) == "misses"
    assert goal.bound(infinite) == (-np.inf, pytest.approx(1.1))
    nothing = {"reno": numbers(INF, INF), "cubic": numbers(INF, INF)}
    assert goal.judge(numbers(INF, 9.0), nothing) == "meets"
    assert goal.bound(nothing) == (-np.inf, np.inf)
