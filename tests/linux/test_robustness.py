"""What may go wrong beside a controller: paths that come and go, killed processes, missed
callbacks, peers without MPTCP. The long forms are in `soak.py`."""

from __future__ import annotations

import errno
import random
import socket
from contextlib import ExitStack
from typing import Any

import left
import numpy as np
import pytest
from churn import MOST_JOINED, SUBFLOW, Stage
from opening import open_and_close
from pairs import Pair, feed, pairs
from process_pool import ProcessPool, churn
from soak import PLANTED, fits, largest_window
from user_space import choose_user_space, listening_manager, open_subflow

from anabranch import _core
from anabranch.linux import run
from anabranch.linux.controllers import attached
from anabranch.linux.observe import ConnectionStatus, ControlledSocket, connections
from anabranch.linux.tcp_info import IPPROTO_MPTCP, MptcpReader
from anabranch.result import Result
from anabranch.scenario import Scenario

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

TWO_BOTTLENECKS = """
name = "two-bottlenecks"
duration = "7 s"
warmup = "2 s"
[[link]]
name = "left"
rate = "6 Mb/s"
delay = "10 ms"
queue = { droptail = { packets = "25 packets" } }
[[link]]
name = "right"
rate = "6 Mb/s"
delay = "10 ms"
queue = { droptail = { packets = "25 packets" } }
[[flow]]
name = "user"
count = 4
controller = "lia"
[[flow.path]]
links = ["left"]
[[flow.path]]
links = ["right"]
[[flow]]
name = "tcp"
count = 4
[[flow.path]]
links = ["right"]
"""


def test_paths_processes_and_controllers_come_and_go_and_leave_nothing() -> None:
    pool = churn(seconds=9, stages=1, connections=20, seed=3)
    print(dict(pool.counts))
    assert pool.wrong == []
    assert pool.counts["opened"] > 20
    assert pool.counts["joined"] > 0 and pool.counts["left"] > 0
    assert pool.counts["most subflows of a connection"] > 1
    assert pool.counts["callbacks: acks"] > 100
    assert pool.largest < 4000


def test_a_killed_run_leaves_neither_controllers_nor_namespaces() -> None:
    with ProcessPool(0, 0, random.Random(1), left.Scene()) as pool:
        pool.kill_run()
    assert pool.counts["killed: run"] == 1
    assert pool.wrong == []


def test_connections_that_close_leave_neither_map_entries_nor_memory() -> None:
    told = open_and_close(500)
    before, after = told["before"], told["after"]
    assert told["joined"] >= 490 and told["counters"]["acks"] >= 1000
    assert after.maps == before.maps and len(before.maps) == 4
    assert {row[2] for row in before.maps} == {"1", "4096"}  # none has an entry for a connection
    assert after.sockets == before.sockets == 1
    assert after.allocated < before.allocated + 400  # other programs have sockets too


def short(skipped: int, **options: Any) -> Result:
    """The scenario above; what a busy machine makes of its times does not matter here."""
    scenario = Scenario.parse(TWO_BOTTLENECKS, "two-bottlenecks")
    return run(scenario, series=True, keep_invalid=True, skips_per_million=skipped, **options)


def counters(result: Result) -> dict[str, int]:
    (row,) = result.runs[0].kernel.controllers.values()
    return {"skipped": 0, "missed": 0, "repairs": 0} | row


def test_callbacks_that_are_missed_move_no_window_and_hardly_a_share() -> None:
    whole, holed = short(0), short(PLANTED)
    assert counters(whole)["skipped"] == 0
    assert counters(holed)["skipped"] > 50 and counters(holed)["missed"] > 50
    for result in (whole, holed):
        assert largest_window(result) < 4 * fits(result)
    for name in whole.classes:
        ratio = holed.users(name).sum() / whole.users(name).sum()
        assert 0.6 < ratio < 1.6, name


def test_a_first_loss_is_survived_when_its_callbacks_are_missed() -> None:
    result = short(300_000, overrides=["duration=4 s", "warmup=1 s", "flow.user.count=12"])
    assert counters(result)["repairs"] > 5
    assert largest_window(result) < 4 * fits(result)
    # One that was not answered stands until the next callback, which the next ACK brings: long
    # only where a path carries nothing, in a timeout that is backed off.
    paths = result.runs[0].series.paths
    thresholds, carries = paths.ssthresh_segments, np.diff(paths.arrived_bytes, axis=0) > 0
    assert np.sum(np.isfinite(thresholds[-1])) >= 12  # first losses there were
    unanswered = (thresholds > 4 * fits(result)) & np.isfinite(thresholds)
    assert np.sum(unanswered[1:] & carries) < 0.02 * np.sum(carries)
    for name in ("left", "right"):
        (carried,) = result.link(name, "throughput_bps")
        assert carried > 0.7 * 6e6


def shown(stage: Stage, name: str) -> list[ConnectionStatus]:
    """The connections of a stage as the status has them."""
    with stage.sender.inside():
        rows = _core.kernel_subflows()
    number = {"namespace": stage.sender.number}
    found = connections(ControlledSocket.from_json(row | number) for row in rows)
    return [row for row in found if row.controller == name]


