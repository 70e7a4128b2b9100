"""Fixed points of the shipped laws against closed forms, optima and invariances."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from plans import link, plan, scenario_a, scenario_b, scenario_c, users

from anabranch.theory import (
    Network,
    TheoryError,
    closed_forms,
    equilibrium,
    khalili,
    optimum,
    single_user,
)

MEGA = 1e6
SETTINGS = settings(max_examples=40, deadline=None, derandomize=True)
SMOOTH = ["reno", "ewtcp", "semicoupled", "phi:0.5", "phi:1.5", "lia", "balia"]
TENTH_PERCENT = 1e-3
HALF_PERCENT = 5e-3


def paths(least=1, most=4):
    """Losses and RTTs of some paths."""
    one = st.tuples(st.floats(1e-4, 0.05), st.floats(0.01, 0.4))
    return st.lists(one, min_size=least, max_size=most).map(lambda rows: np.array(rows).T)


def mbps(result):
    """Class rates in Mb/s, in the plan's order."""
    return [rate / MEGA for rate in result.class_rates_bps.values()]


def windows(controller, losses, rtts_s, floor=0.0):
    """Windows of one user at given losses."""
    found = equilibrium(single_user(controller, losses, rtts_s), floor=floor)
    return found.windows["user"]


# One user at imposed losses: the drift's root alone.


@given(paths())
@SETTINGS
def test_reno_settles_at_its_closed_form_on_every_path(path):
    p, rtt = path
    for name in ("reno", "uncoupled"):
        found = windows(name, p, rtt)
        assert found == pytest.approx(closed_forms.reno_windows(p), rel=TENTH_PERCENT)


@given(paths())
@SETTINGS
def test_cubic_has_the_window_of_the_rfc_and_renos_where_that_is_larger(path):
    p, rtt = path
    # RFC 9438 eq. 5 with C = 0.4 and beta = 0.7; losses are 4/3 of the RFC's, as Reno's are here.
    cubic = (0.4 * 3.7 / 1.2) ** 0.25 * (rtt / (0.75 * p)) ** 0.75
    expected = np.maximum(cubic, closed_forms.reno_windows(p))
    assert windows("cubic", p, rtt) == pytest.approx(expected, rel=TENTH_PERCENT)


@given(paths(least=2))
@SETTINGS
def test_coupled_cubic_has_the_rate_of_cubic_on_the_best_path(path):
    p, rtt = path
    alone = windows("cubic", p, rtt) / rtt
    together = windows("coupled-cubic", p, rtt) / rtt
    assert together.sum() == pytest.approx(alone.max(), rel=HALF_PERCENT)
    assert together == pytest.approx(together.sum() * alone**2 / (alone**2).sum(), rel=0.05)


@given(paths())
@SETTINGS
def test_ewtcp_settles_at_its_closed_form(path):
    p, rtt = path
    n = len(p)
    assert windows("ewtcp", p, rtt) == pytest.approx(
        closed_forms.ewtcp_windows(p), rel=TENTH_PERCENT
    )
    literal = closed_forms.ewtcp_windows(p, n**-0.5)
    assert windows("ewtcp:literal", p, rtt) == pytest.approx(literal, rel=TENTH_PERCENT)


@given(paths())
@SETTINGS
def test_semicoupled_settles_at_its_closed_form(path):
    p, rtt = path
    expected = closed_forms.semicoupled_windows(p)
    assert windows("semicoupled", p, rtt) == pytest.approx(expected, rel=TENTH_PERCENT)


@given(paths(least=2), st.sampled_from([0.5, 1.0, 1.5]))
@SETTINGS
def test_the_phi_family_settles_at_its_closed_form(path, phi):
    p, rtt = path
    expected = closed_forms.phi_windows(p, rtt, phi)
    assume(expected.min() > 1e-4 * expected.max())
    assert windows(f"phi:{phi}", p, rtt) == pytest.approx(expected, rel=TENTH_PERCENT)


