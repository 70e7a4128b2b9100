"""Convex programs against the formulas they should reproduce."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plans import link, plan, scenario_a, scenario_b, scenario_c, users

from anabranch.theory import (
    Network,
    TheoryError,
    equilibrium,
    khalili,
    max_throughput_bps,
    optimum,
    pareto_check,
)

MEGA = 1e6
DELTA = 0.08
PROBING = {"floor": 1.0, "rtt": 0.150}
UTILITIES = pytest.mark.parametrize("utility", ["log", "tcp"])


def mbps(result):
    """Class rates in Mb/s, in the plan's order."""
    return [rate / MEGA for rate in result.class_rates_bps.values()]


@UTILITIES
@pytest.mark.parametrize("n1", [10, 30])
def test_without_probing_everyone_gets_one_megabit_in_scenarios_a_and_c(n1, utility):
    for scenario in (scenario_a, scenario_c):
        network = Network.from_plan(scenario(n1))
        assert mbps(optimum(network, utility=utility)) == pytest.approx([1, 1], rel=1e-5)


@UTILITIES
@pytest.mark.parametrize("upgraded", [False, True])
def test_without_probing_everyone_gets_two_point_one_megabits_in_scenario_b(upgraded, utility):
    network = Network.from_plan(scenario_b(upgraded))
    assert mbps(optimum(network, utility=utility)) == pytest.approx([2.1, 2.1], rel=1e-5)


@UTILITIES
@pytest.mark.parametrize("n1", [10, 30])
def test_probing_costs_what_the_formulas_say(n1, utility):
    a = optimum(Network.from_plan(scenario_a(n1)), utility=utility, **PROBING)
    assert mbps(a) == pytest.approx([*khalili.scenario_a_optimum(n1, 10, probing=DELTA)], rel=1e-5)
    c = optimum(Network.from_plan(scenario_c(n1)), utility=utility, **PROBING)
    assert mbps(c) == pytest.approx([*khalili.scenario_c_optimum(n1, 10, probing=DELTA)], rel=1e-5)


@UTILITIES
@pytest.mark.parametrize("upgraded", [False, True])
def test_probing_costs_scenario_b_half_a_segment_per_rtt_after_the_upgrade(upgraded, utility):
    found = optimum(Network.from_plan(scenario_b(upgraded)), utility=utility, **PROBING)
    formula = khalili.scenario_b_optimum(27, 36, upgraded=upgraded, probing=DELTA)
    assert mbps(found) == pytest.approx([*formula], rel=1e-5)


@UTILITIES
@pytest.mark.parametrize("c1", [0.5, 0.75, 1.0, 1.5, 2.0])
def test_fair_users_touch_the_second_access_point_only_when_theirs_is_smaller(c1, utility):
    found = optimum(Network.from_plan(scenario_c(10, c1=c1)), utility=utility)
    second = found.rates_bps["multi"][1] / MEGA
    if c1 >= 1.0:
        assert 0.0 <= second <= 1e-6
    else:
        assert second == pytest.approx((1.0 - c1) / 2, rel=1e-4)
        assert mbps(found) == pytest.approx([(1 + c1) / 2] * 2, rel=1e-5)


def test_log_prices_are_the_inverse_of_rates():
    found = optimum(Network.from_plan(scenario_b(True)))
    for name in ("X", "T"):
        assert 1.0 / found.link_prices[name] == pytest.approx(2.1 * MEGA, rel=1e-4)
    assert found.link_prices["Y"] == found.link_prices["Z"] == 0.0


def test_tcp_prices_are_the_losses_at_which_tcp_has_these_rates():
    found = optimum(Network.from_plan(scenario_c(10)), utility="tcp", rtt=0.150)
    assert found.link_prices["ap1"] == pytest.approx(2 * (12_000 / 0.150 / 1e6) ** 2, rel=1e-4)


def test_the_cut_set_of_scenario_b_is_sixty_three_megabits():
    for upgraded in (False, True):
        bound = max_throughput_bps(Network.from_plan(scenario_b(upgraded)))
        assert bound == pytest.approx(63 * MEGA)


