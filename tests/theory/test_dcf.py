"""Saturated 802.11 against published tables, closed forms, and a brute-force DCF."""

import functools
import math

import numpy as np
import pytest

from anabranch.theory import dcf
from anabranch.theory.dcf import BIANCHI, FINITE, REFINED, Rules, Windows, contention, phy
from anabranch.theory.dcf.contention import stages

B = phy("b", 11)
G = phy("g", 54)
A = phy("a", 54)

# n: tau, p, Mb/s of Bianchi's model; 1500 bytes, 802.11b at 11 Mb/s with the long preamble, 802.11g
# at 54 Mb/s.
TABLE = {
    "b": {
        1: (0.0606, 0.0, 6.23),
        2: (0.0570, 0.0570, 6.58),
        5: (0.0478, 0.178, 6.52),
        10: (0.0373, 0.290, 6.21),
        20: (0.0264, 0.399, 5.80),
        50: (0.0154, 0.532, 5.17),
    },
    "g": {
        1: (0.1176, 0.0, 30.5),
        2: (0.1046, 0.1046, 31.5),
        5: (0.0761, 0.272, 30.1),
        10: (0.0525, 0.384, 28.3),
        20: (0.0339, 0.481, 26.3),
        50: (0.0183, 0.595, 23.4),
    },
}
DROPS = {2: 2e-9, 5: 5.7e-6, 10: 1.7e-4, 20: 1.7e-3, 50: 1.5e-2}


# --------------------------------------------------------------------------- durations


@pytest.mark.parametrize(
    ("layer", "microseconds"),
    [
        # slot, SIFS, DIFS, EIFS, data frame of 1500 bytes, ACK
        (phy("b", 11), (20, 10, 50, 364, 1310, 248)),
        (phy("b", 1), (20, 10, 50, 364, 192 + 12288, 304)),
        (phy("b", 5.5, preamble="short"), (20, 10, 50, 364, 96 + 2235, 152)),
        (phy("a", 54), (9, 16, 34, 94, 248, 28)),
        (phy("a", 6), (9, 16, 34, 94, 20 + 4 * 513, 44)),
        (phy("g", 54), (9, 10, 28, 88, 254, 34)),
        (phy("g", 54, protection=True), (20, 10, 50, 364, 254, 34)),
        (phy("n", 65, band_ghz=5), (9, 16, 34, 94, 36 + 192, 28)),
        (phy("n", 65, band_ghz=2.4), (9, 10, 28, 88, 36 + 192 + 6, 34)),
        (phy("n", 6.5, band_ghz=5), (9, 16, 34, 94, 36 + 4 * 475, 44)),
        (phy("n", 150, band_ghz=5, width_mhz=40), (9, 16, 34, 94, 36 + 84, 28)),
    ],
)
def test_frames_take_as_long_as_the_standards_say(layer, microseconds):
    data_s = layer.data.duration_s(layer.mpdu_bytes(1500))
    found = (layer.slot_s, layer.sifs_s, layer.difs_s, layer.eifs_s, data_s, layer.ack_s)
    assert np.array(found) * 1e6 == pytest.approx(microseconds, abs=1e-6)


def test_windows_are_those_of_the_standards():
    for layer, w in ((B, 31), (G, 15), (A, 15), (phy("g", 6, protection=True), 15)):
        assert (layer.cw_min, layer.cw_max) == (w, 1023)
    assert B.windows == Windows(32, 5)
    assert G.windows == Windows(16, 6)


def test_acks_go_at_the_highest_basic_rate_that_is_not_above_the_data_rate():
    ack_s = {rate: phy("g", rate).ack_s * 1e6 for rate in (6, 9, 12, 18, 24, 36, 48, 54)}
    assert ack_s[6] == ack_s[9] == pytest.approx(50)
    assert ack_s[12] == ack_s[18] == pytest.approx(38)
    assert {round(ack_s[rate]) for rate in (24, 36, 48, 54)} == {34}