@given(paths())
@SETTINGS
def test_lia_settles_at_the_loss_throughput_formula_where_its_cap_does_not_bind(path):
    p, rtt = path
    assume(not closed_forms.lia_cap_binds(p, rtt))
    expected = closed_forms.lia_windows(p, rtt)
    assert windows("lia", p, rtt) == pytest.approx(expected, rel=TENTH_PERCENT)


@given(paths(least=2))
@SETTINGS
def test_uncapped_lia_always_settles_at_the_loss_throughput_formula(path):
    p, rtt = path
    expected = closed_forms.lia_windows(p, rtt)
    assert windows("lia:uncapped", p, rtt) == pytest.approx(expected, rel=TENTH_PERCENT)


def test_lia_has_just_tcps_window_on_a_path_where_its_cap_binds():
    p, rtt = np.array([0.02, 0.001]), np.array([0.02, 0.2])
    assert closed_forms.lia_cap_binds(p, rtt)
    assert closed_forms.lia_windows(p, rtt)[1] > 1.3 * np.sqrt(2 / 0.001)
    assert windows("lia", p, rtt)[1] == pytest.approx(np.sqrt(2 / 0.001), rel=TENTH_PERCENT)


@given(paths(least=2))
@SETTINGS
def test_balia_settles_at_its_implicit_relation(path):
    p, rtt = path
    quality = np.sort(p * rtt**2)
    # Nearly equal paths have two stable splits.
    assume(quality[1] > 1.1 * quality[0])
    expected = closed_forms.balia_windows(p, rtt)
    assert windows("balia", p, rtt) == pytest.approx(expected, rel=TENTH_PERCENT)


@given(paths(least=2))
@SETTINGS
def test_olia_carries_tcps_rate_on_its_best_path_alone(path):
    p, rtt = path
    quality = np.sort(p * rtt**2)
    assume(quality[1] > 1.05 * quality[0])
    rates = windows("olia", p, rtt) / rtt
    assert rates.sum() == pytest.approx(closed_forms.best_path_rate(p, rtt), rel=TENTH_PERCENT)
    assert rates.argmax() == (p * rtt**2).argmin()
    assert np.count_nonzero(rates) == 1


@given(paths(least=2))
@SETTINGS
def test_coupled_has_tcps_window_on_the_path_of_least_loss(path):
    p, rtt = path
    ordered = np.sort(p)
    assume(ordered[1] > 1.01 * ordered[0])
    found = windows("fully-coupled", p, rtt)
    assert found.sum() == pytest.approx(closed_forms.coupled_total_window(p), rel=TENTH_PERCENT)
    assert np.count_nonzero(found) == 1


def test_a_floor_keeps_the_worse_paths_at_one_segment():
    found = windows("olia", [0.001, 0.01], [0.1, 0.1], floor=1.0)
    assert found[1] == pytest.approx(1.0)
    assert found[0] > 40.0


# The draft's scenarios.


@pytest.mark.parametrize("rtt", ["base", 0.150, 0.040])
@pytest.mark.parametrize("n1", [10, 30])
def test_lia_has_the_drafts_rates_in_scenarios_a_and_c_whatever_the_rtt(n1, rtt):
    a = equilibrium(Network.from_plan(scenario_a(n1)), rtt=rtt)
    assert mbps(a) == pytest.approx([*khalili.scenario_a_lia(n1, 10)], rel=TENTH_PERCENT)
    c = equilibrium(Network.from_plan(scenario_c(n1)), rtt=rtt)
    assert mbps(c) == pytest.approx([*khalili.scenario_c_lia(n1, 10)], rel=TENTH_PERCENT)


@pytest.mark.parametrize("cx", [18.0, 27.0, 36.0, 45.0])
@pytest.mark.parametrize("upgraded", [False, True])
def test_lia_has_the_drafts_rates_in_scenario_b_at_any_ratio_of_capacities(cx, upgraded):
    found = equilibrium(Network.from_plan(scenario_b(upgraded, cx=cx)))
    expected = khalili.scenario_b_lia(cx, 36.0, upgraded=upgraded)
    assert mbps(found) == pytest.approx([*expected], rel=TENTH_PERCENT)


