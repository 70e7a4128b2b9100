"""The fluid model against its equilibrium, hand-computed eigenvalues and published characteristic
equations.
"""

import math
from itertools import product

import numpy as np
import pytest
from plans import link, plan, red, scenario_a, scenario_b, scenario_c, users
from scipy.special import lambertw

from anabranch.planned_network import DropTail
from anabranch.scenario import Scenario
from anabranch.theory import (
    Fluid,
    Network,
    TheoryError,
    convergence,
    equilibrium,
    portrait,
    single_user,
    stability,
    starts,
    trajectory,
    watch_s,
)
from anabranch.theory.stability import Linearised, delayed_roots, linearised

SMOOTH = ["reno", "ewtcp", "semicoupled", "lia", "balia"]
SCENARIOS = {"a": scenario_a(10), "b": scenario_b(True), "c": scenario_c(10)}

CAPACITY = 10e6 / 12e3
"""Packets per second of the single link."""


def bottleneck(users_count=10, weight=1.0, rtt_s=0.1, controller="reno", scale=1):
    """Users of one path over one RED link of 10 Mb/s, all times `scale`."""
    queue = red(10e6 * scale, weight=weight)
    links = [link("core", 10.0 * scale, queue=queue)]
    crowd = users("a", users_count * scale, controller, [[0]], [rtt_s])
    return Network.from_plan(plan("one link", links, [crowd]))


def at_rest(fluid):
    """Window, round trip and slope of RED's curve (1/packet) where one class over one link rests."""
    w = fluid.equilibrium.windows["a"][0]
    rtt_s = fluid.equilibrium.rtts_s["a"][0]
    loss = fluid.equilibrium.path_losses["a"][0]
    return w, rtt_s, 0.1 / 25.0 if loss < 0.1 else 0.9 / 50.0


# The rest point.


@pytest.mark.parametrize("controller", SMOOTH)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_moves_at_the_equilibrium_that_the_solver_finds(scenario, controller):
    network = Network.from_plan(SCENARIOS[scenario]).with_controller(controller)
    fluid = Fluid(network)
    change = fluid.derivative(fluid.rest.vector)
    paths = len(network.counts)
    assert np.abs(change[:paths]).max() < 1e-6  # relative, per second
    assert np.abs(change[paths:]).max() < 1e-6 * fluid.capacities.max()  # packets per second
    rates = fluid.class_rates_bps(np.exp(fluid.rest.log_windows), fluid.rest.queues)
    solved = equilibrium(network, rtt="queueing").class_rates_bps
    assert rates == pytest.approx(list(solved.values()), rel=1e-6)


@pytest.mark.parametrize("controller", ["lia", "balia"])
@pytest.mark.parametrize("begin", ["every window at one segment", "every window at twice"])
def test_trajectories_end_at_the_equilibrium_that_the_solver_finds(controller, begin):
    fluid = Fluid(Network.from_plan(scenario_c(10, controller=controller)))
    path = trajectory(fluid, starts(fluid)[begin], duration_s=40.0)
    assert path.windows[-1] == pytest.approx(np.exp(fluid.rest.log_windows), rel=1e-3)
    assert path.queues[-1] == pytest.approx(fluid.rest.queues, rel=1e-3)


def test_olia_ends_within_its_mesh_of_the_equilibrium():
    fluid = Fluid(Network.from_plan(scenario_a(10, controller="olia")))
    begin = starts(fluid)["every window at one segment"]
    path = trajectory(fluid, begin, duration_s=120.0)
    rest = np.array(list(fluid.equilibrium.class_rates_bps.values()))
    assert path.class_rates_bps[-1] == pytest.approx(rest, rel=fluid.mesh)