def test_lia_is_not_pareto_optimal_in_scenario_a_and_tcp_is():
    network = Network.from_plan(scenario_a(10))
    check = pareto_check(network, equilibrium(network).class_rates_bps)
    assert not check.optimal
    assert check.class_name == "type2"
    assert check.headroom == pytest.approx(1 / 0.739 - 1, abs=1e-3)
    single = plan(
        "a",
        [link("server", 10.0), link("ap", 10.0)],
        [users("type1", 10, "reno", [[0]]), users("type2", 10, "reno", [[1]])],
    )
    tcp = Network.from_plan(single)
    assert pareto_check(tcp, equilibrium(tcp).class_rates_bps).optimal


def test_upgrading_red_users_to_lia_leaves_the_pareto_boundary():
    before, after = (Network.from_plan(scenario_b(upgraded)) for upgraded in (False, True))
    assert pareto_check(before, equilibrium(before).class_rates_bps).optimal
    assert not pareto_check(after, equilibrium(after).class_rates_bps).optimal


def test_the_optimum_is_pareto_optimal():
    for scenario in (scenario_a(30), scenario_b(True), scenario_c(30)):
        network = Network.from_plan(scenario)
        assert pareto_check(network, optimum(network).class_rates_bps).optimal


def test_rates_that_do_not_fit_are_refused():
    network = Network.from_plan(scenario_a(10))
    with pytest.raises(TheoryError, match="do not fit"):
        pareto_check(network, {"type1": 2 * MEGA, "type2": MEGA})


def test_floors_that_overfill_a_link_are_refused_by_its_name():
    with pytest.raises(TheoryError, match="'ap'"):
        optimum(Network.from_plan(scenario_a(100)), floor=2.0, rtt=0.150)


def test_floors_are_inversely_proportional_to_the_round_trips_of_their_paths():
    network = Network.from_plan(scenario_c(10))
    rtts_s = {"multi": [0.050, 0.200], "single": [0.100]}
    floors = optimum(network, floor=1.0, rtt=rtts_s).floors_bps
    assert floors["multi"] == pytest.approx([12_000 / 0.050, 12_000 / 0.200])
    assert floors["single"] == pytest.approx([12_000 / 0.100])
    alike = {"multi": [0.150, 0.150], "single": [0.150]}
    assert mbps(optimum(network, floor=1.0, rtt=alike)) == mbps(optimum(network, **PROBING))


def test_the_tcp_utility_weighs_a_class_by_its_least_round_trip():
    network = Network.from_plan(scenario_c(10))
    found = optimum(network, utility="tcp", rtt={"multi": [0.300, 0.050], "single": [0.100]})
    rates_bps, prices = found.class_rates_bps, found.link_prices
    assert rates_bps["multi"] == pytest.approx(2 * rates_bps["single"], rel=1e-4)
    assert rates_bps["single"] == pytest.approx(
        12_000 / 0.100 * np.sqrt(2 / prices["ap2"]), rel=1e-3
    )


def test_round_trips_by_class_follow_an_equilibrium():
    network = Network.from_plan(scenario_c(10))
    found = equilibrium(network, rtt="queueing")
    floors = optimum(network, floor=1.0, rtt=found.rtts_s).floors_bps
    for name, rtts_s in found.rtts_s.items():
        assert floors[name] == pytest.approx(12_000 / rtts_s)


@pytest.mark.parametrize(
    "rtt",
    [
        "queueing",
        0.0,
        {"multi": [0.1, 0.1]},
        {"multi": [0.1], "single": [0.1]},
        {"multi": [0.1, -0.1], "single": [0.1]},
    ],
)
def test_round_trips_that_do_not_fit_are_refused(rtt):
    with pytest.raises(ValueError, match="rtt"):
        optimum(Network.from_plan(scenario_c(10)), rtt=rtt)


def test_unknown_utilities_are_refused():
    with pytest.raises(ValueError, match="log, tcp"):
        optimum(Network.from_plan(scenario_a(10)), utility="alpha")


