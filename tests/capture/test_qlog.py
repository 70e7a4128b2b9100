"""A qlog is what the drafts of qlog 0.3 define, and says what the run and its capture say."""

from __future__ import annotations

import copy
import functools
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema_rs import Draft202012Validator
from miniature import EVERYTHING, NAMES, Recorded

from anabranch.capture import read

Run = Callable[[str], Recorded]
Log = dict[str, Any]

SENT, RECEIVED, LOST = "transport:packet_sent", "transport:packet_received", "recovery:packet_lost"
METRICS, STATE = "recovery:metrics_updated", "recovery:congestion_state_updated"

VALIDATOR = Draft202012Validator((Path(__file__).parent / "qlog-0.3.schema.json").read_text())


@pytest.fixture(scope="session")
def logged(recorded: Run) -> Callable[[str], Log]:
    """The qlog of a scenario by its name."""
    return functools.cache(lambda name: json.loads(recorded(name).qlog.read_text()))


Logged = Callable[[str], Log]


def of(trace: Log, name: str) -> list[Log]:
    """The events of a name."""
    return [event for event in trace["events"] if event["name"] == name]


def lengths(trace: Log) -> Iterator[int]:
    """Payload of each packet that was sent."""
    return (event["data"]["raw"]["payload_length"] for event in of(trace, SENT))


def titles(run: Recorded) -> list[str]:
    """What the traces of the paths are called, in the order of the paths of the result."""
    users = [(c.name, user) for c in run.result.plan.classes for user in range(c.count)]
    places = zip(run.paths.flow, run.paths.path, strict=True)
    return [f"{users[flow][0]}.{users[flow][1]}.path{path}" for flow, path in places]


def of_tcp(run: Recorded) -> set[str]:
    """Names of the classes that send by TCP."""
    return {c.name for c in run.result.plan.classes if c.protocol == "tcp"}


@pytest.mark.parametrize("name", NAMES)
def test_a_log_is_what_the_drafts_define(name: str, logged: Logged) -> None:
    wrong = [(error.instance_path, error.message) for error in VALIDATOR.iter_errors(logged(name))]
    assert wrong[:1] == []


@pytest.mark.parametrize("name", NAMES)
def test_packets_of_each_path_are_as_many_in_the_log_as_in_the_run(
    name: str, recorded: Run, logged: Logged
) -> None:
    run, traces = recorded(name), logged(name)["traces"]
    by_title = {trace["title"]: trace for trace in traces}
    paths = titles(run)
    assert list(by_title) == [path for path in paths if path in by_title]
    for trace in traces:
        assert trace["title"].startswith(trace["common_fields"]["group_id"] + ".path")
    silent: Log = {"events": []}  # a path that was not used may have no trace
    for column, kind in (("sent_packets", SENT), ("retransmits", LOST)):
        counted = [len(of(by_title.get(path, silent), kind)) for path in paths]
        assert counted == run.paths.column(column).tolist(), column
    capture = read(run.pcap)
    tcp = (t for t in traces if t["title"].split(".")[0] in of_tcp(run))
    logged_bytes = sum(sum(lengths(trace)) for trace in tcp)
    assert logged_bytes == sum(capture.paths.payload_bytes)


