"""Users of a scenario over QUIC: the programs of `anabranch quic` between namespaces."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from test_namespaces import TWO_PATHS

from anabranch import Recording, _core, linux
from anabranch.linux import LinuxError
from anabranch.linux.quic import Asked, run
from anabranch.scenario import Scenario

pytestmark = [
    pytest.mark.usefixtures("kernel"),
    pytest.mark.skipif(not hasattr(_core, "QuicServer"), reason="this build has no QUIC"),
]

BYTES = 5_000_000
FAILING = """
name = "failing"
duration = "40 s"
warmup = "0 s"
[[link]]
name = "left"
rate = "4 Mb/s"
delay = "10 ms"
queue = { droptail = { packets = "30 packets" } }
[[link]]
name = "right"
rate = "4 Mb/s"
delay = "15 ms"
queue = { droptail = { packets = "30 packets" } }
change = [{ at = "1.5 s", up = false }, { at = "5.5 s", up = true }]
[[flow]]
name = "pair"
path = [{ links = ["left"] }, { links = ["right"] }]
"""


def test_a_file_is_whole_though_a_path_fails_and_returns(tmp_path: Path) -> None:
    content = random.Random(1).randbytes(BYTES)
    file, output = tmp_path / "file", tmp_path / "fetched"
    file.write_bytes(content)
    asked = {"pair": Asked("lia", file, output)}
    (user,) = run(Scenario.parse(FAILING), asked).users["pair"]
    assert output.read_bytes() == content
    assert user.report is not None and user.report["complete"]
    left, right = user.report["lanes"]
    assert (left["opened"], left["failures"]) == (1, 0)
    assert right["failures"] >= 1 and right["opened"] >= 2
    assert right["received_bytes"] > 300_000


def test_users_over_quic_and_over_tcp_share_a_link() -> None:
    more = '[[flow]]\nname = "tcp"\n[[flow.path]]\nlinks = ["right"]\n'
    scenario = Scenario.parse(TWO_PATHS + more, "two")
    found = run(scenario, {"user": Asked("lia")})
    ((user,), (tcp,)) = found.users["user"], found.users["tcp"]
    assert tcp.report is None and user.report is not None
    assert user.rate_bps > 2e6 and tcp.rate_bps > 0.5e6
    assert 7e6 < user.rate_bps + tcp.rate_bps < 10e6
    assert all(lane["failures"] == 0 for lane in user.report["lanes"])
    assert sum(lane["sent_packets"] for lane in user.report["lanes"]) > 1000


def test_a_scenario_with_users_over_quic_and_tcp_has_one_result_as_any_other() -> None:
    more = '[[flow]]\nname = "tcp"\n[[flow.path]]\nlinks = ["right"]\n'
    scenario = Scenario.parse(TWO_PATHS + more, "two")
    # Uncoupled, so that both paths are used: what LIA sends on the shared one differs much by run.
    words = ["protocol=quic", "controller=uncoupled"]
    words = [*(f"flow.user.{word}" for word in words), "duration=8 s", "warmup=2 s"]
    result = linux.run(scenario, 1, overrides=words, series=True)
    (run,) = result.runs
    user, tcp = result.rate("user").mean(), result.rate("tcp").mean()
    assert user > 2e6 and tcp > 0.5e6 and 7e6 < user + tcp < 10e6
    names = np.asarray(run.flows.class_)[run.paths.flow]
    over = names == "user"
    assert over.sum() == 2 and (run.paths.throughput_bps > 0.2e6).all()
    assert (run.paths.sent_packets[over] > 200).all()
    # The kernel knows neither windows nor retransmissions of QUIC, and says so.
    assert np.isnan(run.paths.cwnd_segments[over]).all()
    assert np.isnan(run.paths.retransmits[over]).all()
    assert np.isfinite(run.paths.cwnd_segments[~over]).all()
    assert np.isfinite(run.paths.retransmits[~over]).all()
    with pytest.raises(ValueError, match="none of for users over QUIC"):
        linux.run(scenario, 1, overrides=words, recording=Recording(qlog="x.sqlog"))


def test_classes_and_paths_that_cannot_be_over_quic_are_named() -> None:
    scenario = Scenario.parse(TWO_PATHS)
    with pytest.raises(ValueError, match="no class 'users'; it has user"):
        run(scenario, {"users": Asked("lia")})
    with pytest.raises(LinuxError, match="user: paths of QUIC do not join or leave"):
        run(scenario, {"user": Asked("lia")}, overrides=["flow.user.path.1.leave=4 s"])
    with pytest.raises(ValueError, match="controller: "):
        run(scenario, {"user": Asked("liar")})
