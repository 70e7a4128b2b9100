"""Coded paths: golden numbers, a model of the deficit, and optima against each other and against
(12).
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.theory import closed_forms, coding
from anabranch.theory.coding import CodedFlow, CodedNetwork, CodedPath

SETTINGS = settings(max_examples=60, deadline=None, derandomize=True)
FEW = settings(max_examples=25, deadline=None, derandomize=True)
LOADS = pytest.mark.parametrize("load", coding.LOADS)
CLAIM = 1e-6
"""The solver's tolerance that `couple.theory.dual` asks for."""


@st.composite
def codings(draw):
    """W, R and p_max within the domain of D."""
    p_max = draw(st.floats(0.02, 0.9))
    covered = draw(st.floats(0.0, 0.98))
    return draw(st.integers(1, 40)), 1.0 + covered * (1.0 / (1.0 - p_max) - 1.0), p_max


# How coding hides congestion.


@pytest.mark.parametrize(
    ("W", "R", "p_max", "D", "p_c", "p_nc"),
    [
        (6, 1.05, 0.2, 39.4, 0.01, 0.00717),
        (6, 1.15, 0.2, 86.3, 0.01, 0.00537),
        (6, 1.05, 0.3, 23.77, 0.02, 0.01355),
    ],
)
def test_hidden_loss_has_its_golden_numbers(W, R, p_max, D, p_c, p_nc):
    assert coding.detection_spacing(W, R, p_max) == pytest.approx(D, rel=2e-3)
    assert coding.hidden_loss(p_c, W, R, p_max) == pytest.approx(p_nc, abs=6e-6)


def test_the_two_forms_of_the_sensed_loss_are_one():
    growth = 1 - 1.05 * 0.7
    other = growth * 0.02 / (growth + 6 * 1.05 * 0.02)  # (6)
    assert coding.hidden_loss(0.02, 6, 1.05, 0.3) == pytest.approx(other, rel=1e-12)


def test_arrays_broadcast_and_numbers_give_a_number():
    found = coding.hidden_loss([[0.01], [0.02]], [1, 6, 40], 1.05, 0.2)
    assert found.shape == (2, 3)
    assert found[0, 1] == coding.hidden_loss(0.01, 6, 1.05, 0.2)
    assert isinstance(coding.detection_spacing(6, 1.05, 0.2), float)


@given(codings(), st.floats(1e-4, 0.5))
@SETTINGS
def test_less_loss_is_sensed_than_there_is_and_less_still_as_window_or_redundancy_rise(way, p_c):
    W, R, p_max = way
    more = R + 0.5 * (1.0 / (1.0 - p_max) - R)
    sensed = coding.hidden_loss(p_c, W, R, p_max)
    assert 0.0 < sensed < p_c
    assert coding.hidden_loss(p_c, W + 1, R, p_max) < sensed
    assert coding.hidden_loss(p_c, W, more, p_max) < sensed