def test_a_random_loss_alone_needs_no_queue():
    fluid = Fluid(single_user("lia", [0.002, 0.01], [0.1, 0.1]))
    path = trajectory(fluid, {"user": [1.0, 1.0]}, duration_s=60.0)
    expected = equilibrium(single_user("lia", [0.002, 0.01], [0.1, 0.1])).windows["user"]
    assert len(fluid.links) == 0
    assert path.windows[-1] == pytest.approx(expected, rel=1e-3)


def test_queues_stay_between_empty_and_their_limit_and_loads_settle_at_capacity():
    fluid = Fluid(Network.from_plan(scenario_a(30)))
    huge = {"type1": [200.0, 200.0], "type2": [200.0]}
    path = trajectory(fluid, huge, duration_s=30.0)
    assert (path.queues >= 0.0).all() and (path.queues <= fluid.limits + 1e-6).all()
    assert (path.queues.max(axis=0) > 0.9 * fluid.limits).any()
    loads = fluid.loads(path.windows[-1], path.queues[-1])
    assert loads == pytest.approx(fluid.capacities, rel=1e-3)


def test_ten_times_the_users_on_ten_times_the_link_move_as_fast():
    small, large = (Fluid(bottleneck(scale=scale)) for scale in (1, 10))
    assert stability(large).eigenvalues == pytest.approx(stability(small).eigenvalues, rel=1e-4)


def test_a_floor_holds_windows_and_is_no_unknown():
    network = Network.from_plan(scenario_c(10, controller="fully-coupled", c1=2.0))
    fluid = Fluid(network, floor=1.0)
    assert fluid.equilibrium.windows["multi"][1] == pytest.approx(1.0)
    path = trajectory(fluid, {"multi": [10.0, 8.0], "single": [8.0]}, duration_s=60.0)
    assert path.windows[-1, 1] == pytest.approx(1.0, rel=1e-3)
    assert not any("multi, path 1" in name for name in stability(fluid).moves)


# Eigenvalues without delay.


@pytest.mark.parametrize("rtt_s", [0.02, 0.1, 0.3])
def test_reno_on_one_link_has_the_eigenvalues_of_its_two_by_two_matrix(rtt_s):
    # d(dw/dt) = -(2/(wR)) dw - (w² L/(2R)) dq;  d(dq/dt) = (N/R) dw - dq/R.
    fluid = Fluid(bottleneck(rtt_s=rtt_s))
    w, rtt, slope = at_rest(fluid)
    trace = -2.0 / (w * rtt) - 1.0 / rtt
    determinant = 2.0 / (w * rtt**2) + 10.0 * w**2 * slope / (2.0 * rtt**2)
    root = np.emath.sqrt(trace**2 / 4.0 - determinant)
    by_hand = np.array([trace / 2.0 + root, trace / 2.0 - root])
    assert stability(fluid).eigenvalues == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize("weight", [0.002, 1 / 16, 0.5])
def test_averaging_adds_a_pole_at_the_rate_of_the_average(weight):
    fluid = Fluid(bottleneck(weight=weight))
    w, rtt, slope = at_rest(fluid)
    pole = -math.log(1.0 - weight) * CAPACITY
    for s in stability(fluid).eigenvalues:
        open_loop = (s + 2.0 / (w * rtt)) * (s + 1.0 / rtt) * (s + pole)
        gain = pole * 10.0 * w**2 * slope / (2.0 * rtt**2)
        assert abs(open_loop + gain) < 1e-5 * max(abs(open_loop), gain)


def test_a_slow_average_makes_a_stable_link_swing():
    assert stability(Fluid(bottleneck(weight=1.0))).verdict == "stable"
    assert stability(Fluid(bottleneck(weight=0.002, rtt_s=0.3))).verdict == "unstable"


def test_uncoupled_paths_of_random_loss_decay_each_by_itself():
    losses, rtts_s = np.array([0.005, 0.02]), np.array([0.1, 0.05])
    found = stability(Fluid(single_user("uncoupled", losses, rtts_s)))
    by_hand = -np.sqrt(2.0 * losses) / rtts_s  # -2/(w rtt) at w = sqrt(2/p)
    assert found.eigenvalues.real == pytest.approx(np.sort(by_hand)[::-1], rel=1e-6)
    assert found.time_constant_s == pytest.approx(-1.0 / by_hand.max(), rel=1e-6)