@given(st.integers(1, 100), st.integers(1, 100), st.floats(0.2, 5.0))
@SETTINGS
def test_lia_has_the_closed_form_in_scenario_a_for_any_users_and_capacities(n1, n2, c1):
    found = equilibrium(Network.from_plan(scenario_a(n1, n2, c1=c1)))
    expected = khalili.scenario_a_lia(n1, n2, c1)
    assert mbps(found) == pytest.approx([*expected], rel=TENTH_PERCENT)


@given(st.integers(1, 100), st.integers(1, 100), st.floats(0.2, 5.0))
@example(10, 10, 1.0 / 3.0)
@SETTINGS
def test_lia_has_the_closed_form_in_scenario_c_for_any_users_and_capacities(n1, n2, c1):
    found = equilibrium(Network.from_plan(scenario_c(n1, n2, c1=c1)))
    expected = khalili.scenario_c_lia(n1, n2, c1)
    assert mbps(found) == pytest.approx([*expected], rel=TENTH_PERCENT)


def test_more_multipath_users_leave_type_two_users_strictly_less():
    rates = [
        mbps(equilibrium(Network.from_plan(scenario_a(n))))[1] for n in (5, 10, 20, 30, 50, 100)
    ]
    assert rates == pytest.approx([0.85, 0.74, 0.59, 0.50, 0.40, 0.29], abs=0.006)


def test_losses_of_scenario_a_are_those_of_the_operating_point():
    found = equilibrium(Network.from_plan(scenario_a(10)), rtt=0.150)
    assert found.link_losses["server"] == pytest.approx(0.0128, rel=TENTH_PERCENT)
    ratio = found.link_losses["ap"] / found.link_losses["server"]
    assert ratio == pytest.approx(1.83, abs=0.005)


def test_lia_takes_capacity_of_the_second_access_point_that_fair_users_would_leave():
    found = equilibrium(Network.from_plan(scenario_c(10)))
    assert found.rates_bps["multi"][1] / MEGA == pytest.approx(0.296, abs=5e-4)


SCENARIOS = [
    scenario_a(10), scenario_a(30), scenario_b(False), scenario_b(True), scenario_c(10),
    scenario_c(30), scenario_c(10, c1=0.5), scenario_c(10, c1=2.0),
]  # fmt: skip


@pytest.mark.parametrize("controller", ["olia", "olia:draft", "fully-coupled"])
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("floor", [0.0, 1.0])
def test_olia_and_coupled_have_the_class_rates_of_the_optimum(scenario, controller, floor):
    network = Network.from_plan(scenario).with_controller(controller)
    best = optimum(network, utility="tcp", floor=floor, rtt=0.150)
    found = equilibrium(network, floor=floor, rtt=0.150)
    assert found.class_rates_bps == pytest.approx(best.class_rates_bps, rel=HALF_PERCENT)


