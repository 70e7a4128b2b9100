"""What makes a run invalid, what a calibration must find wrong, and what is told of both; no kernel
is needed for it."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from anabranch.cli.realtime import remarks
from anabranch.linux.calibrate import Calibration, MeasuredDelay, MeasuredRate, distinct, unmeasured
from anabranch.linux.controllers import Attached
from anabranch.linux.errors import LinuxError, NotCalibrated, NotValid
from anabranch.linux.judge import starving, wrong_emulation
from anabranch.linux.running import Session
from anabranch.linux.testbed import Order
from anabranch.planned_network import LinkChange
from anabranch.runs import EmulatorReport, PacketBalance, Run
from anabranch.scenario import load
from anabranch.tables import Classes, Flows, Paths

PLAN = load("khalili/scenario-c").plan()
"""The shortest base round trip is 110 ms, so that 2.2 ms are allowed; timeouts take 200 ms at
least.
"""

GOOD = EmulatorReport(
    lateness_p50_s=1e-5,
    lateness_p99_s=1e-4,
    lateness_p999_s=1e-3,
    lateness_max_s=0.09,
    waiting_p50_s=1e-5,
    waiting_p99_s=1e-4,
    waiting_p999_s=1e-3,
    waiting_max_s=float("nan"),
    cpu_fraction=0.2,
    cpu_wait_fraction=0.0,
    forwarded_packets=1000,
    largest_packet_bytes=1500,
    elapsed_s=10.0,
    drops={"foreign": 3, "oversize": 0},
    conservation=PacketBalance(read=1000, copied=0, written=1000, dropped=0, in_flight=0),
)


def report(**changes: Any) -> EmulatorReport:
    """The report of an emulator that kept time, but for `changes`."""
    return EmulatorReport(**(vars(GOOD) | changes))


def test_an_emulator_that_kept_time_is_believed() -> None:
    assert wrong_emulation(PLAN, GOOD) == []


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"lateness_p99_s": 2.3e-3}, "were written 2.30 ms late"),
        ({"waiting_p99_s": 2.3e-3}, "were read 2.30 ms late"),
        ({"lateness_max_s": 0.13}, "was written 130 ms late; from 100 ms on"),
        ({"waiting_max_s": 0.13}, "was read 130 ms late; from 100 ms on"),
        ({"cpu_fraction": 0.81}, "81% of a processor"),
        ({"largest_packet_bytes": 1501}, "1501 B, more than 1500 B"),
        ({"drops": {"slab_exhausted": 1}}, "dropped 1 packets: slab_exhausted"),
    ],
)
def test_whatever_would_falsify_a_run_makes_it_invalid(row: dict[str, Any], said: str) -> None:
    (found,) = wrong_emulation(PLAN, report(**row))
    assert said in found


def test_bulk_users_that_had_nothing_to_send_make_a_run_invalid() -> None:
    classes = [row.name for row in PLAN.classes]

    def judged(*starved: float) -> list[str]:
        paths = Paths(flow=np.array([0, 0, 1]), starved=np.array(starved))
        return starving(PLAN, Run(flows=Flows(class_=classes), paths=paths, classes=Classes()))

    assert judged(0.01, 0.02, 0) == []
    (found,) = judged(0, 0.1, 0)
    assert f"the paths of {classes[0]} had nothing to send in 5.0%" in found


def test_the_smallest_timeout_says_how_long_the_emulator_may_stall() -> None:
    plan = load("khalili/scenario-c").plan(overrides=["transport.rto_min=400 ms"])
    assert wrong_emulation(plan, report(lateness_max_s=0.13)) == []


def delay(
    measured_s: float, expected_s: float, packets: int, noise_s: float = 0.0
) -> MeasuredDelay:
    return MeasuredDelay(
        links=["ap1"],
        measured_s=measured_s,
        expected_s=expected_s,
        noise_s=noise_s,
        packets=packets,
    )


def rate(measured_bps: float, expected_bps: float, packets: int, full: int = 300) -> MeasuredRate:
    return MeasuredRate(
        links=["ap1"],
        measured_bps=measured_bps,
        expected_bps=expected_bps,
        expected_packets=full,
        packets=packets,
    )


def test_a_link_that_is_not_what_the_scenario_says_is_told() -> None:
    assert delay(0.0552, 0.055, 21).verdict() == ""
    assert "is 55.40 ms, not 55.00 ms" in delay(0.0554, 0.055, 21).verdict()
    assert delay(0.0554, 0.055, 21, noise_s=2e-4).verdict() == ""  # links with jitter
    assert "only 6 of 21" in delay(0.055, 0.055, 6).verdict()
    assert rate(9.95e6, 10e6, 300).verdict() == ""
    assert "is 9.850 Mb/s, not 10.000 Mb/s" in rate(9.85e6, 10e6, 300).verdict()


def test_a_stream_that_hardly_comes_through_is_told_unless_the_link_is_slow() -> None:
    assert "only 149 of 300 packets of a stream came through ap1" in rate(10e6, 10e6, 149).verdict()
    assert "only 0 of 16" in rate(float("nan"), 0.2e6, 0, 16).verdict()
    assert rate(float("nan"), 0.2e6, 5, 15).verdict() == ""


def test_each_run_keeps_how_far_its_links_were_off() -> None:
    delays = [delay(0.0552, 0.055, 21), delay(0.0101, 0.01, 21)]
    rates = [rate(9.95e6, 10e6, 300), rate(float("nan"), 0.2e6, 5, 15)]
    known = Calibration(delays=delays, rates=rates, unmeasured={}, emulator=GOOD)
    errors = known.largest_errors()
    assert (errors.delay_error_s, errors.rate_error) == pytest.approx((2e-4, 5e-3))
    assert math.isnan(replace(known, rates=rates[1:]).largest_errors().rate_error)


def test_every_link_is_measured_in_both_directions_or_named() -> None:
    links = [link.name for link in PLAN.links]
    crossed = {links[number] for way in distinct(PLAN) for number in way}
    assert crossed == set(links) == {"ap1", "ap2", "line", "back"}
    rows = [delay(1, 1, 21), rate(1, 1, 300)]
    assert unmeasured(PLAN, rows) == {"delay": ["ap2", "back", "line"], "rate": ["ap2"]}
    rows = [rate(float("nan"), 1, 10)]
    assert unmeasured(PLAN, rows)["rate"] == ["ap1", "ap2"]


def test_a_link_that_changes_soon_is_not_measured() -> None:
    plan = load("khalili/scenario-c").plan()
    (number,) = (i for i, link in enumerate(plan.links) if link.name == "ap2")
    soon = LinkChange(at_s=2.0, rate_bps=None, delay_s=None, loss=None, up=None)
    plan.links[number] = replace(plan.links[number], changes=[soon])
    assert all(number not in way for way in distinct(plan))


def attempts(error: LinuxError, said: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a replication is tried that ends with an error each time."""
    tried = []

    def attempt(*_: object) -> None:
        tried.append(1)
        raise error

    monkeypatch.setattr(Session, "_attempt", attempt)
    order = Order(load("khalili/scenario-c"), PLAN, None, (), False)
    with pytest.raises(LinuxError, match=said):
        Session(order, [1], None).run(Attached(), keep_invalid=False)
    return len(tried)


def test_only_what_another_time_may_be_right_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert attempts(NotCalibrated("the delay is off"), "no replication was valid", monkeypatch) == 3
    assert attempts(LinuxError("this kernel has no setting"), "^this kernel", monkeypatch) == 1
    assert issubclass(NotValid, LinuxError) and not issubclass(NotValid, NotCalibrated)


def test_what_makes_a_valid_result_weaker_is_told() -> None:
    def told(real_time: bool, **unmeasured: list[str]) -> list[str]:
        runs = [
            Run(flows=Flows(), paths=Paths(), classes=Classes(), emulator=report(real_time=each))
            for each in (True, real_time)
        ]
        origin = {"calibration": {"unmeasured": {"delay": [], "rate": []} | unmeasured}}
        return remarks(SimpleNamespace(runs=runs, provenance=origin))

    assert told(True) == []
    priority, rates = told(False, rate=["ap1", "ap2"])
    assert "no real-time priority" in priority
    assert rates == "links whose rate was not measured: ap1, ap2"