def test_an_exchange_is_frame_sifs_ack_and_difs_and_a_collision_ends_with_eifs():
    exchange = G.exchange(1500)
    assert exchange.success_s * 1e6 == pytest.approx(254 + 10 + 34 + 28)
    assert exchange.collision_s * 1e6 == pytest.approx(254 + 88)
    assert G.exchange(1500, eifs=False).collision_s * 1e6 == pytest.approx(254 + 28)


def test_protection_sends_a_cts_of_two_megabit_before_each_frame():
    exchange = phy("g", 54, protection=True).exchange(1500)
    assert exchange.success_s * 1e6 == pytest.approx(248 + 10 + 254 + 10 + 34 + 50)
    assert exchange.collision_s * 1e6 == pytest.approx(248 + 10 + 254 + 364)
    short = phy("g", 54, protection=True, preamble="short").exchange(1500)
    assert (exchange.success_s - short.success_s) * 1e6 == pytest.approx(96)


def test_forty_megahertz_carry_a_little_over_twice_as_much():
    for narrow, wide in ((6.5, 13.5), (65, 135), (72.2, 150)):
        bits = [
            phy("n", rate, band_ghz=5, width_mhz=width).data
            for rate, width in ((narrow, 20), (wide, 40))
        ]
        assert bits[1].bits_per_symbol / bits[0].bits_per_symbol == pytest.approx(27 / 13)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: phy("ac", 54), "standard is 'ac'; it is one of b, a, g, n"),
        (lambda: phy("g", 11), "rate_mbps is 11; 802.11g has 6, 9, 12, 18, 24, 36, 48, 54"),
        (lambda: phy("b", 54), "rate_mbps is 54; 802.11b with the long preamble has 1, 2, 5.5, 11"),
        (lambda: phy("b", 1, preamble="short"), "with the short preamble has 2, 5.5, 11"),
        (lambda: phy("b", 2, preamble="tiny"), "preamble is 'tiny'; it is one of long, short"),
        (lambda: phy("n", 54, band_ghz=5), "rate_mbps is 54; 802.11n at 20 MHz has 6.5, 7.2, 13,"),
        (lambda: phy("n", 65), "band_ghz is None; 802.11n is in 2.4 or 5"),
        (lambda: phy("n", 65, band_ghz=5, width_mhz=80), "width_mhz is 80"),
        (lambda: phy("a", 54, protection=True), "protection is True; 802.11a has no such choice"),
        (lambda: phy("n", 65, band_ghz=5, protection=True), "802.11n in 5 GHz has no such choice"),
        (lambda: phy("g", 54, band_ghz=2.4), "band_ghz is 2.4; 802.11g has no such choice"),
        (lambda: phy("g", 54, preamble="short"), "preamble is short; 802.11g has no such choice"),
        (lambda: G.exchange(0), "packet_bytes is 0; 802.11 carries packets of 1 to 2296"),
        (lambda: G.exchange(2297), "packet_bytes is 2297"),
        (lambda: G.exchange(1500, 2), "mpdus is 2; 802.11g sends 1, only n aggregates"),
        (lambda: phy("n", 65, band_ghz=5).exchange(1500, 0), "mpdus is 0; an exchange carries"),
        (lambda: phy("n", 65, band_ghz=5).exchange(1500, 43), "at most 64 and 65535 bytes"),
        (lambda: Rules(attempts=0), "attempts is 0; a frame is sent at least once"),
        (lambda: Rules(attempts=-1), "attempts is -1"),
        (lambda: Windows(1, 5), "the first window is 1"),
        (lambda: dcf.saturation(0, G), "n is 0; a cell has at least one station"),
        (lambda: dcf.saturation(2.5, G), "n is 2.5"),
        (lambda: dcf.mixed([]), "n is 0"),
        (lambda: dcf.mixed([B, G]), "stations of 802.11b and 802.11g are in one cell"),
        (lambda: dcf.anomaly_rate_bps(1, B, phy("b", 1)), "n is 1; the anomaly needs"),
        (lambda: dcf.ampdu(G, 1, error=1.0), "error is 1.0; it is in"),
        (lambda: dcf.access_point_share(-1), "uplink_stations is -1; it is 0 or more"),
    ],
)
def test_what_802_11_does_not_have_is_refused_with_what_it_has(ask, says):
    with pytest.raises(ValueError) as error:
        ask()
    assert says in str(error.value)