def fell_back(connection: socket.socket) -> bool:
    """Whether a connection of MPTCP is plain TCP: the kernel then has nothing to tell of MPTCP."""
    try:
        return MptcpReader().read(connection).fallback
    except OSError as error:
        return error.errno == errno.EOPNOTSUPP


def test_plain_tcp_and_what_falls_back_to_it_is_reno_alone() -> None:
    plain = socket.IPPROTO_TCP
    with attached(["lia"]) as there:
        name = there.kernel_name("lia")
        with pairs(name, (IPPROTO_MPTCP, plain), (plain, plain)) as (stage, made):
            stage.set_endpoint(1, SUBFLOW)
            feed(made, 3)
            assert fell_back(made[0].sender)
            rows = shown(stage, name)
            assert len(rows) == 2
            for row in rows:  # the first one's socket is of MPTCP all the same
                (subflow,) = row.subflows
                assert subflow.paths == 1 and subflow.growth == 0
                assert subflow.of_reno is None
                assert subflow.losses > 0 and subflow.ssthresh_segments < 1000
            counted = there.counters()["lia"]
            assert counted["acks"] > 500 and counted["losses"] >= 2
            assert counted["coupled"] == counted["crowded"] == 0
            shares = sorted(pair.received for pair in made)
            assert sum(shares) > 0.7 * 8e6 / 8 * 3 and shares[0] > 0.15 * sum(shares)


def test_paths_that_join_and_leave_are_coupled_as_long_as_they_are_there() -> None:
    with attached(["lia"]) as there:
        name = there.kernel_name("lia")
        with pairs(name, (IPPROTO_MPTCP, IPPROTO_MPTCP)) as (stage, made):
            seen, coupled = [], []
            for change in ((), (1,), (2,), (2, 1)):
                for path in change:
                    stage.set_endpoint(path, None if path in stage.present else SUBFLOW)
                feed(made, 2)
                (row,) = shown(stage, name)
                assert row.protocol == "MPTCP"
                seen.append((len(row.subflows), max(s.paths for s in row.subflows)))
                coupled.append(there.counters()["lia"]["coupled"])
            assert seen == [(1, 1), (2, 2), (3, 3), (1, 1)]
            assert coupled[0] == 0 < coupled[1] < coupled[2]
            assert made[0].received > 0.7 * 8e6 / 8 * 12


def test_all_subflows_that_the_kernels_path_manager_opens_are_coupled() -> None:
    both, paths = (IPPROTO_MPTCP, IPPROTO_MPTCP), 1 + MOST_JOINED
    with attached(["lia"]) as there:
        name = there.kernel_name("lia")
        with pairs(name, both, rate_bps=2e6, paths=paths) as (stage, made):
            feed(made, 0.5)  # paths join once data was acknowledged
            for path in range(1, paths):
                stage.set_endpoint(path, SUBFLOW)
            assert left.eventually(lambda: opened(stage, made, name) == paths)
            feed(made, 2)
            (row,) = shown(stage, name)
            assert max(subflow.paths for subflow in row.subflows) == paths
            growths = [subflow.of_reno for subflow in row.subflows if subflow.growth > 0]
            assert growths and all(one is not None and one < 0.5 for one in growths)
            assert there.counters()["lia"]["crowded"] == 0 < there.counters()["lia"]["coupled"]


def opened(stage: Stage, made: list[Pair], name: str) -> int:
    """How many subflows the one connection under a controller has after some time."""
    feed(made, 0.2)
    (row,) = shown(stage, name)
    return len(row.subflows)


def test_a_connection_of_more_paths_than_a_law_sees_is_reno_on_each() -> None:
    with attached(["lia"]) as there, ExitStack() as stack:
        name = there.kernel_name("lia")
        stage = Stage(8e6, paths=2)
        stack.callback(stage.close)
        for side in (stage.sender, stage.receiver):
            with side.inside():
                choose_user_space()
        with stage.receiver.inside():
            stack.enter_context(listening_manager())
        pair = Pair(stage, 9000, name, (IPPROTO_MPTCP, IPPROTO_MPTCP))
        stack.callback(pair.close)
        made, most = [pair], _core.COUPLED_PATHS
        feed(made, 0.5)

        def grown(new: int, subflows: int) -> tuple[int, int]:
            """ACKs under the law, and of too many paths, once there are so many subflows."""
            with stage.sender.inside():
                for _ in range(new):
                    open_subflow(pair.sender, ("10.9.1.1", 1), ("10.9.0.2", 9000))
            assert left.eventually(lambda: opened(stage, made, name) == subflows)
            before = there.counters()["lia"]
            feed(made, 1.2)
            after = there.counters()["lia"]
            return after["coupled"] - before["coupled"], after["crowded"] - before["crowded"]

        coupled, crowded = grown(most - 1, most)
        assert crowded == 0 < coupled
        coupled, crowded = grown(1, most + 1)
        assert coupled == 0 < crowded
