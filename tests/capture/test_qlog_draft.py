"""A qlog of the current drafts is what they define, and says what the run and its qlog 0.3 say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema_rs import Draft202012Validator
from miniature import EVERYTHING, scenario
from typer.testing import CliRunner

import anabranch as ab
from anabranch.cli.application import app
from anabranch.plan import Plan
from anabranch.qlog import read
from anabranch.qlog.writing import Sampled

SCHEMA = json.loads((Path(__file__).parent / "qlog-draft.schema.json").read_text())
Log = dict[str, Any]


def validator(part: str) -> Draft202012Validator:
    """Of a part of the drafts."""
    return Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{part}"})


FILE, HEAD, EVENT = (validator(part) for part in ("QlogFile", "QlogFileSeq", "Event"))


def faults(validator: Draft202012Validator, content: Any) -> list[str]:
    """The first thing that the drafts do not allow."""
    return [f"{e.instance_path}: {e.message}" for e in validator.iter_errors(content)][:1]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> tuple[ab.Result, dict[str, Path]]:
    """A run with everything, in each form of log."""
    folder = tmp_path_factory.mktemp("draft")
    files = {"0.3": folder / "old.qlog", "draft": folder / "new.qlog", "seq": folder / "new.sqlog"}
    for form, file in files.items():
        version = "draft" if form == "draft" else None
        recording = ab.Recording(qlog=file, qlog_version=version)
        result = ab.run(scenario(EVERYTHING), [1], series=True, recording=recording)
    return result, files


Logs = tuple[ab.Result, dict[str, Path]]


def sequence(file: Path) -> list[Log]:
    """The records of a sequence: each begins with a separator and ends with a newline."""
    text = file.read_text("utf-8")
    assert text[0] == "\x1e" and text[-1] == "\n"
    return [json.loads(part) for part in text.split("\x1e")[1:] if part.endswith("\n")]


def test_a_log_is_what_the_drafts_define_in_both_serializations(logs: Logs) -> None:
    _, files = logs
    head, *events = sequence(files["seq"])
    assert faults(HEAD, head) == []
    assert [fault for event in events for fault in faults(EVENT, event)][:1] == []
    assert faults(FILE, json.loads(files["draft"].read_text())) == []
    for file in (files["seq"], files["draft"]):  # main schema §3: tools look there
        assert b"serialization_format" in file.read_bytes()[:256]


def test_a_log_that_is_not_as_the_drafts_define_is_noticed(logs: Logs) -> None:
    head, *events = sequence(logs[1]["seq"])
    sent = next(e for e in events if e["name"] == "quic:packet_sent" and "frames" in e["data"])
    wrong: list[Log] = [
        {**sent, "name": "transport:packet_sent"},
        {**sent, "time": "0"},
        {**sent, "path": "p0"},
        {**sent, "tuple": 0},
        {**sent, "data": {**sent["data"], "header": {"packet_number": 1}}},
        {**sent, "data": {**sent["data"], "frames": [{"frame_type": "stream", "length": 1}]}},
    ]
    assert EVENT.is_valid(sent) and not any(EVENT.is_valid(event) for event in wrong)
    assert not HEAD.is_valid({**head, "qlog_version": "0.4"})
    assert not HEAD.is_valid({**head, "trace": {**head["trace"], "event_schemas": []}})


def test_a_connection_is_one_stream_whose_events_all_name_their_path(logs: Logs) -> None:
    result, files = logs
    _, *events = sequence(files["seq"])
    users = {f"{c.name}.{n}" for c in result.plan.classes for n in range(c.count)}
    assert {event["group_id"] for event in events} == users
    assert all(event["tuple"] == f"p{event['path_id']}" for event in events)
    several = {e["group_id"] for e in events if e["path_id"] > 0}
    assert several and len({e["path_id"] for e in events if e["group_id"] in several}) > 1
    contained = json.loads(files["draft"].read_text())["traces"]
    assert [trace["common_fields"]["group_id"] for trace in contained] == sorted(
        users, key=[t["common_fields"]["group_id"] for t in contained].index
    )
    named = [
        {**e, "group_id": t["common_fields"]["group_id"]} for t in contained for e in t["events"]
    ]
    assert sorted(named, key=str) == sorted(events, key=str)
    assert [e["time"] for e in events] == sorted(e["time"] for e in events)


def test_a_path_is_assigned_before_its_first_event_and_abandoned_when_it_leaves(logs: Logs) -> None:
    result, files = logs
    _, *events = sequence(files["seq"])
    state: dict[tuple[str, int], str] = {}
    for event in events:
        path = event["group_id"], event["path_id"]
        if event["name"] == "quic:tuple_assigned":
            state[path] = "open" if "tuple_remote" in event["data"] else "left"
            assert event["data"]["tuple_id"] == event["tuple"]
        assert path in state
    leaving = {
        (f"{c.name}.{user}", number)
        for c in result.plan.classes
        for user in range(c.count)
        for number, path in enumerate(c.paths)
        if path.leave_s is not None
    }
    assert leaving and {path for path, last in state.items() if last == "left"} == leaving


def test_both_versions_say_the_same(logs: Logs) -> None:
    _, files = logs
    old = json.loads(files["0.3"].read_text())["traces"]
    new = json.loads(files["draft"].read_text())["traces"]

    def events(traces: list[Log]) -> Counter[str]:
        names = [
            e["name"].rpartition(":")[2].removeprefix("recovery_")
            for t in traces
            for e in t["events"]
        ]
        return Counter(name for name in names if name != "tuple_assigned")

    assert events(old) == events(new)


@pytest.mark.parametrize("form", ["0.3", "draft", "seq"])
def test_what_is_written_is_read_with_the_shares_windows_and_losses_of_the_result(
    form: str, logs: Logs
) -> None:
    result, files = logs
    run, read_back = result.runs[0], read(files[form], bin_s=0.01)
    first_s = read_back.facts.first_s
    users = [f"{c.name}.{n}" for c in result.plan.classes for n in range(c.count)]
    rows = {}
    for row, (flow, path) in enumerate(zip(run.paths.flow, run.paths.path, strict=True)):
        name = users[flow]
        rows[f"{name}.path{path}" if form == "0.3" else f"{name} path-{path}"] = row
    seen = [rows[read_back.label(n)] for n in range(len(read_back.paths.flow))]
    used = [row for row in rows.values() if run.paths.sent_packets[row] > 0]
    assert set(used) <= set(seen)
    lost = run.paths.retransmits[seen]
    assert read_back.paths.retransmits.tolist() == lost.tolist()
    windows = read_back.windows
    assert windows is not None
    payloads = {c.name: c.payload_bytes for c in result.plan.classes}
    compared = 0
    for column, row in enumerate(seen):
        payload = payloads[run.flows.class_[run.paths.flow[row]]]
        for sample, at_s in enumerate(run.series.t_s):
            place = int(np.floor((at_s - first_s) / 0.01 + 1e-6)) - 1
            window = run.series.paths.cwnd_segments[sample, row]
            if 0 <= place < len(windows.t_s) and np.isfinite(window):
                around = windows.cwnd_bytes[place : place + 2, column]
                if np.isfinite(around).all():
                    low, high = min(around) - 1, max(around) + 1
                    compared += low <= window * payload <= high
    assert compared > 200  # nothing else moved in most of these bins


def test_shares_that_are_read_are_those_of_the_result(tmp_path: Path) -> None:
    words = ["duration=8 s", "warmup=0 s", "flow.multipath.count=1", "flow.single-path.count=1"]
    for name in ("c.qlog", "c.sqlog"):
        recording = ab.Recording(qlog=tmp_path / name)
        result = ab.run("khalili/scenario-c", overrides=words, recording=recording)
        paths = result.runs[0].paths
        sent = paths.sent_packets / np.bincount(paths.flow, weights=paths.sent_packets)[paths.flow]
        found = read(tmp_path / name)
        order = np.argsort([found.label(n) for n in range(len(found.shares))])
        assert found.shares[order] == pytest.approx(sent, abs=0.002)
        assert found.paths.sent_packets[order].tolist() == paths.sent_packets.tolist()


def test_samples_of_the_kernel_are_a_log_of_the_drafts(tmp_path: Path) -> None:
    """Written from a simulation's series, which has the columns of the kernel's."""
    words = ["duration=12 s", "warmup=0 s", "flow.multipath.count=1", "flow.single-path.count=1"]
    result = ab.run("khalili/scenario-c", overrides=words, series=True)
    run = result.runs[0]
    lost = np.cumsum(np.ones(run.series.paths.cwnd_segments.shape), axis=0)
    plan: Plan = result.plan
    log = Sampled(
        plan, run, lost, [(f"10.0.0.{n}", "10.9.9.9") for n in range(len(run.paths.flow))]
    )
    log.write(tmp_path / "k.sqlog", sequential=True)
    log.write(tmp_path / "k.qlog", sequential=False)
    head, *events = sequence(tmp_path / "k.sqlog")
    assert faults(HEAD, head) == [] and not any(faults(EVENT, event) for event in events)
    assert faults(FILE, json.loads((tmp_path / "k.qlog").read_text())) == []
    arrived = run.series.paths.arrived_bytes[-1]
    shares = arrived / np.bincount(run.paths.flow, weights=arrived)[run.paths.flow]
    for name in ("k.sqlog", "k.qlog"):
        found = read(tmp_path / name)
        order = np.argsort([found.label(n) for n in range(len(found.shares))])
        assert found.shares[order] == pytest.approx(shares, abs=0.01)
        assert (found.paths.retransmits >= len(run.series.t_s) - 30).all()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--qlog", "x.qlog", "--qlog-version", "0.4"],
            "--qlog-version is '0.4'; write 0.3 or draft",
        ),
        (["--qlog-version", "draft"], "say where to with --qlog"),
        (["--qlog", "x.sqlog", "--qlog-version", "0.3"], "x.sqlog is a sequence by its name"),
    ],
)
def test_a_version_that_cannot_be_is_refused_with_what_would_be_right(
    words: list[str], said: str
) -> None:
    done = CliRunner().invoke(app, ["run", "khalili/scenario-c", *words])
    assert done.exit_code != 0 and said in str(done.exception) + done.output