def test_an_empty_path_of_coupled_decays_at_the_drift_that_it_would_have():
    fluid = Fluid(single_user("fully-coupled", [0.005, 0.006], [0.1, 0.1]))
    found = stability(fluid)
    w = math.sqrt(2.0 / 0.005)
    by_hand = (1.0 / w - 0.006 * w / 2.0) / 0.1
    at = found.moves.index("window of user, path 1, empty")
    assert found.eigenvalues[at].real == pytest.approx(by_hand, rel=1e-3)
    # With delay: s = (drift/rtt) e^(-s rtt).
    assert np.abs(found.delayed * np.exp(found.delayed * 0.1) / by_hand - 1.0).min() < 1e-3


def test_coupled_on_equal_paths_is_neutral_for_any_split_is_as_good():
    assert (
        stability(Fluid(single_user("fully-coupled", [0.01, 0.01], [0.1, 0.1]))).verdict
        == "neutral"
    )


@pytest.mark.parametrize("controller", ["lia", "balia", "ewtcp"])
def test_the_jacobian_is_that_of_the_equations(controller):
    network = Network.from_plan(scenario_a(10, controller=controller))
    fluid = Fluid(network)
    moving, z = np.flatnonzero(fluid.moving), fluid.rest.vector
    columns = []
    for i in moving:
        step = 1e-6 * max(1.0, abs(z[i]))
        sides = [z.copy(), z.copy()]
        sides[0][i] += step
        sides[1][i] -= step
        up, down = (fluid.derivative(side) for side in sides)
        columns.append(((up - down) / (2.0 * step))[moving])
    matrix = linearised(fluid).undelayed
    assert matrix == pytest.approx(np.array(columns).T, abs=1e-6 * np.abs(matrix).max())


# Eigenvalues with delay.


@pytest.mark.parametrize("gain", [0.2, 1.0, 2.0, 5.0])
def test_delayed_roots_of_a_scalar_equation_are_those_of_lambert(gain):
    # x'(t) = -a x(t - t0) has the roots W_k(-a t0)/t0.
    system = Linearised(np.zeros((1, 1)), np.array([[[-gain]]]), np.array([0.7]), ("x",))
    found, accuracy = delayed_roots(system, 1)
    assert found[0].real == pytest.approx(float((lambertw(-gain * 0.7) / 0.7).real), abs=1e-9)
    assert accuracy < 1e-10


@pytest.mark.parametrize("rtt_s", [0.02, 0.05, 0.1, 0.3])
def test_reno_with_delay_has_the_characteristic_equation_of_hollot_and_others(rtt_s):
    fluid = Fluid(bottleneck(users_count=20, rtt_s=rtt_s))
    _, rtt, slope = at_rest(fluid)
    n, c = 20.0, CAPACITY
    roots = stability(fluid).delayed
    assert len(roots) == 2
    for s in roots:
        plant = (s + 2.0 * n / (rtt**2 * c)) * (s + 1.0 / rtt)
        feedback = c**2 / (2.0 * n) * slope * np.exp(-s * rtt)
        assert abs(plant + feedback) < 1e-5 * max(abs(plant), abs(feedback))


