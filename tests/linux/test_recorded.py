"""A capture of the real kernel's packets, read by what reads the simulator's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch.linux import run
from anabranch.qlog import read
from anabranch.result import NotRecorded

pytestmark = pytest.mark.usefixtures("kernel", "once")

SHORT = ("duration=6 s", "warmup=0 s", "flow.multipath.count=2", "flow.single-path.count=1")
SPREAD = ("flow.multipath.spread=500 ms", "flow.single-path.spread=500 ms")


def test_the_kernels_joins_prove_what_ours_would_and_its_bytes_are_those_of_the_result(
    tmp_path: Path,
) -> None:
    file = tmp_path / "kernel.pcapng"
    result = run(
        "khalili/scenario-c",
        controller="reno",
        overrides=[*SHORT, *SPREAD],
        keep_invalid=True,
        recording=ab.Recording(pcap=file, keep_bytes=128),
    )
    capture = ab.capture.read(file)
    paths, flows = capture.paths, capture.flows
    multipath = [number for number, token in enumerate(flows.token) if token]
    assert len(multipath) == 2 and len(flows.token) == 3
    # The kernel's own codes over its own keys and nonces are what `wire::mptcp` makes of them.
    assert [flows.joins_proved[number] for number in multipath] == [1, 1]
    assert not any(flows.joins_disproved)
    assert [list(paths.flow).count(number) for number in multipath] == [2, 2]
    assert not capture.warnings
    acked = 8.0 * np.sum(flows.acked_bytes) / 6.0
    goodput = sum(result.users(name, "goodput_bps").sum() for name in result.classes)
    assert acked == pytest.approx(goodput, rel=0.05)
    assert list(tmp_path.iterdir()) == [file]


def test_a_qlog_of_the_kernels_samples_has_the_shares_of_the_result(tmp_path: Path) -> None:
    file = tmp_path / "kernel.sqlog"
    result = run(
        "khalili/scenario-c",
        controller="lia",
        overrides=[*SHORT, *SPREAD],
        keep_invalid=True,
        recording=ab.Recording(qlog=file),
    )
    ran, log = result.runs[0], read(file)
    assert not ran.has("series")  # it was asked for by the log alone
    rates, flows = ran.paths.throughput_bps, ran.paths.flow
    shares = rates / np.bincount(flows, weights=rates)[flows]
    order = np.argsort([log.label(n) for n in range(len(log.shares))])
    assert log.shares[order] == pytest.approx(shares, abs=0.05)
    assert log.windows is not None and np.nanmax(log.windows.cwnd_bytes) > 14_000
    assert log.paths.retransmits.sum() == pytest.approx(ran.paths.retransmits.sum(), abs=10)
    assert list(tmp_path.iterdir()) == [file]


def test_a_recording_is_of_one_whole_replication(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are 2 seeds"):
        run("khalili/scenario-c", (1, 2), recording=ab.Recording(pcap=tmp_path / "x"))
    with pytest.raises(ValueError, match=r"which qlog 0\.3 has no events for"):
        run("khalili/scenario-c", recording=ab.Recording(qlog=tmp_path / "x", qlog_version="0.3"))
    with pytest.raises(ValueError, match="is of the whole run"):
        run("khalili/scenario-c", recording=ab.Recording(pcap=tmp_path / "x", until_s=1.0))
    assert not list(tmp_path.iterdir())


def test_a_capture_that_cannot_be_written_costs_no_result() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with pytest.raises(NotRecorded, match="/dev/full cannot be written: No space left") as raised:
        run(
            "khalili/scenario-c",
            controller="reno",
            overrides=[*SHORT, *SPREAD, "duration=2 s"],
            keep_invalid=True,
            recording=ab.Recording(pcap="/dev/full"),
        )
    assert raised.value.result.mean("multipath").mean > 0
