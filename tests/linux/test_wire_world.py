"""The world `wire`: our endpoints send real packets to the kernel's, over emulated links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_namespaces import TWO_PATHS

import anabranch as ab
from anabranch import linux
from anabranch.capture import read
from anabranch.linux import LinuxError, fit
from anabranch.result import Result
from anabranch.scenario import Scenario

pytestmark = [pytest.mark.usefixtures("kernel", "once")]

BESIDE = TWO_PATHS + (
    '[[flow]]\nname = "tcp"\ncontroller = "linux:reno"\n[[flow.path]]\nlinks = ["right"]\n'
)


class Halve(ab.Controller):
    """Grows as TCP does, in Python."""


def run(text: str, *overrides: str, **options: Any) -> Result:
    options |= {"world": "wire", "overrides": overrides, "keep_invalid": True}
    return linux.run(Scenario.parse(text, "two"), 1, **options)


def test_users_of_ours_share_links_with_the_kernels() -> None:
    result = run(BESIDE, "flow.user.controller=semicoupled", series=True)
    (one,) = result.runs
    user, tcp = result.rate("user").mean(), result.rate("tcp").mean()
    assert user > 2e6 and tcp > 0.5e6 and 7e6 < user + tcp < 10.1e6
    ours = np.asarray(one.flows.class_)[one.paths.flow] == "user"
    assert ours.sum() == 2 and (one.paths.throughput_bps > 0.2e6).all()
    for column in (one.paths.cwnd_segments, one.paths.srtt_s, one.paths.recoveries):
        assert not np.isnan(column[ours]).any()
    assert (one.paths.srtt_s > 0.02).all()
    assert np.isnan(one.paths.min_rtt_s[ours]).all() and np.isnan(one.paths.recoveries[~ours]).all()
    assert (np.nan_to_num(one.series.paths.cwnd_segments) > 1).any(axis=0).all()
    assert one.kernel.congestion_controls == ["reno"]
    assert one.senders.unsent_packets == 0 < one.senders.sent_packets
    assert result.world == "wire" and "--world" in result.command()


def test_transfers_are_whole_and_take_as_long_as_the_link_needs() -> None:
    result = run(
        TWO_PATHS,
        "flow.user.transfer=500 kB",
        "flow.user.count=3",
        "flow.user.controller=olia",
        "warmup=0 s",
        "duration=8 s",
    )
    (one,) = result.runs
    assert (one.flows.fct_s > 3 * 500e3 * 8 / 10e6 / 3).all() and (one.flows.fct_s < 7).all()
    assert one.flows.goodput_bps * 8 == pytest.approx([8 * 500e3] * 3)  # over eight seconds


def test_paths_join_and_leave() -> None:
    text = TWO_PATHS.replace(
        'links = ["right"]', 'links = ["right"]\njoin = "2 s"\nleave = "5 s"'
    ).replace('warmup = "3 s"', 'warmup = "1 s"')
    result = run(text, "flow.user.controller=lia", "duration=8 s", series=True)
    (one,) = result.runs
    t_s, arrived = one.series.t_s, one.series.paths.arrived_bytes[:, 1]
    before, during, after = (int(np.searchsorted(t_s, at)) for at in (1.9, 5.2, 7.9))
    assert arrived[before] == 0 < 200e3 < arrived[during]
    assert arrived[after] - arrived[during] < 10e3
    assert not [why for why in one.invalid_because if "path" in why]


def test_a_controller_in_python_sends_on_the_wire() -> None:
    result = run(TWO_PATHS, controller=Halve)
    assert result.rate("user").mean() > 4e6
    assert result.plan.classes[0].controller == "py:Halve"


class Broken(ab.Controller):
    """Fails at the first ACK."""

    def on_ack(self, path: ab.PathView) -> None:
        raise RuntimeError("it was to fail")


def test_an_error_of_a_controller_in_python_ends_the_run() -> None:
    with pytest.raises(RuntimeError, match="it was to fail"):
        run(TWO_PATHS, controller=Broken)


def test_a_capture_of_the_devices_has_the_packets_of_our_endpoints(tmp_path: Path) -> None:
    file = tmp_path / "wire.pcapng"
    result = run(TWO_PATHS, "flow.user.controller=balia", recording=ab.Recording(pcap=file))
    found = read(file)
    flows = found.flows
    assert (flows.subflows == [2]).all() and (flows.joins_proved == [1]).all()
    assert flows.acked_bytes[0] > 1e6 and not found.warnings
    assert result.rate("user").mean() > 4e6


def test_what_the_wire_cannot_carry_is_refused_by_name() -> None:
    with pytest.raises(LinuxError, match="lower effort"):
        run(TWO_PATHS + "lower_effort = true\n")
    for change, why in (
        ("transport.packet=600 B", "`packet` is 600 B; a courier's has 628 to 1500 B"),
        ("transport.receive_buffer=40 kB", "a courier's has 65536 B at least"),
        ("transport.ecn=true", "a courier's packets are not marked"),
    ):
        with pytest.raises(LinuxError, match=why):
            run(TWO_PATHS, "flow.user.controller=bilevel-tfrc", "transport.payload=500 B", change)


@pytest.mark.parametrize("controller", ["couple+", "bilevel-tfrc"])
def test_a_courier_carries_coded_paths_and_what_goes_by_reports(controller: str) -> None:
    coded = 'links = ["right"]\ncoding = { redundancy = 1.05, window = 6 }'
    text = TWO_PATHS.replace('links = ["right"]', coded) if controller == "couple+" else TWO_PATHS
    text += BESIDE[len(TWO_PATHS) :]
    # From the beginning: after a warm-up, data that has waited for a lost packet is goodput too.
    result = run(text, f"flow.user.controller={controller}", "warmup=0 s", series=True)
    plan = result.plan
    assert [fit.sender("wire", planned) for planned in plan.classes] == ["courier", "kernel"]
    (one,) = result.runs
    user, tcp = result.rate("user").mean(), result.rate("tcp").mean()
    assert user > 1e6 and tcp > 0.3e6 and user + tcp < 10.1e6
    assert 0.8 * user < one.flows.goodput_bps[0] < user
    ours = np.asarray(one.flows.class_)[one.paths.flow] == "user"
    assert (one.paths.srtt_s[ours] > 0.02).all() and (one.paths.cwnd_segments[ours] > 0).all()
    assert one.senders.unsent_packets == 0 < one.senders.arrived_packets
    assert any("a courier carries user" in why for why in result.provenance["differences"])


def test_the_kernel_sends_for_its_own_controllers_alone() -> None:
    plan = Scenario.parse(BESIDE).plan()
    assert [fit.sender("wire", planned) for planned in plan.classes] == ["ours", "kernel"]
    assert [fit.sender("linux", planned) for planned in plan.classes] == ["kernel", "kernel"]
