"""Fair allocations against closed forms, each other and definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import link, plan, scenario_a, scenario_b, scenario_c, users

from anabranch.theory import (
    Network,
    TheoryError,
    alpha_fair,
    equilibrium,
    improvement,
    max_min,
    max_throughput_bps,
    optimum,
    pareto_check,
)

MEGA = 1e6
SETTINGS = settings(max_examples=15, deadline=None, derandomize=True)


def mbps(result):
    """Class rates in Mb/s, in the plan's order."""
    return [rate / MEGA for rate in result.class_rates_bps.values()]


def parking_lot(hops, long=1, short=1, rate=10.0):
    """A class over all of `hops` links in a row, and one class on each of them."""
    links = [link(f"l{i}", rate) for i in range(hops)]
    classes = [users("long", long, "reno", [list(range(hops))])]
    classes += [users(f"s{i}", short, "reno", [[i]]) for i in range(hops)]
    return Network.from_plan(plan("parking lot", links, classes))


@st.composite
def networks(draw, paths=2):
    """Up to five classes over up to four links, each class with at most `paths` paths."""
    rates = draw(st.lists(st.floats(1.0, 50.0), min_size=2, max_size=4))
    crossing = st.lists(st.integers(0, len(rates) - 1), min_size=1, max_size=2, unique=True)
    classes = [
        users(
            f"c{i}",
            draw(st.integers(1, 9)),
            "reno",
            draw(st.lists(crossing, min_size=1, max_size=paths)),
        )
        for i in range(draw(st.integers(1, 5)))
    ]
    links = [link(f"l{i}", rate) for i, rate in enumerate(rates)]
    return Network.from_plan(plan("random", links, classes))


# α-fair.


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, 4.0, 10.0, 32.0])
@pytest.mark.parametrize(("hops", "long", "short"), [(2, 1, 1), (3, 2, 3), (5, 1, 4)])
def test_alpha_fairness_on_a_parking_lot_has_its_closed_form(alpha, hops, long, short):
    # Prices p on each hop: x_long = (hops p)^(-1/α), x_short = p^(-1/α), and every hop is full.
    ratio = hops ** (1.0 / alpha)
    x_long = 10.0 / (long + short * ratio)
    found = mbps(alpha_fair(parking_lot(hops, long, short), alpha))
    assert found == pytest.approx([x_long] + [ratio * x_long] * hops, rel=1e-4)


def test_proportional_fairness_gives_the_long_flow_of_two_hops_a_third():
    assert mbps(alpha_fair(parking_lot(2), 1.0)) == pytest.approx(
        [10 / 3, 20 / 3, 20 / 3], rel=1e-5
    )


@pytest.mark.parametrize("scenario", [scenario_a(30), scenario_b(True), scenario_c(10, c1=0.5)])
def test_alpha_one_is_the_optimum_of_the_logarithm(scenario):
    network = Network.from_plan(scenario)
    assert mbps(alpha_fair(network, 1.0)) == pytest.approx(mbps(optimum(network)), rel=1e-4)


@given(networks())
@SETTINGS
def test_alpha_zero_carries_as_much_as_the_cut_set_allows(network):
    found = alpha_fair(network, 0.0)
    total = sum(c.count * found.class_rates_bps[c.name] for c in network.classes)
    assert total == pytest.approx(max_throughput_bps(network), rel=1e-5)


@given(networks(), st.sampled_from([0.5, 1.0, 2.0, 5.0]))
@SETTINGS
def test_no_link_carries_more_than_its_capacity_and_nothing_is_left_to_gain(network, alpha):
    found = alpha_fair(network, alpha)
    for index, load_bps in enumerate(found.link_loads_bps.values()):
        assert load_bps <= network.capacities_bps[index] * (1 + 1e-7)
    assert pareto_check(network, found.class_rates_bps, tolerance=2e-3).optimal


@pytest.mark.parametrize("hops", [2, 4])
def test_a_larger_alpha_brings_the_allocation_nearer_to_max_min(hops):
    network = parking_lot(hops)
    fair = np.array(mbps(max_min(network)))
    away = [np.abs(mbps(alpha_fair(network, alpha)) - fair).max() for alpha in (1, 2, 4, 8, 16, 32)]
    assert away == sorted(away, reverse=True)
    assert away[-1] < 0.05 * fair.max()


def test_under_proportional_fairness_a_share_is_proportional_to_its_weight():
    classes = [users("a", 2, "reno", [[0]]), users("b", 3, "reno", [[0]])]
    network = Network.from_plan(plan("one", [link("l", 8.0)], classes))
    assert mbps(alpha_fair(network, 1.0, {"b": 2.0})) == pytest.approx([1.0, 2.0], rel=1e-5)


@pytest.mark.parametrize("alpha", [-0.1, 33.0, float("nan")])
def test_an_alpha_out_of_range_is_refused_with_the_range(alpha):
    with pytest.raises(ValueError, match="from 0 to 32"):
        alpha_fair(parking_lot(2), alpha)


@pytest.mark.parametrize(
    ("weights", "message"), [({"x": 1.0}, "no class 'x'"), ({"long": 0.0}, "'long' is 0")]
)
def test_weights_that_do_not_fit_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        alpha_fair(parking_lot(2), 1.0, weights)


# Max-min.