# --------------------------------------------------------------------------- Bianchi


@pytest.mark.parametrize("standard", ["b", "g"])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 20, 50])
def test_model_without_a_retry_limit_gives_the_reference_table(standard, n):
    tau, p, megabits = TABLE[standard][n]
    cell = dcf.saturation(n, {"b": B, "g": G}[standard], rules=BIANCHI)
    assert cell.contention.tau == pytest.approx(tau, abs=6e-5)
    assert cell.contention.p == pytest.approx(p, abs=6e-4)
    assert cell.throughput_bps / 1e6 == pytest.approx(megabits, rel=2.5e-3)
    assert cell.contention.drop == 0.0


@pytest.mark.parametrize(("n", "drop"), DROPS.items())
def test_seven_attempts_drop_what_the_reference_table_says(n, drop):
    met = dcf.saturation(n, B).contention
    assert met.drop == pytest.approx(drop, rel=0.05)
    assert met.drop == pytest.approx(met.p**7)


@pytest.mark.parametrize(("n", "share"), [(5, 0.810), (10, 0.753), (20, 0.679), (50, 0.553)])
def test_bianchis_own_table_for_frequency_hopping_comes_out(n, share):
    # Payload 8184, headers 272 + 128, ACK 112 + 128 bits at 1 Mb/s; slot 50, SIFS 28, DIFS 128,
    # delay 1 µs.
    frame = 8184 + 272 + 128
    exchange = dcf.Exchange(8184, (frame + 28 + 1 + 240 + 128 + 1) * 1e-6, frame * 1e-6, 129e-6)
    tau = contention(n, Windows(32, 3), BIANCHI).tau
    assert dcf.throughput_bps(n, tau, exchange, 50e-6) / 1e6 == pytest.approx(share, abs=5e-4)


@pytest.mark.parametrize("rules", [BIANCHI, FINITE, REFINED, Rules(None, True, True)])
@pytest.mark.parametrize("layer", [B, G, A, phy("n", 72.2, band_ghz=2.4)])
def test_a_station_alone_waits_half_a_window_and_meets_nobody(layer, rules):
    cell = dcf.saturation(1, layer, rules=rules)
    assert cell.throughput_bps == pytest.approx(dcf.lone_rate_bps(layer), rel=1e-12)
    assert (cell.contention.p, cell.contention.drop) == (0.0, 0.0)


@pytest.mark.parametrize("n", [2, 5, 40, 41, 200])
def test_published_equation_holds_below_and_above_one_half(n):
    w, m = 32, 5
    met = contention(n, Windows(w, m), BIANCHI)
    rest = 1 - 2 * met.p
    tau = 2 * rest / (rest * (w + 1) + met.p * w * (1 - (2 * met.p) ** m))
    assert met.tau == pytest.approx(tau, rel=1e-9)
    assert met.p == pytest.approx(1 - (1 - met.tau) ** (n - 1), rel=1e-9)


def test_one_half_where_the_published_equation_divides_by_zero_is_finite():
    sent, slots = stages(0.5, Windows(32, 5), BIANCHI)
    assert sent / slots == pytest.approx(2 / (1 + 32 + 32 * 5 / 2))


def test_retry_limit_makes_no_difference_when_it_is_far_away():
    near, far = (contention(20, Windows(16, 6), Rules(a, True)) for a in (7, 500))
    without = contention(20, Windows(16, 6), Rules(None, True))
    assert far.tau == pytest.approx(without.tau, rel=1e-9)
    assert near.tau > far.tau


