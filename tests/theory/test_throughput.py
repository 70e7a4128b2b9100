"""Response functions against golden values and each other."""

import math

import pytest

from anabranch.theory import throughput as t


@pytest.mark.parametrize(
    ("loss", "bytes_per_s"),
    [
        (1e-4, 1_835_465),
        (0.001, 575_765),
        (0.01, 168_498),
        (0.05, 55_288),
        (0.1, 26_552),
        (0.3, 2_923),
        (1.0, 61.6),
    ],
)
def test_tfrc_gives_the_golden_rates(loss, bytes_per_s):
    assert t.tfrc_rate_bps(loss, 0.1, 0.4) / 8 == pytest.approx(bytes_per_s, rel=1e-3)
    assert t.tfrc_rate_bps(loss, 0.1) == t.tfrc_rate_bps(loss, 0.1, 0.4)


def test_square_root_law_of_periodic_losses_gives_its_golden_rate():
    rate_bps = t.sqrt_rate_bps(0.01, 0.1, constant=t.PERIODIC)
    assert rate_bps / 8 == pytest.approx(183_712, abs=1)


def test_balance_constant_is_larger_than_the_periodic_one():
    assert t.sqrt_window(0.01) == pytest.approx(14.142, abs=1e-3)
    assert t.sqrt_window(0.01, t.PERIODIC) == pytest.approx(12.247, abs=1e-3)


def test_pftk_nears_the_periodic_law_where_timeouts_are_rare():
    pftk = t.pftk_rate_bps(1e-7, 0.1, 0.3)
    assert pftk == pytest.approx(t.sqrt_rate_bps(1e-7, 0.1, constant=t.PERIODIC), rel=0.01)


def test_pftk_falls_with_loss():
    rates = [t.pftk_rate_bps(p, 0.1, 0.3) for p in (1e-4, 1e-3, 5e-3, 0.01, 0.02, 0.05, 0.2, 0.9)]
    assert rates == sorted(rates, reverse=True)


def test_pftk_is_held_by_the_window_limit_when_loss_vanishes():
    rate_bps = t.pftk_rate_bps(1e-9, 0.1, 0.3, max_window=20)
    assert rate_bps == pytest.approx(20 * 1500 * 8 / 0.1, rel=1e-3)


def test_pftk_is_nearly_continuous_where_the_window_limit_begins_to_bind():
    window = 1.0 + math.sqrt(8 * 0.99 / (3 * 0.01) + 1.0)  # E[W_u] at b = 1
    free = t.pftk_rate_bps(0.01, 0.1, 0.3, max_window=window + 1e-9)
    held = t.pftk_rate_bps(0.01, 0.1, 0.3, max_window=window - 1e-9)
    # The model's own two branches differ by 2.4 % here.
    assert held == pytest.approx(free, rel=0.03)


def test_delayed_acks_cost_pftk_about_the_root_of_two():
    ratio = t.pftk_rate_bps(1e-6, 0.1, 0.3) / t.pftk_rate_bps(1e-6, 0.1, 0.3, segments_per_ack=2)
    assert ratio == pytest.approx(math.sqrt(2), rel=0.01)


def test_timeouts_make_pftk_lower_than_the_square_root_law():
    assert t.pftk_rate_bps(0.05, 0.1, 0.3) < 0.8 * t.sqrt_rate_bps(0.05, 0.1, constant=t.PERIODIC)


@pytest.mark.parametrize("loss", [0.0, -0.1, 1.5, math.nan])
def test_losses_out_of_range_are_refused(loss):
    for function in (t.sqrt_rate_bps, t.tfrc_rate_bps):
        with pytest.raises(ValueError, match="loss"):
            function(loss, 0.1)
    with pytest.raises(ValueError, match="loss"):
        t.pftk_rate_bps(loss, 0.1, 0.3)


def test_a_round_trip_time_of_zero_is_refused():
    with pytest.raises(ValueError, match="round-trip"):
        t.sqrt_rate_bps(0.01, 0.0)


@pytest.mark.parametrize("loss", [1e-5, 1e-3, 0.01, 0.05])
def test_the_approximation_of_pftk_is_near_the_full_model_at_small_losses(loss):
    full = t.pftk_rate_bps(loss, 0.1, 0.4)
    assert t.pftk_approximate_rate_bps(loss, 0.1, 0.4) == pytest.approx(full, rel=0.03)


@pytest.mark.parametrize("loss", [1e-4, 0.01, 0.2])
def test_tfrcs_equation_is_pftks_approximation_while_timeouts_are_not_certain(loss):
    approximate = t.pftk_approximate_rate_bps(loss, 0.1, 0.4)
    assert t.tfrc_rate_bps(loss, 0.1) == pytest.approx(approximate, rel=1e-12)


def test_where_timeouts_are_certain_tfrcs_equation_asks_for_less_than_pftk():
    assert t.tfrc_rate_bps(0.5, 0.1) < t.pftk_approximate_rate_bps(0.5, 0.1, 0.4)


def test_the_approximation_is_held_by_the_window_limit_exactly():
    rate_bps = t.pftk_approximate_rate_bps(1e-6, 0.1, 0.3, max_window=20)
    assert rate_bps == 20 / 0.1 * 1500 * 8


def test_the_corrected_equation_of_tses_thesis_gives_eleven_packets_a_round_trip_at_one_percent():
    # f(1 %) = 0.0890, so X R / s = 1/f.
    packets = t.tfrc_rate_bps(0.01, 0.1) * 0.1 / (1500 * 8)
    assert packets == pytest.approx(11.23, abs=0.005)


def test_delayed_acks_cost_the_square_root_law_the_root_of_their_number():
    assert t.sqrt_window(0.01, segments_per_ack=2) == pytest.approx(10.0)
    with pytest.raises(ValueError, match="segments for an ACK"):
        t.sqrt_rate_bps(0.01, 0.1, segments_per_ack=0)


@pytest.mark.parametrize("loss", [1e-5, 0.003, 0.1, 0.7])
def test_the_loss_at_a_rate_is_the_one_that_gave_it(loss):
    for response in (lambda p: t.tfrc_rate_bps(p, 0.1), lambda p: t.pftk_rate_bps(p, 0.1, 0.4)):
        assert t.loss_at_rate(response, response(loss)) == pytest.approx(loss, rel=1e-9)


def test_a_rate_that_no_loss_gives_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="it is from"):
        t.loss_at_rate(lambda p: t.tfrc_rate_bps(p, 0.1), 1.0)