@pytest.mark.parametrize(
    ("R", "p_max", "message"),
    [
        (1.05, 0.04, r"no congestion loss is sensed at all.* R below .* = 1\.04167"),
        (1.3, 0.2, r"R below 1/\(1 - p_max\) = 1\.25"),
        (2.0, 0.5, "R below .* = 2"),
        (1.0, 0.0, "peak loss of 0.* nothing is lost"),
        ([1.05, 1.3], 0.2, r"a redundancy of 1\.3 covers"),
    ],
)
def test_a_redundancy_that_covers_the_peak_loss_is_refused_with_the_largest_that_does_not(
    R, p_max, message
):
    with pytest.raises(ValueError, match=message):
        coding.hidden_loss(0.01, 6, R, p_max)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.01, 0, 1.05, 0.2), "window W is 0"),
        ((0.01, 6, 0.9, 0.2), "redundancy R is 0.9"),
        ((0.01, 6, math.inf, 0.2), "redundancy R is inf"),
        ((0.01, 6, 1.05, 1.0), "p_max is 1"),
        ((0.01, 6, 1.05, -0.1), "p_max is -0.1"),
        ((0.0, 6, 1.05, 0.2), "p_c is 0"),
        ((1.0, 6, 1.05, 0.2), "p_c is 1"),
        ((math.nan, 6, 1.05, 0.2), "p_c is nan"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        coding.hidden_loss(*arguments)


@pytest.mark.parametrize(("W", "R", "p_max"), [(6, 1.05, 0.2), (6, 1.15, 0.2), (20, 1.4, 0.5)])
def test_a_deficit_without_chance_reaches_the_window_after_d_packets(W, R, p_max):
    deficit, packets, due = 0.0, 0, 0.0
    while deficit < W:
        due += R  # The encoder sends whole packets and keeps the fraction.
        packets, due = packets + int(due), due - int(due)
        deficit = (packets + due) / R - (packets + due) * (1 - p_max)
    assert packets == pytest.approx(coding.detection_spacing(W, R, p_max), abs=R + 1)


def packets_until_missed(W, R, p_max, *, credit, start=0, runs=20_000):
    """Mean packets until the deficit of a receiver is W, by chance."""
    rng = np.random.default_rng(7)
    deficit, packets = np.full(runs, start), 0
    while len(deficit := deficit[deficit < W]):
        sent = int(R) + (rng.random(len(deficit)) < R - int(R))
        deficit = deficit + 1 - rng.binomial(sent, 1.0 - p_max)
        if not credit:
            deficit = np.maximum(deficit, 0)
        packets += int(sent.sum())
    return packets / runs


WAYS = pytest.mark.parametrize(
    ("W", "R", "p_max"), [(1, 1.0, 0.2), (6, 1.05, 0.2), (6, 1.15, 0.2), (4, 2.5, 0.7)]
)


@WAYS
def test_a_random_deficit_with_credit_reaches_the_window_after_d_packets_on_average(W, R, p_max):
    found = packets_until_missed(W, R, p_max, credit=True)
    assert found == pytest.approx(coding.detection_spacing(W, R, p_max), rel=0.03)


@WAYS
def test_without_credit_it_is_sooner_and_just_when_the_recursion_says(W, R, p_max):
    exact = coding.detection_spacing_without_credit(W, R, p_max)
    assert packets_until_missed(W, R, p_max, credit=False) == pytest.approx(exact, rel=0.03)
    assert exact <= coding.detection_spacing(W, R, p_max) * (1 + 1e-12)


@given(codings())
@SETTINGS
def test_credit_only_ever_delays_detection(way):
    within = coding.detection_spacing_without_credit(*way) / coding.detection_spacing(*way)
    assert 0.0 < within <= 1.0 + 1e-9


def test_beyond_the_formula_congestion_is_sensed_by_chance():
    exact = coding.detection_spacing_without_credit(6, 1.3, 0.2)
    assert exact == pytest.approx(packets_until_missed(6, 1.3, 0.2, credit=False), rel=0.03)
    assert exact > coding.detection_spacing_without_credit(6, 1.24, 0.2)
    assert coding.detection_spacing_without_credit(6, 1.3, 0.0) == math.inf
    with pytest.raises(ValueError, match="whole number"):
        coding.detection_spacing_without_credit(6.5, 1.3, 0.2)


def test_the_first_loss_is_counted_twice_so_that_even_a_path_without_coding_seems_to_hide_half():
    assert coding.hidden_loss(0.1, 1, 1, 0.1) == pytest.approx(0.05)
    # From the first loss on the deficit is 1, and what is left to the window takes (W - 1)/W of D.
    later = packets_until_missed(6, 1.05, 0.2, credit=True, start=1)
    assert later == pytest.approx(5 / 6 * coding.detection_spacing(6, 1.05, 0.2), rel=0.03)


def test_redundancy_bound_and_redundant_cycle_have_the_papers_numbers():
    assert coding.redundancy_bound([0.01, 0.05, 0.1]) == pytest.approx(
        [1.0101, 1.0526, 1.1111], abs=5e-5
    )
    assert coding.redundant_cycle(1.25) == pytest.approx(5)
    assert coding.redundant_cycle(1.05) == pytest.approx(21)
    assert coding.redundant_cycle(1.15) == pytest.approx(7.67, abs=5e-3)
    for wrong in (lambda: coding.redundant_cycle(1.0), lambda: coding.redundancy_bound(1.0)):
        with pytest.raises(ValueError, match="is 1"):
            wrong()


# AIMD balance.


@given(
    st.lists(st.tuples(st.floats(1e-4, 0.1), st.floats(0.01, 0.4)), min_size=1, max_size=4).map(
        lambda rows: np.array(rows).T
    )
)
@SETTINGS
def test_windows_balance_increase_and_decrease_whether_the_cap_binds_or_not(paths):
    losses, rtts = paths
    windows = coding.aimd_windows(losses, rtts)
    assert np.abs(coding.aimd_residual(windows, losses, rtts)).max() <= CLAIM


def test_the_balance_holds_on_a_path_where_the_cap_binds():
    losses, rtts = np.array([0.02, 0.001]), np.array([0.01, 0.3])
    assert closed_forms.lia_cap_binds(losses, rtts)
    windows = coding.aimd_windows(losses, rtts)
    assert np.abs(coding.aimd_residual(windows, losses, rtts)).max() <= CLAIM
    assert np.abs(coding.aimd_residual(1.1 * windows, losses, rtts)).max() > 1e-4


@pytest.mark.parametrize("loss", [0.001, 0.005, 0.02])
def test_on_one_path_the_balance_is_tcps_window(loss):
    window = coding.aimd_windows([loss], [0.1])[0]
    assert window == pytest.approx(math.sqrt(2 * (1 - loss) / loss), rel=1e-12)
    assert window == pytest.approx(math.sqrt(2 / loss), rel=0.02)
    with pytest.raises(ValueError, match="at most 1/2"):
        coding.aimd_windows([0.6], [0.1])


def test_what_coding_hides_draws_the_window_to_the_coded_path():
    sensed = coding.hidden_loss(0.01, 6, 1.05, 0.2)
    plain, coded = coding.aimd_windows([0.01, sensed], [0.06, 0.06])
    assert coded / plain == pytest.approx(0.01 / sensed, rel=0.01)


# Concavity.


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_utility_of_equal_paths_is_concave_on_the_whole_grid(n):
    p, rtt = np.meshgrid(np.geomspace(0.001, 0.1, 30), np.linspace(0.02, 0.2, 30))
    y = n / coding.sensed_price(p, rtt)
    step = 1e-3 * y
    low, at, high = (coding.utility_of_equal_paths(y + d, n) for d in (-step, 0.0, step))
    assert ((high - 2 * at + low) / step**2 < 0.0).all()
    assert (high - low) / (2 * step) == pytest.approx(coding.sensed_price(p, rtt), rel=1e-5)


def test_the_inverse_of_the_sensed_price_is_a_tcps_rate():
    rate = closed_forms.best_path_rate([0.01], [0.1])
    assert 1 / coding.sensed_price(0.01, 0.1) == pytest.approx(rate)


def test_that_utility_gives_two_paths_over_one_link_two_shares():
    for n, share in ((2.0, 6.0), (1.0, 4.5)):
        pair = CodedFlow("pair", (CodedPath((0,)),) * 2, weight=n)
        found = coding.solve(CodedNetwork((9.0,), (pair, CodedFlow("tcp", (CodedPath((0,)),)))))
        assert found.flow_rates == pytest.approx({"pair": share, "tcp": 9.0 - share}, rel=1e-6)


# Prices of coded paths.


def beside_a_tcp(r=1.05, w=6.0, own=1.0, shared=1.0, utility="log", rivals=0):
    """A flow with a path of its own and a coded one that a TCP shares; `rivals` TCPs on its own
    path.
    """
    multipath = CodedFlow("multipath", (CodedPath((0,)), CodedPath((1,), r, w)), utility)
    others = [CodedFlow("tcp", (CodedPath((1,)),), utility)]
    others += [CodedFlow(f"rival{i}", (CodedPath((0,)),), utility) for i in range(rivals)]
    return CodedNetwork((own, shared), (multipath, *others))


@st.composite
def networks(draw):
    """Up to four flows of either utility over up to four links, with up to three paths each."""
    links = draw(st.integers(1, 4))
    capacities = draw(st.lists(st.floats(1.0, 20.0), min_size=links, max_size=links))
    crossed = st.lists(st.integers(0, links - 1), min_size=1, max_size=2, unique=True).map(tuple)
    one = st.builds(CodedPath, crossed, r=st.floats(1.0, 1.25), w=st.integers(1, 6).map(float))
    flows = [
        CodedFlow(
            f"f{i}",
            tuple(draw(st.lists(one, min_size=1, max_size=3))),
            draw(st.sampled_from(coding.UTILITIES)),
            draw(st.floats(0.5, 3.0)),
        )
        for i in range(draw(st.integers(1, 4)))
    ]
    return CodedNetwork(tuple(capacities), tuple(flows))


def prices(network, allocation, load):
    return coding.path_prices(network, allocation.link_prices, load)


@LOADS
def test_on_one_link_a_coded_flow_pays_its_factor_with_its_goodput(load):
    coded = CodedFlow("coded", (CodedPath((0,), r=1.25, w=4),))
    network = CodedNetwork((10.0,), (coded, CodedFlow("tcp", (CodedPath((0,)),))))
    found = coding.solve(network, load)
    factor = {"paper": 5.0, "packets": 1.25}[load]
    assert found.flow_rates == pytest.approx({"coded": 5.0 / factor, "tcp": 5.0}, rel=1e-8)
    assert found.link_loads == pytest.approx([10.0])
    k = prices(network, found, load).k
    assert k["coded"] == pytest.approx(factor * k["tcp"])
    assert prices(network, found, load).q["coded"] == pytest.approx(k["tcp"])


@LOADS
@given(network=networks())
@FEW
def test_program_and_prices_find_the_same_optimum(load, network):
    program, dual = coding.solve(network, load), coding.solve_dual(network, load)
    assert program.converged and dual.converged
    assert program.residual <= CLAIM and dual.residual <= 1e-9
    for name, rate in program.flow_rates.items():
        assert dual.flow_rates[name] == pytest.approx(rate, rel=CLAIM)
        least = prices(network, program, load).k[name].min()
        assert prices(network, dual, load).k[name].min() == pytest.approx(least, rel=CLAIM)
    assert (program.link_loads <= np.array(network.capacities) * (1 + 1e-9)).all()


@LOADS
@given(network=networks(), factors=st.lists(st.floats(0.1, 10.0), min_size=4, max_size=4))
@FEW
def test_the_dual_bounds_the_optimum_from_above_and_meets_it_at_its_prices(load, network, factors):
    found = coding.solve(network, load)
    met = coding.dual_value(network, found.link_prices, load)
    assert met == pytest.approx(found.utility, rel=1e-6, abs=1e-6)
    others = (found.link_prices + 1e-3) * factors[: len(network.capacities)]
    assert coding.dual_value(network, others, load) >= found.utility - 1e-9 * abs(found.utility)
    # With the last sign of (8) it would be no bound.
    income = float(found.link_prices @ np.asarray(network.capacities))
    assert met - 2.0 * income < found.utility - 0.1 * income


@LOADS
@given(network=networks())
@FEW
def test_the_optimum_has_congestion_equality_and_rates_moved_to_a_dearer_path_have_not(
    load, network
):
    found = coding.solve(network, load)
    k = prices(network, found, load).k
    judged = coding.congestion_equality(k, found.rates, tolerance=CLAIM, unused=CLAIM)
    assert judged.holds and judged.worst <= CLAIM
    for name, rates in found.rates.items():
        dearest = int(k[name].argmax())
        if k[name][dearest] > 1.01 * k[name].min():
            moved = 0.95 * rates
            moved[dearest] += 0.05 * rates.sum()
            after = coding.congestion_equality(k, {**found.rates, name: moved})
            assert not after.holds and not after.flows[name].holds
            assert after.worst >= 0.01 and after.flows[name].excess >= 0.01


@LOADS
@given(
    r=st.floats(1.01, 1.25),
    w=st.floats(1.0, 6.0),
    own=st.floats(0.3, 3.0),
    utility=st.sampled_from(coding.UTILITIES),
    rivals=st.integers(0, 2),
)
@FEW
def test_who_ignores_coding_loads_the_coded_path_beyond_its_price(load, r, w, own, utility, rivals):
    network = beside_a_tcp(r, w, own, utility=utility, rivals=rivals)
    blind, best = coding.ignorant(network, load), coding.solve(network, load)
    assert blind.converged and blind.residual <= 1e-9
    q, k = prices(network, blind, load).q["multipath"], prices(network, blind, load).k["multipath"]
    assert best.utility >= blind.utility - 1e-9
    if (blind.rates["multipath"] > 1e-3 * blind.flow_rates["multipath"]).all():
        assert k[1] > k[0]
        assert q[1] == pytest.approx(q[0], rel=1e-6)
        assert k[1] / k[0] == pytest.approx(network.flows[0].paths[1].factor(load), rel=1e-6)
        assert not coding.congestion_equality({"m": k}, {"m": blind.rates["multipath"]}).holds
        assert best.rates["multipath"][1] < blind.rates["multipath"][1]
        assert best.flow_rates["tcp"] > blind.flow_rates["tcp"]


@LOADS
@given(network=networks())
@FEW
def test_who_ignores_coding_equalises_what_is_sensed_on_any_network(load, network):
    blind = coding.ignorant(network, load)
    q = prices(network, blind, load).q
    assert blind.converged
    assert coding.congestion_equality(q, blind.rates, tolerance=1e-3, unused=1e-3).holds
    # Prices let rates overfill a link by their tolerance, and that much more utility may come out.
    assert coding.solve(network, load).utility >= blind.utility - 1e-8 * (1.0 + abs(blind.utility))


def test_of_two_coded_flows_the_one_whose_coding_costs_less_leaves_the_cheaper_link_to_the_other():
    a = CodedFlow("a", (CodedPath((0,)), CodedPath((1,), w=2.0)))
    b = CodedFlow("b", (CodedPath((0,)), CodedPath((1,), w=4.0)))
    network = CodedNetwork((1.0, 1.0), (a, b))
    blind, best = coding.ignorant(network), coding.solve(network)
    assert best.rates["b"] == pytest.approx([0.75, 0.0], abs=1e-6)
    assert best.rates["a"] == pytest.approx([0.25, 0.5], abs=1e-6)
    assert best.rates["a"][1] > blind.rates["a"][1]  # Its own dearer path carries more.


def test_without_coding_there_is_nothing_to_ignore():
    network = beside_a_tcp(r=1.0, w=1.0)
    blind, best = coding.ignorant(network), coding.solve(network)
    assert blind.flow_rates == pytest.approx(best.flow_rates, rel=1e-7)


def test_the_coding_window_matters_only_where_it_is_counted_as_load():
    narrow, wide = beside_a_tcp(w=1.0, own=0.1), beside_a_tcp(w=6.0, own=0.1)
    packets = [coding.solve(n, "packets").flow_rates["multipath"] for n in (narrow, wide)]
    paper = [coding.solve(n, "paper").flow_rates["multipath"] for n in (narrow, wide)]
    assert packets[0] == pytest.approx(packets[1], rel=1e-9)
    assert paper[0] > 1.1 * paper[1]


def test_a_dual_that_is_stopped_early_says_so():
    found = coding.solve_dual(beside_a_tcp(), most_steps=3)
    assert not found.converged and found.steps == 3 and found.residual > 1e-9


def test_an_unused_path_of_least_price_is_no_violation_though_the_paper_prints_that_it_is_used():
    assert coding.congestion_equality({"m": [0.1, 0.1]}, {"m": [1.0, 0.0]}).holds


def test_congestion_equality_judges_numbers_of_any_world_and_names_the_worst():
    losses = {"a": [0.010, 0.0103], "b": [0.02, 0.026]}
    rates = {"a": [2e6, 1e6], "b": [3e6, 1e5]}
    judged = coding.congestion_equality(losses, rates, tolerance=0.05)
    assert not judged.holds and judged.worst_flow == "b"
    assert judged.worst == pytest.approx(0.3)
    assert judged.flows["a"].holds and judged.flows["b"].used == (0, 1)
    assert coding.congestion_equality(losses, rates, tolerance=0.05, unused=0.05).holds
    assert coding.congestion_equality({"m": [0.0, 0.1]}, {"m": [1, 1]}).worst == math.inf


@pytest.mark.parametrize(
    ("k", "x", "message"),
    [
        ({"a": [1.0]}, {"b": [1.0]}, r"flows \['a'\], rates of \['b'\]"),
        ({}, {}, "one at least"),
        ({"a": [1.0, 2.0]}, {"a": [1.0]}, "2 prices for 1 rates"),
        ({"a": [-1.0]}, {"a": [1.0]}, "at least 0"),
        ({"a": [1.0]}, {"a": [0.0]}, "carries something"),
        ({"a": [math.nan]}, {"a": [1.0]}, "at least 0"),
    ],
)
def test_prices_and_rates_that_do_not_fit_are_refused(k, x, message):
    with pytest.raises(ValueError, match=message):
        coding.congestion_equality(k, x)


PATH = CodedPath((0,))


@pytest.mark.parametrize(
    ("capacities", "flows", "message"),
    [
        ((1.0,), (), "has flows"),
        ((1.0,), (CodedFlow("a", (PATH,)), CodedFlow("a", (PATH,))), "name of its own"),
        ((0.0,), (CodedFlow("a", (PATH,)),), "not all above 0"),
        ((1.0,), (CodedFlow("a", ()),), "'a' has no path"),
        ((1.0,), (CodedFlow("a", (CodedPath((1,)),)),), r"'a': a path crosses links \[1\]"),
        ((1.0,), (CodedFlow("a", (CodedPath(()),)),), r"crosses links \[\]"),
        ((1.0,), (CodedFlow("a", (CodedPath((0, 0)),)),), "none twice"),
        ((1.0,), (CodedFlow("a", (CodedPath((0,), r=0.9),)),), "redundancy 0.9"),
        ((1.0,), (CodedFlow("a", (PATH,), weight=0.0),), "weight is 0"),
    ],
)
def test_a_network_that_makes_no_sense_is_refused(capacities, flows, message):
    with pytest.raises(ValueError, match=message):
        CodedNetwork(capacities, flows)


def test_a_way_to_count_load_that_does_not_exist_and_prices_that_do_not_fit_are_refused():
    network = beside_a_tcp()
    with pytest.raises(ValueError, match="load is 'bytes'; it is one of paper, packets"):
        coding.solve(network, "bytes")
    with pytest.raises(ValueError, match="each of 2 links"):
        coding.path_prices(network, [0.1])


def test_a_flow_with_an_unknown_utility_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="flow 'a': utility is 'sqrt'; it is one of log, inverse"):
        CodedFlow("a", (PATH,), "sqrt")