def test_one_attempt_never_doubles_the_window():
    met = contention(5, Windows(16, 6), Rules(attempts=1))
    assert met.tau == pytest.approx(2 / 17)
    assert met.drop == met.p == pytest.approx(1 - (15 / 17) ** 4)


@pytest.mark.parametrize("rules", [BIANCHI, FINITE, REFINED])
@pytest.mark.parametrize("layer", [B, G])
def test_more_stations_collide_more_drop_more_and_each_gets_less(layer, rules):
    cells = [dcf.saturation(n, layer, rules=rules) for n in (1, 2, 3, 5, 10, 20, 50, 100, 500)]
    assert np.all(np.diff([cell.contention.p for cell in cells]) > 0)
    assert np.all(np.diff([cell.contention.tau for cell in cells]) < 0)
    assert np.all(np.diff([cell.contention.drop for cell in cells]) >= 0)
    assert np.all(np.diff([cell.rates_bps[0] for cell in cells]) < 0)


def test_waiting_for_eifs_costs_throughput_and_changes_no_collision():
    with_eifs, without = (dcf.saturation(50, B, rules=Rules(7, eifs)) for eifs in (True, False))
    assert with_eifs.contention == without.contention
    assert with_eifs.throughput_bps / without.throughput_bps == pytest.approx(0.935, abs=0.005)


@pytest.mark.parametrize("layer", [B, G, A])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 20, 50])
def test_plain_and_refined_models_differ_by_less_than_a_simulation_is_allowed(layer, n):
    plain, refined = (dcf.saturation(n, layer, rules=rules) for rules in (FINITE, REFINED))
    assert refined.throughput_bps == pytest.approx(plain.throughput_bps, rel=0.015)
    assert refined.contention.p == pytest.approx(plain.contention.p, abs=0.02)


# --------------------------------------------------------------------------- the anomaly


def test_stations_of_all_rates_get_the_same_and_a_slow_one_drags_them_down():
    fast = dcf.mixed([B] * 4)
    dragged = dcf.mixed([B] * 3 + [phy("b", 1)])
    assert dragged.contention == fast.contention
    assert dragged.rates_bps == pytest.approx([dragged.rates_bps[0]] * 4)
    assert dragged.throughput_bps < 0.45 * fast.throughput_bps
    slow = dcf.mixed([phy("b", 1)] * 4)
    assert dragged.throughput_bps > slow.throughput_bps


@pytest.mark.parametrize("rules", [BIANCHI, FINITE, REFINED])
def test_order_of_stations_does_not_matter_and_equal_ones_are_a_plain_cell(rules):
    rates = (6, 54, 24)
    forth = dcf.mixed([phy("g", rate) for rate in rates], rules=rules)
    back = dcf.mixed([phy("g", rate) for rate in reversed(rates)], rules=rules)
    assert forth.throughput_bps == pytest.approx(back.throughput_bps)
    same = dcf.mixed([G, G, G], rules=rules)
    tau, n = same.contention.tau, 3
    if not rules.frozen:
        exchange = G.exchange(1500, eifs=rules.eifs)
        assert same.throughput_bps == pytest.approx(
            dcf.throughput_bps(n, tau, exchange, G.slot_s), rel=1e-12
        )


def test_a_collision_of_two_rates_lasts_as_long_as_the_slower_frame():
    slow, rules = phy("g", 6), Rules(7, True)
    cell = dcf.mixed([G, slow], rules=rules)
    tau = cell.contention.tau
    alone, both = tau * (1 - tau), tau**2
    mean_s = (1 - tau) ** 2 * G.slot_s + both * slow.exchange().collision_s
    mean_s += alone * (G.exchange().success_s + slow.exchange().success_s)
    assert cell.rates_bps == pytest.approx([alone * 12000 / mean_s] * 2)


