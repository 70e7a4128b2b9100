"""The qlog of users over QUIC: what their stack did with each packet, by path."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_qlog_draft import EVENT, HEAD, faults, sequence

import anabranch as ab
from anabranch import quic
from anabranch.qlog import read

SHORT = ["duration=9 s", "warmup=0 s", "flow.multipath.count=2", "flow.single-path.count=1"]
Log = dict[str, Any]


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[ab.Result, Path]:
    """Scenario C with three users, all over QUIC, and the folder of its logs in both versions."""
    folder = tmp_path_factory.mktemp("quic")
    words = quic.overrides_for(ab.load("khalili/scenario-c"), overrides=SHORT)
    for name in ("c.qlog", "c.sqlog"):
        recording = ab.Recording(qlog=folder / name)
        result = ab.run("khalili/scenario-c", overrides=words, recording=recording)
    return result, folder


def by_path(events: list[Log]) -> dict[tuple[str, int], list[Log]]:
    """Events of each path, by connection and number."""
    found = defaultdict(list)
    for event in events:
        found[event["group_id"], event["path_id"]].append(event)
    return found


def test_the_log_is_what_the_drafts_define(logged: tuple[ab.Result, Path]) -> None:
    head, *events = sequence(logged[1] / "c.sqlog")
    assert faults(HEAD, head) == []
    assert [fault for event in events for fault in faults(EVENT, event)][:1] == []


def test_each_packet_of_data_is_acknowledged_or_lost_at_most_once_on_the_path_that_sent_it(
    logged: tuple[ab.Result, Path],
) -> None:
    _, *events = sequence(logged[1] / "c.sqlog")
    paths = by_path(events)
    assert len(paths) == 5
    for path, own in paths.items():
        waiting: set[int] = set()
        ended = 0
        for event in own:
            header = event["data"].get("header", {})
            number = header.get("packet_number")
            if event["name"] == "quic:packet_sent" and number is not None:
                assert header["packet_type"] == "1RTT" and number not in waiting, path
                waiting.add(number)
            elif event["name"] == "quic:packet_lost":
                waiting.remove(number)
            elif event["name"] == "quic:packets_acked":
                numbers = event["data"]["packet_numbers"]
                assert numbers
                waiting.difference_update(numbers)
                ended += len(numbers)
        # What is left was in flight at the end.
        assert ended > 500 and len(waiting) < 100, (path, ended, len(waiting))


def test_losses_acknowledgements_and_shares_are_those_of_the_result(
    logged: tuple[ab.Result, Path],
) -> None:
    result, folder = logged
    paths = result.runs[0].paths
    assert paths.retransmits.sum() > 20
    sent = paths.sent_packets / np.bincount(paths.flow, weights=paths.sent_packets)[paths.flow]
    for name in ("c.sqlog", "c.qlog"):
        found = read(folder / name)
        order = np.argsort([found.label(n) for n in range(len(found.shares))])
        assert found.shares[order] == pytest.approx(sent, abs=0.01)
        lost = found.paths.retransmits[order]
        # The stack counts its lost acknowledgements too; a log has the packets that ask for one.
        assert (lost <= paths.retransmits).all() and lost.sum() >= 0.95 * paths.retransmits.sum()
        assert (found.paths.acked_bytes[order] > 0.8 * found.paths.payload_bytes[order]).all()


def test_a_log_does_not_change_the_run(logged: tuple[ab.Result, Path]) -> None:
    words = quic.overrides_for(ab.load("khalili/scenario-c"), overrides=SHORT)
    plain = ab.run("khalili/scenario-c", overrides=words)
    assert plain.runs[0].digest == logged[0].runs[0].digest


def test_the_older_version_numbers_every_packet(logged: tuple[ab.Result, Path]) -> None:
    traces = json.loads((logged[1] / "c.qlog").read_text())["traces"]
    events = [event for trace in traces for event in trace["events"]]
    packets = [e["data"]["header"] for e in events if e["name"].startswith("transport:packet_")]
    assert packets and all("packet_number" in header for header in packets)
    assert any(event["name"] == "transport:packets_acked" for event in events)
