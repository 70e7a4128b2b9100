"""Short runs on the real kernel."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from test_namespaces import TWO_PATHS

from anabranch import plot
from anabranch.linux import LinuxError, check, emulation, run, running, tcp_info, testbed
from anabranch.linux.calibrate import Calibration
from anabranch.linux.sockets import listening
from anabranch.plan import Class
from anabranch.records import meanings
from anabranch.result import Result
from anabranch.scenario import Scenario

pytestmark = pytest.mark.usefixtures("kernel")


@pytest.fixture(scope="module")
def two() -> Result:
    """One user of MPTCP over two links, and two of TCP over the second."""
    more = '[[flow]]\nname = "tcp"\ncount = 2\n[[flow.path]]\nlinks = ["right"]\n'
    scenario = Scenario.parse(TWO_PATHS + more, "two")
    return run(scenario, series=True, keep_invalid=True)


def test_links_are_filled_and_not_beyond(two: Result) -> None:
    for name, rate in (("left", 4e6), ("right", 6e6)):
        (carried,) = two.link(name, "throughput_bps")
        assert 0.8 * rate < carried < 1.005 * rate  # a packet at either end of the time
    total = float(two.users("user").sum() + two.users("tcp").sum())
    assert 0.8 * 10e6 < total < 1.01 * 10e6


def test_both_paths_of_a_user_carry_data(two: Result) -> None:
    (run_,) = two.runs
    assert not [text for text in run_.invalid_because if "path" in text or "user" in text]
    assert np.all(two.path("user", 0, "throughput_bps") > 1e6)
    assert np.all(two.path("user", 1, "throughput_bps") > 0.3e6)
    assert run_.kernel.congestion_controls == ["reno"]


def test_no_path_is_left_without_data_and_little_waits_for_order(two: Result) -> None:
    for path in (0, 1):
        assert two.path("user", path, "starved")[0, 0] < 0.1
    ratio = two.users("user", "goodput_bps").sum() / two.users("user").sum()
    assert ratio == pytest.approx(1420 / 1500, rel=0.1)


def test_round_trips_are_between_the_links_delay_and_a_full_queue(two: Result) -> None:
    least, most = 0.02, 0.02 + 31 * 1500 * 8 / 4e6
    assert least < two.path("user", 0, "srtt_s")[0, 0] < most


def test_goodput_is_throughput_less_headers_but_for_what_waits_for_order(two: Result) -> None:
    ratio = two.users("tcp", "goodput_bps").sum() / two.users("tcp").sum()
    assert ratio == pytest.approx(1448 / 1500, rel=0.1)


def test_a_result_has_the_shape_of_a_simulated_one(two: Result, tmp_path: Path) -> None:
    simulated = two.scenario
    from anabranch.result import run as simulate

    (other,) = simulate(simulated, series=True).runs
    (run_,) = two.runs
    for one, own in (
        (other.flows, run_.flows),
        (other.paths, run_.paths),
        (other.links, run_.links),
        (other.classes, run_.classes),
    ):
        known = {name for name in meanings(type(one)) if one.has(name)}
        assert known <= {name for name in meanings(type(own)) if own.has(name)}, one
        for name in known:
            assert len(own[name]) == len(one[name]), (one, name)
    for series, own_series in (
        (other.series.paths, run_.series.paths),
        (other.series.links, run_.series.links),
    ):
        for name in meanings(type(series)):
            assert own_series.column(name).shape[1] == series.column(name).shape[1], name
    two.save(tmp_path / "two.json.gz")
    again = Result.load(tmp_path / "two.json.gz")
    assert again.world == "linux" and "user" in again.table()
    for kind in ("windows", "throughput", "queue", "rtt", "shares", "cdf"):
        plot.save(plot.draw(kind, two), tmp_path / f"{kind}.png")


def test_provenance_has_kernel_settings_buffers_and_calibration(two: Result) -> None:
    origin = two.provenance
    assert origin["complete"] and origin["kernel"]
    assert origin["settings"]["user"]["net.ipv4.tcp_no_metrics_save"] == "1"
    rates = {row["links"][0]: row["measured_bps"] for row in origin["calibration"]["rates"]}
    assert rates["left"] == pytest.approx(4e6, rel=0.05)  # a busy machine may be, if not valid
    assert {row["packets"] for row in origin["calibration"]["delays"]} == {21}
    assert origin["calibration"]["unmeasured"] == {"delay": [], "rate": []}
    errors = two.runs[0].emulator.calibration
    assert errors == Calibration.from_json(origin["calibration"]).largest_errors()
    if two.runs[0].valid:
        assert errors.rate_error <= 0.01 and errors.delay_error_s <= 0.3e-3


PLAIN = """
name = "plain"
duration = "4 s"
[[link]]
name = "wire"
rate = "8 Mb/s"
delay = "10 ms"
[[flow]]
name = "file"
transfer = "1 MB"
[[flow.path]]
links = ["wire"]
[[flow]]
name = "stream"
app_rate = "2 Mb/s"
[[flow.path]]
links = ["wire"]
[[flow]]
name = "late"
controller = "uncoupled"
app_rate = "1 Mb/s"
[[flow.path]]
links = ["wire"]
[[flow.path]]
links = ["wire"]
join = "1 s"
leave = "3 s"
"""


def test_transfers_end_streams_keep_their_rate_and_paths_come_and_go() -> None:
    result = run(Scenario.parse(PLAIN, "plain"), series=True, keep_invalid=True)
    (run_,) = result.runs
    assert not [text for text in run_.invalid_because if "path" in text or "user" in text]
    done = run_.flows.completed_s
    assert 1.0 < done[0] < 3.0 and np.isnan(done[1])
    assert result.users("stream", "goodput_bps")[0, 0] == pytest.approx(2e6, rel=0.1)
    windows = run_.series.paths.cwnd_segments[:, 3]
    t_s = run_.series.t_s
    assert np.all(np.isnan(windows[t_s < 0.95]))
    assert not np.any(np.isnan(windows[(t_s > 1.3) & (t_s < 2.95)]))
    assert np.all(np.isnan(windows[(t_s > 3.3)]))


def test_an_interrupt_keeps_what_had_finished() -> None:
    scenario = Scenario.parse(PLAIN, "plain")
    done: list[float] = []

    def tell(passed: float, total: float) -> None:
        if passed > 4.5 and not done:
            done.append(passed)
            signal.raise_signal(signal.SIGINT)

    threads = threading.active_count()
    result = run(scenario, [1, 2, 3], overrides=["duration=3 s"], keep_invalid=True, progress=tell)
    assert result.seeds == [1] and not result.provenance["complete"]
    assert threading.active_count() == threads


def test_an_interrupt_while_the_emulator_starts_leaves_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted() -> float:
        raise KeyboardInterrupt

    threads = threading.active_count()
    monkeypatch.setattr(emulation, "time", SimpleNamespace(monotonic=interrupted))
    with pytest.raises(KeyboardInterrupt):
        run(Scenario.parse(PLAIN, "plain"))
    assert threading.active_count() == threads


HELD_UP_S = 5.0
"""Longer than what is left of two seconds, and what links go on behind the end (`GRACE_S`)."""


def test_a_run_that_is_held_up_until_its_links_end_is_invalid_and_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompt = testbed.Sampler.sample

    def late(self: testbed.Sampler, at_s: float) -> None:
        prompt(self, at_s)
        if at_s == pytest.approx(0.6):
            time.sleep(HELD_UP_S)

    monkeypatch.setattr(testbed.Sampler, "sample", late)
    monkeypatch.setattr(running, "REPEATS", 0)
    overrides = ["duration=2 s", "warmup=0.5 s"]
    result = run(Scenario.parse(PLAIN, "plain"), overrides=overrides, keep_invalid=True)
    assert [why for why in result.runs[0].invalid_because if "held up" in why]


def test_a_connection_that_falls_back_to_tcp_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plain(address: tuple[str, int], planned: Class) -> socket.socket:
        return listening(address, replace(planned, paths=planned.paths[:1]))

    monkeypatch.setattr(testbed, "listening", plain)
    monkeypatch.setattr(running, "REPEATS", 0)
    overrides = ["duration=2 s", "warmup=1 s"]
    result = run(Scenario.parse(TWO_PATHS, "two"), overrides=overrides, keep_invalid=True)
    reasons = [why for why in result.runs[0].invalid_because if why.startswith("user ")]
    assert reasons == ["user user 0: it fell back to plain TCP"]


def test_what_a_kernel_lacks_is_named_before_anything_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(check, "TUN", tmp_path / "tun")
    with pytest.raises(LinuxError, match=r"TUN: .*/tun is missing\nhelp: modprobe tun"):
        run(Scenario.parse(PLAIN, "plain"))


def test_tcp_info_is_decoded_as_a_live_connection_has_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        with one, other:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
            one.sendall(bytes(100_000))
            while len(other.recv(1 << 20, socket.MSG_PEEK)) < 100_000:
                time.sleep(0.01)
            time.sleep(0.05)
            info = tcp_info.tcp_info(one)
            assert info.state == 1 and info.ca_state == 0 and info.backoff == 0
            assert info.mss_bytes == one.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
            assert info.cwnd_segments >= 10 and info.ssthresh_segments == float("inf")
            assert info.unacked == info.lost == info.total_retransmits == 0
            assert info.bytes_acked == 100_001  # and the SYN
            assert 0 < info.min_rtt_s <= info.srtt_s < 0.1 and 0.2 <= info.rto_s < 0.3
            assert info.pmtu_bytes == 65535 or info.pmtu_bytes == 65536
            assert info.timeouts == 0 and info.reordering == 3


def test_processors_are_kept_awake_as_long_as_a_run_lasts_and_no_longer(two: Result) -> None:
    assert two.runs[0].emulator.awake == len(os.sched_getaffinity(0))
    threads = [int(task.name) for task in Path("/proc/self/task").iterdir()]
    assert os.SCHED_IDLE not in map(os.sched_getscheduler, threads)


def test_what_a_path_is_given_is_whole_packets() -> None:
    """So that data of another path, which cannot fill it up, follows on no packet in part."""
    scenario = Scenario.parse(TWO_PATHS, "two")
    result = run(scenario, keep_invalid=True)
    packets = sum(result.path("user", path, "sent_packets") for path in (0, 1))
    lost = sum(result.path("user", path, "lost_packets") for path in (0, 1))
    rate = sum(result.path("user", path, "throughput_bps") for path in (0, 1))
    watched_s = result.plan.duration_s - result.plan.warmup_s
    assert float((rate * watched_s / 8 / (packets - lost)).mean()) > 1470