@pytest.mark.parametrize(("n", "within"), [(2, 0.04), (3, 0.06), (5, 0.08)])
@pytest.mark.parametrize("rate", [1, 2, 5.5])
def test_published_approximation_of_the_anomaly_is_near_the_fixed_point(n, within, rate):
    slow = phy("b", rate)
    heusse = dcf.anomaly_rate_bps(n, B, slow)
    assert dcf.mixed([B] * (n - 1) + [slow]).rates_bps[0] == pytest.approx(heusse, rel=within)


def test_a_station_of_one_megabit_leaves_a_fast_one_less_than_a_megabit():
    # What the paper's abstract says.
    assert dcf.anomaly_rate_bps(2, B, phy("b", 1)) < 1e6
    assert dcf.mixed([B, phy("b", 1)]).rates_bps[0] < 1e6


def test_an_access_point_is_one_station_among_others():
    assert [dcf.access_point_share(u) for u in (0, 1, 3)] == [1.0, 0.5, 0.25]
    cell = dcf.saturation(4, G)
    assert cell.rates_bps[0] / cell.throughput_bps == pytest.approx(dcf.access_point_share(3))


# --------------------------------------------------------------------------- aggregation

N = phy("n", 65, band_ghz=5)


def test_one_mpdu_is_the_plain_exchange_of_a_station_alone():
    for layer in (B, G, N):
        one = dcf.ampdu(layer, 1)
        assert one.throughput_bps == pytest.approx(dcf.lone_rate_bps(layer), rel=1e-12)
        assert one.exchange_s * one.throughput_bps == pytest.approx(12000)


def test_an_aggregate_has_delimiters_padding_and_a_block_ack():
    # 1538 bytes and a delimiter are 1542, padded to 1544 but for the last one.
    assert N.ampdu_bytes(1500, 3) == 2 * 1544 + 1542
    exchange = N.exchange(1500, 3)
    symbols = math.ceil((22 + 8 * 4630) / 260)
    assert exchange.frame_s * 1e6 == pytest.approx(36 + 4 * symbols)
    assert exchange.success_s - exchange.frame_s == pytest.approx(16e-6 + 32e-6 + 34e-6)
    assert exchange.payload_bits == 3 * 12000


def test_as_many_packets_fit_as_bytes_and_the_block_ack_allow():
    assert dcf.most_mpdus(N, 1500) == 42
    assert dcf.most_mpdus(N, 100) == 64
    assert dcf.most_mpdus(G) == 1
    for size in (100, 960, 1000, 1500, 2296):
        most = dcf.most_mpdus(N, size)
        N.exchange(size, most)
        with pytest.raises(ValueError, match="at most"):
            N.exchange(size, most + 1)


def test_efficiency_rises_with_aggregation_and_nears_that_of_the_headers():
    values = [dcf.ampdu(N, k).efficiency for k in (1, 2, 4, 8, 16, 32, 42)]
    assert np.all(np.diff(values) > 0)
    assert values[0] < 0.6
    assert 0.93 < values[-1] < 1500 / 1544


def test_errors_cost_their_share_of_an_aggregate_and_more_of_a_single_frame():
    for k in (8, 32):
        ratio = dcf.ampdu(N, k, error=0.1).throughput_bps / dcf.ampdu(N, k).throughput_bps
        assert ratio == pytest.approx(0.9, rel=1e-6)
    single = dcf.ampdu(N, 1, error=0.1).throughput_bps / dcf.ampdu(N, 1).throughput_bps
    assert single < 0.89
    assert dcf.ampdu(N, 8, error=0.1).drop == pytest.approx(1e-7)