@pytest.mark.parametrize("users_count", [10, 20, 40, 60, 100])
def test_the_verdict_with_delay_is_that_of_the_phase_margin(users_count):
    fluid = Fluid(bottleneck(users_count=users_count, rtt_s=0.06))
    w, rtt, slope = at_rest(fluid)
    first, second = 2.0 / (w * rtt), 1.0 / rtt
    gain = users_count * w**2 * slope / (2.0 * rtt**2)
    crossing = 0.0
    if gain > first * second:
        # |(jω + a)(jω + b)| = gain
        both = first**2 + second**2
        inner = both**2 / 4.0 - (first * second) ** 2 + gain**2
        crossing = math.sqrt(-both / 2.0 + math.sqrt(inner))
    lag = math.atan(crossing / first) + math.atan(crossing / second) + crossing * rtt
    assert stability(fluid).delayed_verdict == ("stable" if lag < math.pi else "unstable")


# Time to converge, and portraits.


def test_settling_takes_longer_the_nearer_it_has_to_come():
    fluid = Fluid(Network.from_plan(scenario_c(10)))
    found = stability(fluid)
    wide, near = (convergence(fluid, found, within=within) for within in (0.2, 0.02))
    for coarse, fine in zip(wide, near, strict=True):
        assert 0.0 < coarse.settles_s <= fine.settles_s < watch_s(fluid, found)


def test_what_does_not_settle_is_infinite_and_not_the_time_watched():
    fluid = Fluid(Network.from_plan(scenario_c(10)))
    short = convergence(fluid, stability(fluid), duration_s=0.3)
    assert math.isinf(short[0].settles_s) and short[0].watched_s == 0.3


def test_the_slowest_eigenvalue_tells_the_last_of_the_way():
    fluid = Fluid(single_user("reno", [0.005], [0.1]))
    rest = fluid.equilibrium.windows["user"][0]
    path = trajectory(fluid, {"user": [0.99 * rest]}, duration_s=5.0)
    slowest_s = stability(fluid).time_constant_s
    away = np.log(rest / path.windows[[0, -1], 0])
    assert math.log(away[0] / away[1]) == pytest.approx(5.0 / slowest_s, rel=0.02)


def test_every_curve_of_a_portrait_begins_on_the_box_and_ends_at_rest():
    fluid = Fluid(Network.from_plan(scenario_c(10)))
    seen = portrait(fluid, duration_s=30.0)
    assert seen.axes == ("multi.0", "multi.1")
    assert len({tuple(curve[0].round(6)) for curve in seen.curves}) == len(seen.curves) == 12
    for curve in seen.curves:
        assert curve[-1] == pytest.approx(seen.rest, rel=5e-3)


@pytest.mark.parametrize(
    ("axes", "message"),
    [(("multi.0", "multi.7"), "no axis 'multi.7'"), (("multi.0", "multi.0"), "two different")],
)
def test_axes_that_there_are_not_are_refused_with_those_that_there_are(axes, message):
    fluid = Fluid(Network.from_plan(scenario_c(10)))
    with pytest.raises(ValueError, match=message):
        portrait(fluid, axes=axes, duration_s=1.0)


# What cannot be asked says why.


@pytest.mark.parametrize(
    ("controller", "question"),
    [("cubic", Fluid), *product(["bbr", "no-such-thing"], [equilibrium, Fluid])],
)
def test_a_controller_without_a_law_has_no_drift_and_the_error_says_so(question, controller):
    network = Network.from_plan(scenario_c(10, controller=controller))
    with pytest.raises(
        TheoryError, match=f"class 'multi': the controller '{controller}' has no drift"
    ):
        question(network)


def test_the_kernels_port_has_the_drift_of_the_law_that_it_ports():
    for law in ("lia", "olia"):
        ours, ports = (
            stability(Fluid(Network.from_plan(scenario_a(10, controller=name))))
            for name in (law, f"kernel:{law}")
        )
        assert ports.eigenvalues == pytest.approx(ours.eigenvalues)


def test_a_congested_droptail_queue_has_no_curve_and_is_named():
    queue = DropTail(limit_packets=50, limit_bytes=None)
    links = [link("wire", 10.0, queue=queue)]
    network = Network.from_plan(plan("p", links, [users("a", 2, "reno", [[0]])]))
    with pytest.raises(TheoryError, match="'wire' is congested and its queue is droptail"):
        Fluid(network)