@st.composite
def networks(draw):
    """Up to four classes over up to four links, each class with one or two paths."""
    rates = draw(st.lists(st.floats(1.0, 100.0), min_size=2, max_size=4))
    crossing = st.lists(st.integers(0, len(rates) - 1), min_size=1, max_size=2, unique=True)
    classes = [
        users(
            f"c{i}",
            draw(st.integers(1, 20)),
            "reno",
            draw(st.lists(crossing, min_size=1, max_size=2)),
        )
        for i in range(draw(st.integers(1, 4)))
    ]
    links = [link(f"l{i}", rate) for i, rate in enumerate(rates)]
    return Network.from_plan(plan("random", links, classes))


@given(networks(), st.sampled_from(["log", "tcp"]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_optimum_fits_its_links_and_satisfies_the_kkt_conditions(network, utility):
    found = optimum(network, utility=utility, rtt=0.1)
    for i, name in enumerate(found.link_loads_bps):
        assert found.link_loads_bps[name] <= network.capacities_bps[i] * (1 + 1e-6)
    prices = np.array(list(found.link_prices.values()))
    for c, part in zip(network.classes, network.slices, strict=True):
        least = (network.incidence.T @ prices)[part].min()
        rate_bps = found.class_rates_bps[c.name]
        wanted = 1 / least if utility == "log" else np.sqrt(2 / least) / 0.1 * 12_000
        assert rate_bps == pytest.approx(wanted, rel=1e-3)


@given(networks(), st.sampled_from(["log", "tcp"]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_a_link_has_a_price_just_where_it_is_full(network, utility):
    best = optimum(network, utility=utility, rtt=0.1)
    found = equilibrium(network.with_controller("lia"), rtt=0.1)
    for link_, capacity_bps in zip(network.links, network.capacities_bps, strict=True):
        idle = best.link_loads_bps[link_.name] < (1 - 1e-6) * capacity_bps
        assert (best.link_prices[link_.name] == 0.0) == idle
        idle = found.link_loads_bps[link_.name] < (1 - 1e-6) * capacity_bps
        assert (found.link_losses[link_.name] == 0.0) == idle


@given(networks())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_coupled_reaches_the_optimum_of_the_tcp_utility_on_any_network(network):
    best = optimum(network, utility="tcp", rtt=0.1).class_rates_bps
    found = equilibrium(network.with_controller("fully-coupled"), rtt=0.1)
    assert found.class_rates_bps == pytest.approx(best, rel=1e-4)


def two_links(fast, *classes):
    """A link of 1 Mb/s and a fast one, with how many users of each class over which paths."""
    made = [users(f"c{i}", count, "reno", paths) for i, (count, paths) in enumerate(classes)]
    return Network.from_plan(plan("two", [link("l0", 1.0), link("l1", fast)], made))


def test_links_are_filled_where_one_is_much_faster_than_the_other():
    network = two_links(27.0, (2, [[0]]), (1, [[0], [1]]))
    loads = optimum(network, utility="tcp", rtt=0.1).link_loads_bps
    assert list(loads.values()) == pytest.approx([1e6, 27e6], rel=1e-9)


def test_a_path_that_loses_hardly_more_than_its_sibling_is_found_to_be_empty():
    network = two_links(23.0, (4, [[0]]), (1, [[1]]), (1, [[0], [0, 1]]))
    found = equilibrium(network.with_controller("fully-coupled"), rtt=0.1)
    assert found.path_losses["c2"] == pytest.approx([0.72, 0.72005], rel=1e-5)
    assert found.windows["c2"] == pytest.approx([5 / 3, 0.0], rel=1e-5)


@given(networks())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_olia_reaches_it_where_losses_differ_by_more_than_the_mesh(network):
    found = equilibrium(network.with_controller("olia"), rtt=0.1)
    busy = [loss for loss in found.link_losses.values() if loss > 0.0]
    assume(min(busy) > 20 * found.mesh * max(busy))
    best = optimum(network, utility="tcp", rtt=0.1).class_rates_bps
    assert found.class_rates_bps == pytest.approx(best, rel=0.02)