def test_a_finer_mesh_brings_olia_nearer_to_the_optimum():
    network = Network.from_plan(scenario_b(False, controller="olia"))
    errors = [abs(mbps(equilibrium(network, mesh=mesh))[0] - 2.1) for mesh in (0.02, 0.005, 0.002)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.002 * 2.1
    assert equilibrium(network, mesh=0.02).mesh == 0.02
    assert equilibrium(network.with_controller("lia")).mesh == 0.0


# What holds whatever the law.


@pytest.mark.parametrize("controller", [*SMOOTH, "olia", "fully-coupled"])
def test_every_link_is_full_or_lossless(controller):
    network = Network.from_plan(scenario_b(True, controller=controller))
    found = equilibrium(network)
    for name, capacity in zip(found.link_losses, network.capacities_bps, strict=True):
        full = found.link_loads_bps[name] == pytest.approx(capacity, rel=1e-5)
        assert full if found.link_losses[name] > 0 else found.link_loads_bps[name] < capacity


@pytest.mark.parametrize("controller", SMOOTH)
def test_ten_times_the_users_on_ten_times_the_links_change_nothing(controller):
    small = equilibrium(Network.from_plan(scenario_c(3, 2, controller, c1=1.3)))
    large = equilibrium(Network.from_plan(scenario_c(30, 20, controller, c1=1.3)))
    assert mbps(large) == pytest.approx(mbps(small), rel=1e-6)


@pytest.mark.parametrize("controller", SMOOTH)
def test_scaling_every_rtt_changes_losses_but_no_rate(controller):
    network = Network.from_plan(scenario_a(20, controller=controller))
    near, far = (equilibrium(network, rtt=rtt) for rtt in (0.050, 0.100))
    assert mbps(far) == pytest.approx(mbps(near), rel=1e-6)
    for name, loss in near.link_losses.items():
        assert far.link_losses[name] == pytest.approx(loss / 4, rel=1e-5)


@pytest.mark.parametrize("controller", SMOOTH)
def test_scaling_every_capacity_scales_every_rate(controller):
    slow = equilibrium(Network.from_plan(scenario_c(10, 10, controller, 1.2, 0.9)))
    fast = equilibrium(Network.from_plan(scenario_c(10, 10, controller, 120.0, 90.0)))
    assert mbps(fast) == pytest.approx([100 * rate for rate in mbps(slow)], rel=1e-6)


def test_a_private_link_per_user_is_the_same_as_one_shared_by_the_class():
    home = link("home", 2.0, per_user=True)
    shared = link("home", 10.0)
    results = [
        equilibrium(
            Network.from_plan(
                plan("p", [first, link("ap", 4.0)],
                     [users("m", 5, "lia", [[0], [1]]), users("s", 5, "reno", [[1]])])
            )
        )
        for first in (home, shared)
    ]  # fmt: skip
    assert mbps(results[0]) == pytest.approx(mbps(results[1]), rel=1e-6)


def test_random_loss_holds_a_path_below_its_links_capacity():
    links = [link("air", 100.0, loss=0.02), link("wire", 5.0)]
    found = equilibrium(
        Network.from_plan(plan("p", links, [users("m", 1, "uncoupled", [[0], [1]])]))
    )
    assert found.link_losses["air"] == 0.0
    assert found.rates_bps["m"][0] == pytest.approx(10 / 0.110 * 12_000, rel=TENTH_PERCENT)
    assert found.rates_bps["m"][1] == pytest.approx(5 * MEGA, rel=TENTH_PERCENT)


def test_queueing_adds_the_delay_at_which_red_drops_as_much():
    network = Network.from_plan(scenario_a(10))
    found = equilibrium(network, rtt="queueing")
    delay = {item.name: item.queue_delay_s(found.link_losses[item.name]) for item in network.links}
    assert 0.030 < delay["server"] < 0.045
    both = 0.110 + delay["server"] + delay["ap"]
    assert found.rtts_s["type1"] == pytest.approx([0.110 + delay["server"], both], rel=1e-9)


@pytest.mark.parametrize("controller", ["lia", "olia", "balia", "fully-coupled"])
@pytest.mark.parametrize("floor", [0.0, 1.0])
def test_queueing_delays_are_solved_in_every_scenario(controller, floor):
    for scenario in SCENARIOS:
        network = Network.from_plan(scenario).with_controller(controller)
        assert equilibrium(network, rtt="queueing", floor=floor).residual <= 1e-8


# What has no equilibrium says why.


def test_a_path_that_nothing_limits_is_named():
    links = [link("wire", None), link("ap", 1.0)]
    network = Network.from_plan(plan("p", links, [users("m", 1, "lia", [[1], [0]])]))
    with pytest.raises(TheoryError, match="'m', path 1"):
        equilibrium(network)


def test_floors_that_overfill_a_link_name_it():
    with pytest.raises(TheoryError, match="'ap'"):
        equilibrium(Network.from_plan(scenario_a(100)), floor=2.0)


@pytest.mark.parametrize(
    "arguments", [{"rtt": "mean"}, {"rtt": 0.0}, {"floor": -1.0}, {"mesh": 0.0}, {"mesh": 1.0}]
)
def test_arguments_out_of_range_are_refused(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        equilibrium(Network.from_plan(scenario_a(10)), **arguments)