@pytest.mark.parametrize(("k", "error"), [(1, 0.3), (2, 0.5), (4, 0.2)])
def test_aggregates_with_errors_agree_with_exchanges_that_are_drawn(k, error):
    rng = np.random.default_rng(7)
    exchange, arrived, stage, elapsed_s = N.exchange(1500, k), 0, 0, 0.0
    windows, rounds = Windows(16, 6), 40_000
    for lost in rng.random((rounds, k)) < error:
        elapsed_s += N.slot_s * rng.integers(windows.at(stage))
        arrived += int((~lost).sum())
        elapsed_s += exchange.collision_s if lost.all() else exchange.success_s
        stage = (stage + 1) % 7 if lost.all() else 0
    assert dcf.ampdu(N, k, error=error).throughput_bps == pytest.approx(
        arrived * 12000 / elapsed_s, rel=0.01
    )


# --------------------------------------------------------------------------- brute force


@functools.cache
def drawn(n, layer, frozen, cells=100, accesses=2500):
    """Throughput in bit/s, fraction of attempts that collide and of packets dropped, of a DCF slot
    by slot.

    `cells` of `n` stations run side by side from one busy period to the next, shape (cells, n);
    `accesses` are counted, after 60 for each station. `frozen` counters fall in idle slots only,
    and those of stations that collided one slot later; otherwise they fall across busy slots too.
    Nothing is shared with the models but durations.
    """
    rng = np.random.default_rng(n)
    exchange, attempts = layer.exchange(1500), 7
    stage, counter = np.zeros((cells, n), int), rng.integers(0, layer.cw_min + 1, (cells, n))
    elapsed_s = sent = collided = arrived = dropped = 0.0
    for access in range(-60 * n, accesses):
        idle = counter.min(axis=1, keepdims=True)
        counter -= idle
        sends = counter == 0
        alone = sends.sum(axis=1, keepdims=True) == 1
        clash = sends & ~alone
        given_up = clash & (stage == attempts - 1)
        if access >= 0:
            elapsed_s += idle.sum() * layer.slot_s
            elapsed_s += np.where(alone, exchange.success_s, exchange.collision_s).sum()
            sent += sends.sum()
            collided += clash.sum()
            arrived += alone.sum()
            dropped += given_up.sum()
        stage = np.where(clash & ~given_up, stage + 1, np.where(sends, 0, stage))
        window = np.minimum((layer.cw_min + 1) << stage, layer.cw_max + 1)
        fresh = rng.integers(0, window)
        counter = np.where(sends, fresh + (clash if frozen else 0), counter - (not frozen))
    return (
        arrived * exchange.payload_bits / elapsed_s,
        collided / sent,
        dropped / (arrived + dropped),
    )


@pytest.mark.parametrize("layer", [B, G], ids=["b", "g"])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_plain_model_is_a_dcf_whose_counters_fall_across_busy_slots(n, layer):
    rate_bps, p, drop = drawn(n, layer, frozen=False)
    cell = dcf.saturation(n, layer)
    assert cell.contention.p == pytest.approx(p, abs=0.01)
    assert cell.throughput_bps == pytest.approx(rate_bps, rel=0.01)
    assert cell.contention.drop == pytest.approx(drop, rel=0.2, abs=1e-4)


@pytest.mark.parametrize("layer", [B, G], ids=["b", "g"])
@pytest.mark.parametrize("n", [2, 5, 20, 50])
def test_refined_model_is_a_dcf_whose_counters_freeze(n, layer):
    rate_bps, p, drop = drawn(n, layer, frozen=True)
    cell = dcf.saturation(n, layer, rules=REFINED)
    assert cell.contention.p == pytest.approx(p, abs=0.01)
    assert cell.throughput_bps == pytest.approx(rate_bps, rel=0.01)
    assert cell.contention.drop == pytest.approx(drop, rel=0.2, abs=1e-4)


@pytest.mark.parametrize("layer", [B, G], ids=["b", "g"])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_plain_model_is_near_a_dcf_whose_counters_freeze(n, layer):
    rate_bps, p, _ = drawn(n, layer, frozen=True)
    cell = dcf.saturation(n, layer)
    assert cell.contention.p == pytest.approx(p, abs=0.022)
    assert cell.throughput_bps == pytest.approx(rate_bps, rel=0.03)
