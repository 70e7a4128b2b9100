"""Laws with several steady states: how many there are, and which of them windows keep."""

import math
from dataclasses import replace

import numpy as np
import pytest
from plans import link, plan, scenario_c, users

from anabranch.scenario import load
from anabranch.theory import (
    Fluid,
    Network,
    closed_forms,
    equilibrium,
    single_user,
    stability,
    steady_states,
    trajectory,
)

EQUAL = [0.01, 0.01]
NEARLY = [0.01, 0.0102]
RTTS_S = [0.1, 0.1]


def states(controller, losses):
    """Steady states of one user over paths of 100 ms, and their windows."""
    found = steady_states(single_user(controller, losses, [0.1] * len(losses)))
    return found, [state.windows["user"] for state in found]


def balia_ratio(price):
    """α at rest on a path whose loss is `price` times the best one's, where α is above 1.5."""
    return (-5.0 + math.sqrt(25.0 - 4.0 * (4.0 - 15.0 * price))) / 2.0


def test_balia_over_equal_paths_prefers_either_and_leaves_the_even_split():
    found, windows = states("balia", EQUAL)
    assert [state.stability for state in found] == ["stable", "stable", "unstable"]
    assert windows[0][0] / windows[0][1] == pytest.approx(balia_ratio(1.0), rel=1e-6)
    assert windows[1] == pytest.approx(windows[0][::-1])
    assert windows[2][0] == pytest.approx(windows[2][1])
    assert found[2].rightmost_per_s > 0.0 > found[0].rightmost_per_s


@pytest.mark.parametrize("ratio", [1.01, 1.02, 1.03, 1.045, 1.06, 1.08])
def test_balia_over_nearly_equal_paths_is_answered_with_the_better_path_ahead(ratio):
    losses = [0.01, 0.01 * ratio]
    found, windows = states("balia", losses)
    assert [state.stability for state in found] == ["stable", "stable", "unstable"]
    assert windows[0] == pytest.approx(closed_forms.balia_windows(losses, RTTS_S), rel=1e-6)
    assert windows[1][1] / windows[1][0] == pytest.approx(balia_ratio(1.0 / ratio), rel=1e-6)
    # What parts the two has α below 1.5, where α² + 5α + 4 = 10 α / ratio.
    half = 5.0 / ratio - 2.5
    between = half - math.sqrt(half**2 - 4.0)
    assert windows[2][1] / windows[2][0] == pytest.approx(between, rel=1e-6)


def test_balia_has_one_steady_state_where_a_path_is_a_tenth_worse():
    found, windows = states("balia", [0.01, 0.011])
    assert [state.stability for state in found] == ["stable"]
    assert windows[0][0] > windows[0][1]


@pytest.mark.parametrize(
    "controller", ["uncoupled", "ewtcp", "semicoupled", "phi:0.5", "lia", "olia"]
)
@pytest.mark.parametrize("losses", [EQUAL, NEARLY, [0.01, 0.05]])
def test_other_laws_have_one_steady_state_and_keep_it(controller, losses):
    found, _ = states(controller, losses)
    assert [state.stability for state in found] == ["stable"]


def test_splits_that_a_line_joins_are_one_state_which_is_neutral():
    found, windows = states("fully-coupled", EQUAL)
    assert [state.stability for state in found] == ["neutral"]
    assert windows[0].sum() == pytest.approx(closed_forms.coupled_total_window(EQUAL))


def test_balia_over_three_equal_paths_has_a_state_for_each_set_of_paths_ahead():
    found, windows = states("balia", [0.01] * 3)
    ahead = [tuple(np.flatnonzero(w > 0.999 * w.max())) for w in windows]
    assert ahead[:3] == [(0,), (1,), (2,)]
    assert {state.stability for state in found[:3]} == {"stable"}
    assert sorted(ahead[3:]) == [(0, 1), (0, 1, 2), (0, 2), (1, 2)]
    assert {state.stability for state in found[3:]} == {"unstable"}


def test_the_equilibrium_is_the_first_of_the_steady_states():
    network = Network.from_plan(load("khalili/shared-bottleneck").plan(controller="balia"))
    first = steady_states(network, rtt="queueing")[0]
    assert first.stability == "stable"
    answer = equilibrium(network, rtt="queueing").windows
    assert {name: w.tolist() for name, w in answer.items()} == {
        name: w.tolist() for name, w in first.windows.items()
    }


def test_renos_exponent_is_that_of_its_drift():
    # dw/dt = (1 - p w²/2) / rtt has the slope -p w / rtt at w = sqrt(2/p).
    found = steady_states(single_user("reno", [0.01], [0.1]))[0]
    assert found.rightmost_per_s == pytest.approx(-math.sqrt(2 * 0.01) / 0.1, rel=1e-6)


def test_the_fluid_model_leaves_the_unstable_state_for_the_stable_one_at_its_exponent():
    network = Network.from_plan(load("khalili/shared-bottleneck").plan(controller="balia"))
    found = steady_states(network, rtt="queueing")
    kept, _, left = found
    fluid = Fluid(network)
    assert stability(fluid).verdict == "stable"
    off = {name: w * np.linspace(1.001, 0.999, len(w)) for name, w in left.windows.items()}
    way = trajectory(
        fluid, off, queues={"bottleneck": float(fluid.rest.queues[0])}, duration_s=300.0
    )
    assert way.windows[-1][:2] == pytest.approx(kept.windows["multipath"], rel=1e-3)
    apart = np.log(way.windows[:, 0] / way.windows[:, 1])
    early = (apart > 0.005) & (apart < 0.05)
    grown = np.polyfit(way.t_s[early], np.log(apart[early]), 1)[0]
    assert grown == pytest.approx(left.rightmost_per_s, rel=0.05)


def test_a_full_drop_tail_link_is_judged_as_well():
    deep = load("khalili/shared-bottleneck").plan(controller="balia")
    plain = load("khalili/shared-bottleneck").plan(
        controller="balia",
        overrides=['link.bottleneck.queue={ droptail = { packets = "100 packets" } }'],
    )
    verdicts = [
        [state.stability for state in steady_states(Network.from_plan(each), rtt="queueing")]
        for each in (deep, plain)
    ]
    assert verdicts[0] == verdicts[1] == ["stable", "stable", "unstable"]


def test_links_that_make_paths_alike_settle_what_random_losses_leave_open():
    links = [link("left", 10.0), link("right", 10.0)]
    classes = [
        users("multi", 1, "balia", [[0], [1]]),
        users("l", 1, "reno", [[0]]),
        users("r", 1, "reno", [[1]]),
    ]
    found = steady_states(Network.from_plan(plan("two", links, classes)))
    assert [state.stability for state in found] == ["stable"]
    assert found[0].windows["multi"][0] == pytest.approx(found[0].windows["multi"][1])


def test_order_of_paths_does_not_change_the_answer():
    here = scenario_c(10, controller="balia")
    multi, single = here.classes
    there = replace(here, classes=[replace(multi, paths=multi.paths[::-1]), single])
    rates = [
        equilibrium(Network.from_plan(each), rtt="queueing").class_rates_bps
        for each in (here, there)
    ]
    assert rates[0] == pytest.approx(rates[1], rel=1e-6)