def test_an_idle_droptail_queue_is_no_obstacle():
    queue = DropTail(limit_packets=50, limit_bytes=None)
    links = [link("wire", 100.0, queue=queue, loss=0.01)]
    network = Network.from_plan(plan("p", links, [users("a", 2, "reno", [[0]], [0.1])]))
    found = stability(Fluid(network))
    assert found.verdict == "stable"
    assert found.eigenvalues.real == pytest.approx([-math.sqrt(0.02) / 0.1], rel=1e-5)


@pytest.mark.parametrize(
    ("windows", "queues", "message"),
    [
        ({"multi": [1.0], "single": [1.0]}, {}, "class 'multi'"),
        ({"multi": [1.0, 0.0], "single": [1.0]}, {}, "positive"),
        ({"multi": [1.0, 1.0], "single": [1.0]}, {"moon": 1.0}, "'moon'"),
        ({"multi": [1.0, 1.0], "single": [1.0]}, {"ap1": 1e6}, "from 0 to 200"),
    ],
)
def test_starts_that_do_not_fit_are_refused(windows, queues, message):
    fluid = Fluid(Network.from_plan(scenario_c(10)))
    with pytest.raises(ValueError, match=message):
        trajectory(fluid, windows, queues=queues, duration_s=1.0)


# Many users.


def test_a_thousand_users_by_classes_are_solved_like_ten():
    few, many = (Network.from_plan(scenario_c(n, n)) for n in (10, 1000))
    small, large = (equilibrium(network, rtt="queueing") for network in (few, many))
    assert large.class_rates_bps == pytest.approx(small.class_rates_bps, rel=1e-6)
    assert stability(Fluid(many)).verdict == "stable"


def test_a_thousand_users_in_twenty_classes_over_ten_links_fill_them():
    # The solver's work grows with classes and links, not with users.
    links = [link(f"l{i}", 50.0 + 10.0 * i) for i in range(10)]
    classes = [
        users(f"c{i}", 50, "lia", [[i % 10], [(3 * i + 1) % 10]], [0.05 + 0.01 * i, 0.12])
        for i in range(20)
    ]
    network = Network.from_plan(plan("crowd", links, classes))
    found = equilibrium(network, rtt="queueing")
    assert network.counts.sum() == 2000.0 and found.residual < 1e-8
    total = 50 * sum(found.class_rates_bps.values())
    assert total <= network.capacities_bps.sum() * (1 + 1e-6)
    for index, name in enumerate(found.link_losses):
        if found.link_losses[name] > 0.0:
            capacity = network.capacities_bps[index]
            assert found.link_loads_bps[name] == pytest.approx(capacity, rel=1e-5)


def test_a_scenario_file_with_a_thousand_users_is_solved():
    text = """
        name = "crowd"
        duration = "10 s"
        [[link]]
        name = "home"
        rate = "2 Mb/s"
        per_user = true
        queue = { red = { min = "5 packets", max = "10 packets", max_p = 0.1, limit = "40 packets" } }
        [[link]]
        name = "core"
        rate = "1 Gb/s"
        delay = "20 ms"
        queue = { red = { min = "500 packets", max = "1000 packets", max_p = 0.1, limit = "4000 packets" } }
        [[flow]]
        name = "a"
        count = 1000
        controller = "lia"
        path = [{ links = ["home", "core"] }, { links = ["core"] }]
        [[flow]]
        name = "b"
        count = 1000
        controller = "reno"
        path = [{ links = ["core"] }]
    """
    network = Network.from_plan(Scenario.parse(text).plan())
    found = equilibrium(network, rtt="queueing")
    used_bps = 1000 * sum(found.class_rates_bps.values())
    assert used_bps == pytest.approx(1e9, rel=1e-5)
    assert stability(Fluid(network)).accuracy < 1e-9
