"""P1, P2 and the design goals: hand-made cases, their edges, and what no unit may change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch import _core
from anabranch.fairness import (
    Goals,
    balances_congestion,
    design_goals,
    do_no_harm,
    harm,
    p1,
    p2,
)

UP, DOWN = 1 + 1e-9, 1 - 1e-9
RATES = st.floats(0.01, 100.0)
UNITS = st.integers(-20, 20).map(lambda power: 2.0**power)
"""Other units, exact in binary, so that no rounding moves a case across an edge."""


# P1: others lose at least 5 %, the upgraded gain at most 2 %.


@pytest.mark.parametrize(
    ("others_after", "upgraded_after", "problem"),
    [
        (74.0, 100.0, True),  # scenario A as published: .74 of what they had, and no gain
        (95.0, 102.0, True),  # both edges belong to the problem
        (95.0 * UP, 102.0, False),
        (95.0, 102.0 * UP, False),
        (95.0 * DOWN, 102.0 * DOWN, True),
        (100.0, 100.0, False),  # nothing happened
        (105.0, 90.0, False),  # others won
        (50.0, 130.0, False),  # harm with gain is another problem
        (0.0, 0.0, True),  # everybody lost everything
    ],
)
def test_p1_is_harm_of_five_percent_without_a_gain_above_two(
    others_after: float, upgraded_after: float, problem: bool
) -> None:
    assert p1(100.0, others_after, 100.0, upgraded_after) is problem


def test_p1_takes_other_edges_where_they_are_given() -> None:
    assert not p1(100.0, 90.0, 100.0, 100.0, harm=0.2)
    assert p1(100.0, 80.0, 100.0, 100.0, harm=0.2)
    assert p1(100.0, 80.0, 100.0, 110.0, gain=0.25)


@given(RATES, RATES, RATES, RATES, UNITS)
def test_p1_does_not_depend_on_the_unit_of_rates(
    a: float, b: float, c: float, d: float, unit: float
) -> None:
    assert p1(a * unit, b * unit, c * unit, d * unit) is p1(a, b, c, d)


@given(RATES, RATES, RATES, RATES, st.floats(0.0, 1.0))
def test_p1_stays_when_others_lose_more_and_the_upgraded_gain_less(
    a: float, b: float, c: float, d: float, less: float
) -> None:
    if p1(a, b, c, d):
        assert p1(a, b * less, c, d) and p1(a, b, c, d * less)


# P2: both at least 10 % off the fair rates.


@pytest.mark.parametrize(
    ("multipath", "single", "problem"),
    [
        (1.3, 0.7, True),  # scenario C under LIA
        (1.1, 0.9, True),  # both edges belong to the problem
        (1.1 * DOWN, 0.9, False),
        (1.1, 0.9 * UP, False),
        (1.3, 1.0, False),  # more for some, less for nobody
        (1.0, 0.7, False),  # less for some, more for nobody
        (0.7, 1.3, False),
        (1.0, 1.0, False),
    ],
)
def test_p2_is_ten_percent_too_much_for_some_and_too_little_for_others(
    multipath: float, single: float, problem: bool
) -> None:
    assert p2(multipath, single, 1.0, 1.0) is problem


def test_p2_takes_another_margin_where_it_is_given() -> None:
    assert p2(1.05, 0.95, 1.0, 1.0, margin=0.04)
    assert not p2(1.2, 0.8, 1.0, 1.0, margin=0.25)


@given(RATES, RATES, RATES, RATES, UNITS, UNITS)
def test_p2_does_not_depend_on_the_units_of_either_class(
    a: float, b: float, c: float, d: float, one: float, other: float
) -> None:
    assert p2(a * one, b * other, c * one, d * other) is p2(a, b, c, d)


@given(RATES, RATES)
def test_fair_rates_are_never_a_problem(multipath: float, single: float) -> None:
    assert not p2(multipath, single, multipath, single)
    assert not p1(single, single, multipath, multipath)


# The design goals of RFC 6356.


@pytest.mark.parametrize(
    ("rates", "harmless"),
    [
        ([1.0, 2.0], True),
        ([1.1, 2.2], True),  # the edge on both paths
        ([1.1 * UP, 0.0], False),
        ([0.0, 2.2 * UP], False),  # one path is enough
        ([0.0, 0.0], True),
    ],
)
def test_no_harm_is_at_most_a_tenth_above_tcp_on_every_single_path(
    rates: list[float], harmless: bool
) -> None:
    assert do_no_harm(rates, [1.0, 2.0]) is harmless


def test_no_harm_can_be_asked_for_without_any_margin() -> None:
    assert do_no_harm([1.0], [1.0], margin=0.0)
    assert not do_no_harm([UP], [1.0], margin=0.0)


def test_a_path_without_its_tcp_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        do_no_harm([1.0, 1.0], [1.0])


@pytest.mark.parametrize(
    ("losses", "balanced"),
    [
        ({"ap1": 0.02, "ap2": 0.02}, True),
        ({"ap1": 0.02, "ap2": 0.03}, True),  # exactly one and a half
        ({"ap1": 0.02, "ap2": 0.03 * UP}, False),
        ({"ap1": 0.03 * UP, "ap2": 0.02}, False),  # whichever is worse
        ({"a": 0.02, "b": 0.025, "c": 0.04}, False),  # the extremes count
        ({"only": 0.5}, True),
        ({"ap1": 0.0, "ap2": 0.0}, True),
        ({"ap1": 0.0, "ap2": 1e-9}, False),  # any loss is above one and a half times none
    ],
)
def test_congestion_is_balanced_up_to_one_and_a_half_times_the_least_loss(
    losses: dict[str, float], balanced: bool
) -> None:
    assert balances_congestion(losses) is balanced


def test_the_factor_of_balance_can_be_given() -> None:
    assert balances_congestion({"a": 0.01, "b": 0.02}, factor=2.0)
    assert not balances_congestion({"a": 0.01, "b": 0.015}, factor=1.25)


@given(st.dictionaries(st.text(max_size=3), st.floats(1e-6, 1.0), min_size=1), UNITS)
def test_balance_depends_on_ratios_of_losses_alone(losses: dict[str, float], unit: float) -> None:
    scaled = {name: unit * loss for name, loss in losses.items()}
    assert balances_congestion(scaled) is balances_congestion(losses)


@pytest.mark.parametrize(
    ("rates", "losses", "failed"),
    [
        ([1.0, 0.5], (0.02, 0.02), ()),
        ([0.5, 0.39], (0.02, 0.02), (1,)),  # .89 of the best TCP
        ([1.2, 0.0], (0.02, 0.02), (2,)),
        ([1.0, 0.5], (0.01, 0.04), (3,)),
        ([1.0, 1.2], (0.01, 0.04), (2, 3)),
        ([0.1, 0.6], (0.01, 0.04), (1, 2, 3)),
    ],
)
def test_the_goals_that_fail_are_named_by_the_numbers_of_the_rfc(
    rates: list[float], losses: tuple[float, float], failed: tuple[int, ...]
) -> None:
    goals = design_goals(rates, [1.0, 0.5], dict(zip(("ap1", "ap2"), losses, strict=True)))
    assert goals.failed == failed


def test_goal_one_is_met_at_nine_tenths_of_the_best_tcp_and_not_below() -> None:
    equal = {"ap1": 0.02, "ap2": 0.02}
    assert design_goals([0.9, 0.0], [1.0, 0.5], equal).improve_throughput
    assert not design_goals([0.9 * DOWN, 0.0], [1.0, 0.5], equal).improve_throughput


def test_the_numbers_of_the_goals_are_those_of_the_fields() -> None:
    for number in (1, 2, 3):
        assert Goals(*(index != number for index in (1, 2, 3))).failed == (number,)
    assert Goals(True, True, True).failed == ()


@given(
    st.lists(st.tuples(RATES, RATES), min_size=1, max_size=5),
    st.lists(st.floats(1e-6, 0.5), min_size=1, max_size=4),
    UNITS,
)
def test_goals_do_not_depend_on_the_unit_of_rates(
    paths: list[tuple[float, float]], losses: list[float], unit: float
) -> None:
    named = {str(index): loss for index, loss in enumerate(losses)}
    rates, tcp = ([pair[side] for pair in paths] for side in (0, 1))
    scaled = design_goals([x * unit for x in rates], [t * unit for t in tcp], named)
    assert scaled == design_goals(rates, tcp, named)


@given(st.lists(RATES, min_size=1, max_size=5))
def test_a_tcp_on_each_path_meets_the_goals_where_losses_are_equal(tcp: list[float]) -> None:
    assert design_goals(tcp, tcp, {"ap1": 0.02, "ap2": 0.02}).failed == ()


# Harm: the part of what a flow has alone that it loses beside others.


def test_harm_is_the_part_that_is_lost_and_a_gain_is_less_than_none() -> None:
    assert [harm(10.0, beside) for beside in (10.0, 2.5, 0.0)] == [0.0, 0.75, 1.0]
    assert harm(10.0, 12.0) < 0


@given(RATES, RATES, UNITS)
def test_harm_does_not_depend_on_the_unit(alone: float, beside: float, unit: float) -> None:
    assert harm(alone * unit, beside * unit) == harm(alone, beside)


@pytest.mark.parametrize("alone", [0.0, -1.0, float("nan")])
def test_a_flow_that_has_nothing_alone_cannot_be_harmed(alone: float) -> None:
    with pytest.raises(ValueError, match="it must be above 0"):
        harm(alone, 1.0)


@pytest.mark.parametrize("edge", [UP, 1.0, DOWN])
@pytest.mark.parametrize("other", [UP, 1.0, DOWN])
def test_defaults_are_those_of_the_explorer(edge: float, other: float) -> None:
    upgrade = (100.0, 95.0 * edge, 100.0, 102.0 * other)
    assert p1(*upgrade) is _core.p1(*upgrade)
    shares = (1.1 * edge, 0.9 * other, 1.0, 1.0)
    assert p2(*shares) is _core.p2(*shares)