def test_max_min_fills_step_by_step_as_in_textbooks():
    # Link a (1) carries A, B, C: a third each. Link b (1) carries C and D: D gets the two thirds
    # that C leaves. Link c (2) carries D and E: E gets 4/3.
    links = [link("a", 1.0), link("b", 1.0), link("c", 2.0)]
    classes = [
        users("A", 1, "reno", [[0]]),
        users("B", 1, "reno", [[0]]),
        users("C", 1, "reno", [[0, 1]]),
        users("D", 1, "reno", [[1, 2]]),
        users("E", 1, "reno", [[2]]),
    ]
    found = max_min(Network.from_plan(plan("textbook", links, classes)))
    assert mbps(found) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3, 4 / 3], rel=1e-7)
    assert found.bottlenecks["D"] == ("b",) and found.bottlenecks["E"] == ("c",)
    assert {found.bottlenecks[name] for name in "ABC"} == {("a",)}


def test_max_min_pools_links_that_a_multipath_class_reaches():
    # 10 users over both links share with 10 over the second: 20 Mb/s for 20 users.
    assert mbps(max_min(Network.from_plan(scenario_c(10)))) == pytest.approx([1.0, 1.0], rel=1e-6)
    # With 30 Mb/s of their own, the second link is left to the others.
    rich = Network.from_plan(scenario_c(10, c1=3.0))
    assert mbps(max_min(rich)) == pytest.approx([3.0, 1.0], rel=1e-6)


def filled(network):
    """Max-min of single-path classes by progressive filling, Mb/s: the definition, without a
    program.
    """
    counts = network.counts
    used = network.incidence * counts
    room = network.capacities_bps / MEGA
    rates = np.zeros(len(counts))
    rising = np.ones(len(counts), dtype=bool)
    while rising.any():
        demand = used[:, rising].sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(demand > 0, room / demand, np.inf)
        step = steps.min()
        rates[rising] += step
        room = room - step * demand
        full = steps <= step * (1 + 1e-12)
        rising &= ~(network.incidence[full] > 0).any(axis=0)
    return rates


@given(networks(paths=1))
@SETTINGS
def test_on_single_paths_max_min_is_progressive_filling(network):
    assert mbps(max_min(network)) == pytest.approx(filled(network), rel=1e-6)


@given(networks())
@SETTINGS
def test_under_max_min_nobody_can_gain_but_at_the_cost_of_somebody_poorer(network):
    found = max_min(network)
    rates = np.array(list(found.class_rates_bps.values()))
    for index, load_bps in enumerate(found.link_loads_bps.values()):
        assert load_bps <= network.capacities_bps[index] * (1 + 1e-7)
    for poorer in np.unique(rates):
        # Everybody who is richer may be taken down to this level: still no gain for those at it.
        kept = {
            c.name: float(min(r, poorer)) * 0.999999
            for c, r in zip(network.classes, rates, strict=True)
        }
        at_level = [
            c.name for c, r in zip(network.classes, rates, strict=True) if r <= poorer * (1 + 1e-6)
        ]
        better = pareto_check(network, kept, tolerance=1e-4)
        assert better.optimal or better.class_name not in at_level


def test_an_endless_link_alone_has_no_fair_allocation():
    links = [link("wire", None), link("ap", 1.0)]
    network = Network.from_plan(plan("p", links, [users("m", 1, "lia", [[1], [0]])]))
    for question in (max_min, lambda n: alpha_fair(n, 2.0)):
        with pytest.raises(TheoryError, match="'m', path 1"):
            question(network)


# Pareto.


def test_a_dominated_allocation_is_found_dominated_and_what_dominates_it_is_not():
    network = Network.from_plan(scenario_a(10))
    rates_bps = equilibrium(network).class_rates_bps
    better = improvement(network, rates_bps)
    assert better is not None
    assert better.class_rates_bps["type1"] >= rates_bps["type1"] * (1 - 1e-6)
    assert better.class_rates_bps["type2"] == pytest.approx(MEGA, rel=1e-5)
    assert improvement(network, better.class_rates_bps) is None


@given(networks(), st.floats(0.3, 0.95))
@SETTINGS
def test_every_allocation_that_is_scaled_down_is_dominated(network, factor):
    best = max_min(network).class_rates_bps
    less = {name: factor * rate for name, rate in best.items()}
    better = improvement(network, less)
    assert better is not None
    for name, rate in less.items():
        assert better.class_rates_bps[name] >= rate * (1 - 1e-6)
    assert pareto_check(network, better.class_rates_bps, tolerance=1e-5).optimal


def test_a_rich_class_beside_a_poor_one_does_not_make_an_optimum_look_dominated():
    links = [link("thin", 0.01), link("thick", 1000.0)]
    classes = [users("poor", 1, "reno", [[0, 1]]), users("rich", 1, "reno", [[1]])]
    network = Network.from_plan(plan("far apart", links, classes))
    for rates_bps in (max_min(network).class_rates_bps, optimum(network).class_rates_bps):
        assert pareto_check(network, rates_bps, tolerance=1e-4).optimal


def test_rates_that_do_not_fit_have_no_improvement_but_an_error():
    with pytest.raises(TheoryError, match="do not fit"):
        improvement(parking_lot(2), {"long": 1e8, "s0": 1e6, "s1": 1e6})
