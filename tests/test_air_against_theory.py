"""Saturated stations of 802.11 beside Bianchi's model with seven attempts (`theory.dcf`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.theory import dcf

FASTEST = {"b": 11, "a": 54, "g": 54}
EIFS_US = {
    standard: round(1e6 * dcf.phy(standard, rate).eifs_s) for standard, rate in FASTEST.items()
}
"""With this ACK timeout who collides waits as long as all others, as the model has it; see
docs/explanation/air.md.
"""


def saturated(standard: str, stations: int, seconds: float, **medium: Any) -> ab.Scenario:
    """Stations that always have packets of 1500 bytes for one more, which only receives."""
    names = [f"s{number}" for number in range(stations)]
    udp = {"protocol": "udp", "app_rate": "40 Mb/s", "spread": "10 ms"}
    document = {
        "name": "saturated",
        "duration": f"{seconds + 1} s",
        "warmup": "1 s",
        "medium": [{"name": "air", "standard": standard} | medium],
        "link": [{"name": n, "medium": "air", "from": n, "to": "sink"} for n in names],
        "flow": [{"name": n, "path": [{"links": [n]}]} | udp for n in names],
    }
    return ab.Scenario.written(document, "saturated")


def measured(
    standard: str, stations: int, seconds: float, **medium: Any
) -> tuple[float, float, float]:
    """Throughput in bit/s, part of the transmissions that collide, and part of the packets that are
    given up.
    """
    (run,) = ab.run(saturated(standard, stations, seconds, **medium), [1]).runs
    table = run.stations
    finished = table.acknowledged_packets.sum() + table.failed_packets.sum()
    return (
        float(run.flows.throughput_bps.sum()),
        float(table.unanswered.sum() / table.attempts.sum()),
        float(table.failed_packets.sum() / finished),
    )


@pytest.mark.parametrize("standard", ["b", "a", "g"])
@pytest.mark.parametrize("stations", [1, 2, 5, 10, 20, 50])
def test_throughput_collisions_and_drops_are_those_of_the_model(
    standard: str, stations: int
) -> None:
    phy = dcf.phy(standard, FASTEST[standard])
    timeout = f"{EIFS_US[standard]} us"
    throughput, collided, dropped = measured(standard, stations, 30.0, ack_timeout=timeout)
    for rules in (dcf.FINITE, dcf.REFINED):
        model = dcf.saturation(stations, phy, rules=rules)
        assert throughput == pytest.approx(model.throughput_bps, rel=0.03)
        assert collided == pytest.approx(model.contention.p, abs=0.025)
        if model.contention.drop > 2e-3:
            assert dropped == pytest.approx(model.contention.drop, rel=0.4)


@pytest.mark.parametrize("standard", ["b", "g"])
def test_with_the_standard_s_timeout_those_who_collided_have_some_slots_to_themselves(
    standard: str,
) -> None:
    phy = dcf.phy(standard, FASTEST[standard])
    model = dcf.saturation(50, phy, rules=dcf.REFINED)
    throughput, collided, _ = measured(standard, 50, 30.0)
    assert 1.0 < throughput / model.throughput_bps < 1.08
    assert collided < model.contention.p


@pytest.mark.parametrize("standard", ["b", "g"])
@pytest.mark.parametrize("stations", [10, 20])
def test_with_difs_after_collisions_throughput_is_that_of_the_model_without_eifs(
    standard: str, stations: int
) -> None:
    phy = dcf.phy(standard, FASTEST[standard])
    model = dcf.saturation(stations, phy, rules=dcf.Rules(eifs=False))
    throughput, collided, _ = measured(standard, stations, 30.0, after_collision="difs")
    assert throughput == pytest.approx(model.throughput_bps, rel=0.03)
    assert collided == pytest.approx(model.contention.p, abs=0.025)
    assert throughput > 1.02 * measured(standard, stations, 30.0)[0]


def test_one_slow_station_slows_all_down_as_the_model_of_mixed_rates_says() -> None:
    slow = [{"name": "s0", "rate": "1 Mb/s"}]
    (run,) = ab.run(saturated("b", 5, 120.0, station=slow), [1]).runs
    model = dcf.mixed([dcf.phy("b", 1), *[dcf.phy("b", 11)] * 4])
    rates = np.asarray(run.flows.throughput_bps)
    assert rates == pytest.approx(np.asarray(model.rates_bps), rel=0.06)
