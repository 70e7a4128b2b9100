"""The oracles themselves, against hand-computed numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.theory import closed_forms, khalili

LOSSES = st.lists(st.floats(1e-5, 0.1), min_size=1, max_size=5)
SETTINGS = settings(max_examples=60, deadline=None, derandomize=True)


def paths():
    """Losses and RTTs of 1 to 5 paths."""
    one = st.tuples(st.floats(1e-5, 0.1), st.floats(0.005, 0.5))
    return st.lists(one, min_size=1, max_size=5).map(lambda rows: np.array(rows).T)


def test_reno_has_fourteen_segments_at_one_percent():
    assert closed_forms.reno_windows([0.01])[0] == pytest.approx(math.sqrt(200))


def test_fair_ewtcp_on_equal_paths_totals_one_tcp():
    assert closed_forms.ewtcp_windows([0.01] * 4).sum() == pytest.approx(math.sqrt(200))


def test_literal_ewtcp_takes_n_to_three_quarters_tcps():
    windows = closed_forms.ewtcp_windows([0.01] * 4, weight=4**-0.5)
    assert windows.sum() / math.sqrt(200) == pytest.approx(2.83, abs=0.005)


def test_semicoupled_on_equal_paths_totals_one_tcp():
    assert closed_forms.semicoupled_windows([0.01] * 3).sum() == pytest.approx(math.sqrt(200))


@pytest.mark.parametrize(("phi", "ratio"), [(0.5, 25.0), (1.0, 5.0), (1.5, 2.924)])
def test_phi_family_splits_by_a_power_of_loss(phi, ratio):
    w = closed_forms.phi_windows([0.002, 0.01], [0.1, 0.1], phi)
    assert w[0] / w[1] == pytest.approx(ratio, abs=5e-4)
    assert (w / 0.1).sum() == pytest.approx(closed_forms.best_path_rate([0.002, 0.01], [0.1, 0.1]))


@given(paths())
@SETTINGS
def test_lia_totals_tcp_on_its_best_path_and_splits_by_inverse_loss(path):
    p, rtt = path
    w = closed_forms.lia_windows(p, rtt)
    assert (w / rtt).sum() == pytest.approx(closed_forms.best_path_rate(p, rtt))
    assert w * p == pytest.approx(w[0] * p[0])


@given(LOSSES)
@SETTINGS
def test_lia_cap_never_binds_at_equal_rtts(losses):
    assert not closed_forms.lia_cap_binds(losses, [0.1] * len(losses))


def test_lia_and_phi_one_are_the_same():
    p, rtt = [0.01, 0.003, 0.02], [0.1, 0.2, 0.05]
    lia = closed_forms.lia_windows(p, rtt)
    assert closed_forms.phi_windows(p, rtt, 1.0) == pytest.approx(lia)


@pytest.mark.parametrize(
    ("losses", "share"), [((0.005, 0.01), 0.239), ((0.002, 0.008), 0.156), ((0.01, 0.01), 0.377)]
)
def test_balia_gives_the_second_path_the_published_share(losses, share):
    w = closed_forms.balia_windows(losses, [0.1, 0.1])
    assert min(w) / w.sum() == pytest.approx(share, abs=5e-4)


@given(paths())
@SETTINGS
def test_balia_satisfies_its_implicit_relation(path):
    p, rtt = path
    x = closed_forms.balia_windows(p, rtt) / rtt
    alpha = x.max() / x
    left = (1 + alpha) * (4 + alpha) / (5 * np.minimum(alpha, 1.5))
    if len(p) > 1:
        assert left == pytest.approx(p * rtt**2 * x.sum() ** 2, rel=1e-9)


def test_coupled_has_tcps_window_at_the_least_loss():
    assert closed_forms.coupled_total_window([0.02, 0.005]) == pytest.approx(20.0)


def test_a_loss_of_zero_is_refused():
    with pytest.raises(ValueError, match="probabilities above 0"):
        closed_forms.reno_windows([0.0])


@pytest.mark.parametrize(("n1", "type2"), [(10, 0.739), (30, 0.500)])
def test_scenario_a_has_the_printed_fixed_point(n1, type2):
    rates = khalili.scenario_a_lia(n1, 10)
    assert rates.multipath == 1.0
    assert rates.other == pytest.approx(type2, abs=5e-4)


@pytest.mark.parametrize(("n1", "multi", "single"), [(10, 1.296, 0.704), (30, 1.172, 0.485)])
def test_scenario_c_has_the_printed_fixed_point(n1, multi, single):
    assert khalili.scenario_c_lia(n1, 10) == pytest.approx((multi, single), abs=5e-4)


def test_scenario_b_loses_what_the_equations_say():
    before = khalili.scenario_b_lia(27, 36, upgraded=False)
    after = khalili.scenario_b_lia(27, 36, upgraded=True)
    assert before == pytest.approx((2.551, 1.649), abs=5e-4)
    assert after == pytest.approx((1.983, 1.611), abs=5e-4)
    assert after.multipath / before.multipath - 1 == pytest.approx(-0.223, abs=5e-4)
    assert after.other / before.other - 1 == pytest.approx(-0.023, abs=5e-4)
    assert sum(after) / sum(before) - 1 == pytest.approx(-0.144, abs=5e-4)


def test_scenario_c_is_continuous_where_the_second_access_point_becomes_the_better_one():
    edge = 1.0 / 3.0
    below = khalili.scenario_c_lia(10, 10, edge - 1e-9, 1.0)
    above = khalili.scenario_c_lia(10, 10, edge + 1e-9, 1.0)
    assert below == pytest.approx(above, rel=1e-6)


def test_probing_costs_eighty_kilobits_per_second():
    assert khalili.probing_rate_bps(1500, 0.150) == pytest.approx(80e3)


@pytest.mark.parametrize(
    ("delta", "a10", "a30", "b", "c"),
    [
        (0.06, 0.94, 0.82, 2.07, 1.06),
        (0.08, 0.92, 0.76, 2.06, 1.08),
        (0.12, 0.88, 0.64, 2.04, 1.12),
    ],
)
def test_probing_table_follows_from_the_formulas(delta, a10, a30, b, c):
    assert khalili.scenario_a_optimum(10, 10, probing=delta).other == pytest.approx(a10)
    assert khalili.scenario_a_optimum(30, 10, probing=delta).other == pytest.approx(a30)
    upgraded = khalili.scenario_b_optimum(27, 36, upgraded=True, probing=delta)
    assert upgraded == pytest.approx((b, b))
    assert khalili.scenario_c_optimum(10, 10, probing=delta) == pytest.approx((c, a10))