@pytest.mark.parametrize("name", NAMES)
def test_time_does_not_go_back_and_packets_count_up(name: str, logged: Logged) -> None:
    for trace in logged(name)["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times) and all(0 <= time <= 4000 for time in times)
        for kind in (SENT, RECEIVED):
            numbers = [e["data"]["header"]["packet_number"] for e in of(trace, kind)]
            assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("name", NAMES)
def test_a_packet_is_sent_before_it_is_acknowledged_or_lost_and_is_so_once(
    name: str, recorded: Run, logged: Logged
) -> None:
    for trace in logged(name)["traces"]:
        fate: dict[int, str] = {}
        for event in trace["events"]:
            data = event["data"]
            if event["name"] == SENT:
                fate[data["header"]["packet_number"]] = "sent"
            elif event["name"] == LOST:
                number = data["header"]["packet_number"]
                assert fate[number] == "sent"
                fate[number] = "lost"
            elif event["name"] == RECEIVED and "frames" in data:
                ranges = data["frames"][0]["acked_ranges"]
                assert all(b < c for (_, b), (c, _) in itertools.pairwise(ranges))
                for number in itertools.chain(*(range(a, b + 1) for a, b in ranges)):
                    assert fate[number] == "sent"
                    fate[number] = "acknowledged"
        if trace["title"].split(".")[0] in of_tcp(recorded(name)) and len(fate) > 100:
            assert Counter(fate.values())["acknowledged"] > len(fate) / 4


@pytest.mark.parametrize("name", NAMES)
def test_windows_in_the_log_are_those_of_the_series(
    name: str, recorded: Run, logged: Logged
) -> None:
    run, compared = recorded(name), 0
    series = run.result.runs[0].series
    payloads = {c.name: c.payload_bytes for c in run.result.plan.classes}
    flows = run.result.runs[0].flows.class_
    paths = titles(run)
    for trace in logged(name)["traces"]:
        metrics, path = of(trace, METRICS), paths.index(trace["title"])
        times = [event["time"] for event in metrics]
        payload = payloads[flows[run.paths.flow[path]]]
        for row, at_s in enumerate(series.t_s):
            before = int(np.searchsorted(times, 1e3 * at_s + 1e-6)) - 1
            window = series.paths.cwnd_segments[row][path]
            if before < 0 or window != window:
                continue
            logged_bytes = metrics[before]["data"]["congestion_window"]
            assert logged_bytes == pytest.approx(window * payload, abs=1), (trace["title"], at_s)
            compared += 1
    assert compared > 15  # of 20 samples of a path in two seconds, those after its first packet


@pytest.mark.parametrize("name", NAMES)
def test_states_follow_one_another_and_say_when_losses_are_repaired(
    name: str, recorded: Run, logged: Logged
) -> None:
    seen = Counter()
    for trace in logged(name)["traces"]:
        last = None
        for event in of(trace, STATE):
            assert event["data"].get("old") == last != event["data"]["new"]
            last = event["data"]["new"]
            seen[last] += 1
    assert seen["slow_start"]
    paths = recorded(name).paths
    if sum(paths.recoveries) > 0:
        assert seen["recovery"]
    # A recovery that a timeout ends leads to slow start.
    if sum(paths.recoveries) > sum(paths.timeouts):
        # At 1 Mb/s a recovery takes longer than these two seconds.
        assert seen["congestion_avoidance"] or name.startswith("couple-plus/")


@pytest.mark.parametrize("name", NAMES)
def test_qvis_can_draw_a_log(name: str, logged: Logged) -> None:
    """Beyond what the drafts ask for: its loader looks at each trace's last event, and its graph
    leaves out packets without a length."""
    for trace in logged(name)["traces"]:
        assert trace["events"]
        for event in of(trace, SENT):
            raw = event["data"]["raw"]
            assert raw.get("length", 0) > raw["payload_length"], trace["title"]


def test_a_log_that_is_not_as_the_drafts_define_is_noticed(logged: Logged) -> None:
    right = {**logged(EVERYTHING), "traces": copy.deepcopy(logged(EVERYTHING)["traces"][:1])}
    events = right["traces"][0]["events"]
    first = {kind: next(e for e in events if e["name"] == kind) for kind in (SENT, METRICS, STATE)}
    faults: list[tuple[Log, str, Any]] = [
        (right, "qlog_version", "0.4"),
        (right, "extra", 1),
        (right["traces"][0], "vantage_point", {"name": "x"}),
        (right["traces"][0]["common_fields"], "time_format", "seconds"),
        (first[SENT], "name", "transport:packet_send"),
        (first[SENT], "time", "0"),
        (first[SENT]["data"]["header"], "packet_type", "2RTT"),
        (first[SENT]["data"]["header"], "packet_number", -1),
        (first[SENT]["data"], "frames", [{"frame_type": "stream", "stream_id": 0, "offset": 0}]),
        (first[METRICS]["data"], "congestion_window", 1.5),
        (first[METRICS]["data"], "cwnd", 1),
        (first[STATE]["data"], "new", "slow-start"),
    ]
    assert VALIDATOR.is_valid(right)
    for place, key, value in faults:
        before = dict(place)
        place[key] = value
        assert not VALIDATOR.is_valid(right), (key, value)
        place.clear()
        place.update(before)
    assert VALIDATOR.is_valid(right)
