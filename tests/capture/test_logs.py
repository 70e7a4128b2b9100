"""Logs of QUIC stacks are read as captures are: noq, picoquic, xquic, and what is wrong in them."""

from __future__ import annotations

import itertools
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from anabranch.advice.measured import read as measured
from anabranch.capture import Capture
from anabranch.cli.application import app
from anabranch.qlog import read
from anabranch.unused import told

LOGS = Path(__file__).parent / "logs"
NOQ = LOGS / "noq.sqlog"

XQUIC = """\
[2026/01/02 11:34:11 500000] [packet_sent] |scid:ab01|xqc_send_packet_with_pn|<==|conn:0000CA|path_id:0|\
pkt_pns:2|pkt_type:SHORT_HEADER|pkt_num:7|size:1184|frame_flag:STREAM |sent:1200|inflight:1184|now:1|\
stream_id:0|stream_offset:0|
[2026/01/02 11:34:11 501000] [packet_sent] |scid:ab01|xqc_send_packet_with_pn|<==|conn:0000CA|path_id:1|\
pkt_pns:2|pkt_type:SHORT_HEADER|pkt_num:7|size:984|frame_flag:STREAM |sent:1000|inflight:984|now:1|\
stream_id:0|stream_offset:1170|
[2026/01/02 11:34:11 502000] [stream_state_updated] |scid:ab01|f|stream_id:0|send_stream|old:0|new:1|
[2026/01/02 11:34:11 503000] [packet_sent] |scid:ab01|xqc_send_packet_with_pn|<==|conn:0000CA|path_id:1|\
pkt_pns:2|pkt_type:SHORT_HEADER|pkt_num:8|size:984|frame_flag:STREAM |sent:1000|inflight:1968|now:1|\
stream_id:0|stream_offset:2140|
[2026/01/02 11:34:11 504000] [packet_sent] |scid:ab01|xqc_send_packet_with_pn|<==|conn:0000CA|path_id:1|\
pkt_pns:2|pkt_type:SHORT_HEADER|pkt_num:9|size:984|frame_flag:STREAM |sent:1000|inflight:2952|now:1|\
stream_id:0|stream_offset:3110|
[2026/01/02 11:34:11 505000] [info] |xqc_engine_main_logic|END|
[2026/01/02 11:34:11 550000] [packet_received] |scid:ab01|f|pkt_pns:2|pkt_type:SHORT_HEADER|pkt_num:3|\
len:40|frame_flag:ACK_MP |path_id:0|
[2026/01/02 11:34:11 550000] [packets_acked] |scid:ab01|xqc_process_ack_frame|pkt_space:2|high:7|low:7|path_id:0|
[2026/01/02 11:34:11 550000] [rec_metrics_updated] |scid:ab01|xqc_send_ctl_on_ack_received|cwnd:33200|\
inflight:0|mode:0|applimit:0|pacing_rate:996000|bw:664000|srtt:50000|latest_rtt:50000|ctl_rttvar:0|\
pto_count:9|min_rtt:0|send:0|lost:5|tlp:1|recv:50000|
[2026/01/02 11:34:11 600000] [packet_lost] |scid:ab01|f|pkt_pns:2|pkt_type:4|pkt_num:8|lost_pn:9|\
po_sent_time:1|lost_send_time:1|loss_delay:1|frame:STREAM |repair:1|path_id:1|
[2026/01/02 11:34:11 601000] [packets_acked] |scid:ab01|xqc_process_ack_mp_frame|pkt_space:2|high:7|low:7|path_id:1|
[2026/01/02 11:34:11 601000] [rec_metrics_updated] |scid:ab01|xqc_send_ctl_on_ack_received|cwnd:14000|\
inflight:0|applimit:0|srtt:100000|latest_rtt:100000|pto_count:0|send:2|lost:1|tlp:0|recv:1|
[2026/01/02 11:34:11 602000] [packet_lost] |scid:ab01|f|pkt_pns:2|pkt_type:4|pkt_num:10|\
lost_pn:18446744073709551615|po_sent_time:1|lost_send_time:1|loss_delay:1|frame:PING |repair:0|path_id:1|
[2026/01/02 11:34:11 604000] [packets_acked] |scid:ab01|xqc_process_ack_mp_frame|pkt_space:2|high:9|low:9|path_id:1|
"""
"""Lines as the formats of xquic's src/common/xqc_log_event_callback.c at d67938d print them."""


def windows(capture: Capture) -> Any:
    """The last window of each path in bytes."""
    assert capture.windows is not None
    return capture.windows.cwnd_bytes[-1]


def test_a_log_of_noq_has_what_noq_counted() -> None:
    found = read(NOQ)
    paths = found.paths
    assert found.labels == ["path-0", "path-1"] and not found.warnings
    assert paths.retransmits.tolist() == [2, 1]  # its statistics of each path at the end
    # On path 1 noq ends with 30257 and 37.3 ms. It logs the metrics of the path on which an ACK
    # arrives, not of the path whose packets that acknowledges.
    assert windows(found).tolist() == [26105, 43225]
    assert sum(paths.acked_bytes) == 180_000  # all that was transferred, and each byte once
    assert found.windows is not None
    assert 1e3 * found.windows.srtt_s[-1] == pytest.approx([24.4, 42.3], abs=0.1)
    assert paths.rtt_s == pytest.approx([0.026, 0.035], abs=0.001)
    assert found.shares == pytest.approx([0.697, 0.303], abs=0.001)
    assert paths.responder == ["127.0.0.1:5501", "127.0.0.1:5502"]


def test_ranges_of_noq_end_before_their_second_number_and_others_do_not(tmp_path: Path) -> None:
    head, *events = NOQ.read_text().split("\x1e")[1:]
    other = head.replace(
        '"event_schemas":[]', '"event_schemas":["urn:ietf:params:qlog:events:quic-12"]'
    )
    file = tmp_path / "other.sqlog"
    file.write_text("".join("\x1e" + one for one in [other, *events]))
    # Read as written, they acknowledge packets that were lost, and before they arrive.
    assert sum(read(file).paths.acked_bytes) != 180_000
    single = re.sub(
        r"\[\[0,1\]\]", "[[0]]", "".join("\x1e" + one for one in [head, *events]), count=1
    )
    file.write_text(single)  # a version of noq that writes one number alone has both ends included
    assert sum(read(file).paths.acked_bytes) != 180_000


def picoquic() -> str:
    """A server's log in picoquic's form: draft-00, arrays with `path_id`, microseconds. It sends
    four packets over each of two paths; the second one of path 1 is lost.
    """
    rows: list[list[Any]] = [
        [0, path, "recovery", "metrics_updated", {"cwnd": 15360}] for path in (0, 1)
    ]
    for number, path in itertools.product(range(4), (0, 1)):
        stream = {
            "frame_type": "stream",
            "id": 4,
            "offset": 1000 * (2 * number + path),
            "length": 1000,
        }
        header = {"packet_size": 1030, "packet_number": number}
        sent = {"packet_type": "1RTT", "header": header, "frames": [stream]}
        rows.append([1000 * number, path, "transport", "packet_sent", sent])
    for path, ranges in ((0, [[0, 3]]), (1, [[0, 0], [2, 3]])):
        ack = {"frame_type": "path_ack", "path_id": path, "ack_delay": 0, "acked_ranges": ranges}
        header = {"packet_size": 40, "packet_number": path}
        came = {"packet_type": "1RTT", "header": header, "frames": [ack]}
        at = 30_000 + 10_000 * path
        rows.append([at, path, "transport", "packet_received", came])
        rows.append(
            [at, path, "recovery", "metrics_updated", {"smoothed_rtt": at - 3000, "cwnd": 16384}]
        )
    lost = {
        "packet_type": "1RTT",
        "trigger": "repeat",
        "header": {"packet_type": "1RTT", "packet_number": 1, "packet_size": 1030},
    }
    rows.append([41_000, 1, "recovery", "packet_lost", lost])
    trace = {
        "vantage_point": {"name": "backend-67", "type": "server"},
        "event_fields": ["relative_time", "path_id", "category", "event", "data"],
        "configuration": {"time_units": "us"},
        "common_fields": {"protocol_type": "QUIC_HTTP3", "reference_time": "11001"},
        "events": rows,
    }
    return json.dumps({"qlog_version": "draft-00", "title": "picoquic", "traces": [trace]})


def test_a_log_of_picoquic_has_its_paths_in_the_fields_of_its_events(tmp_path: Path) -> None:
    file = tmp_path / "picoquic.qlog"
    file.write_text(picoquic())
    found = read(file)
    assert found.labels == ["path-0", "path-1"]
    assert found.facts.packets == 10 and found.facts.duration_s == pytest.approx(0.041)
    assert found.paths.retransmits.tolist() == [0, 1]
    assert found.paths.acked_bytes.tolist() == [4000, 3000]
    assert found.paths.rtt_s == pytest.approx([0.0285, 0.04 - 0.005 / 3])
    assert not found.paths.upward[0] and found.paths.initiator[0] == "there"  # a server's
    assert windows(found).tolist() == [16384, 16384]
    assert found.windows is not None and found.windows.srtt_s[-1] == pytest.approx([0.027, 0.037])


def test_a_log_of_xquic_gives_metrics_to_the_path_that_was_acknowledged(tmp_path: Path) -> None:
    file = tmp_path / "xquic.log"
    file.write_text(XQUIC)
    found = read(file, bin_s=0.01)
    assert found.paths.data_ip_bytes.tolist() == [1200, 3000]
    assert found.paths.sent_packets.tolist() == [1, 3]
    assert found.paths.retransmits.tolist() == [0, 2]
    assert found.paths.rtt_s == pytest.approx([0.05, 0.1])  # of 7 and of 9, which is not lost
    assert windows(found).tolist() == [33200, 14000]
    assert found.windows is not None
    assert found.windows.srtt_s[-1] == pytest.approx([0.05, 0.1])


def test_data_whose_length_a_log_does_not_say_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    file = tmp_path / "xquic.log"
    file.write_text(XQUIC)
    found = read(file)
    assert np.isnan(found.paths.acked_bytes).all() and np.isnan(found.flows.goodput_bps).all()
    assert found.to_json()["paths"]["payload_bytes"] == [None, None]
    assert found.shares == pytest.approx([1200 / 4200, 3000 / 4200])


def line(**event: Any) -> str:
    """A record of a sequence."""
    return "\x1e" + json.dumps(event) + "\n"


HEAD = line(
    file_schema="urn:ietf:params:qlog:file:sequential",
    serialization_format="application/qlog+json-seq",
    trace={
        "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
        "vantage_point": {"type": "client"},
    },
)


def sent(at_ms: float, number: int, path: str) -> str:
    """A packet with data."""
    data = {
        "header": {"packet_type": "1RTT", "packet_number": number},
        "raw": {"length": 1200},
        "frames": [{"frame_type": "stream", "stream_id": 0, "raw": {"length": 1170}}],
    }
    return line(time=at_ms, name="quic:packet_sent", tuple=path, data=data)


def acked(at_ms: float, first: int, last: int, path: int) -> str:
    """An acknowledgement of a path."""
    frame = {"frame_type": "path_ack", "path_id": path, "acked_ranges": [[first, last]]}
    data = {"header": {"packet_type": "1RTT", "packet_number": 0}, "frames": [frame]}
    return line(time=at_ms, name="quic:packet_received", tuple=f"p{path}", data=data)


def test_times_that_count_from_the_event_before_are_added_up(tmp_path: Path) -> None:
    head = json.loads(HEAD[1:])
    head["trace"]["common_fields"] = {"time_format": "relative_to_previous_event"}
    file = tmp_path / "delta.sqlog"
    file.write_text(line(**head) + sent(1e12, 0, "p0") + sent(30, 1, "p0") + acked(20, 0, 1, 0))
    found = read(file)
    assert found.facts.duration_s == pytest.approx(0.05, abs=1e-6)
    assert found.paths.rtt_s == pytest.approx([(0.05 + 0.02) / 2], abs=1e-6)


def test_a_path_that_was_opened_and_not_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "unused.sqlog"
    opened = "".join(
        line(time=0, name="quic:tuple_assigned", data={"tuple_id": f"p{n}"}) for n in (0, 1)
    )
    packets = "".join(sent(n, n, "p0") + acked(n + 20, n, n, 0) for n in range(400))
    file.write_text(HEAD + opened + packets)
    (said,) = told(read(file))
    assert "path-1 was opened and carried next to nothing" in said
    assert measured(str(file)).diseases == [said]
    done = CliRunner().invoke(app, ["capture", str(file)], env={"COLUMNS": "300"})
    assert done.exit_code == 0 and "path-1 was opened and carried next to nothing" in done.output


def test_a_wide_range_of_numbers_costs_no_time_and_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "wide.sqlog"
    file.write_text(HEAD + sent(0, 5, "p0") + acked(10, 0, 2**61, 0))
    assert read(file).paths.acked_bytes.tolist() == [1170]


def test_a_sequence_is_read_in_memory_that_does_not_grow_with_it(tmp_path: Path) -> None:
    most = []
    for packets in (500, 4_000):
        file = tmp_path / f"{packets}.sqlog"
        part = (sent(n / 10, n, "p0") + acked(n / 10, n, n, 0) for n in range(packets))
        file.write_text(HEAD + "".join(part))
        tracemalloc.start()
        read(file, bin_s=10)
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[1] < 1.2 * most[0]


def test_a_sequence_that_is_cut_off_is_read_up_to_there_if_that_is_asked_for(
    tmp_path: Path,
) -> None:
    file = tmp_path / "cut.sqlog"
    whole = HEAD + sent(0, 0, "p0") + sent(1, 1, "p0")
    file.write_text(whole[:-20])
    with pytest.raises(ValueError, match=r"cut.sqlog: record 3 is cut off; `--partial` takes"):
        read(file)
    found = read(file, partial=True)
    assert found.paths.sent_packets.tolist() == [1] and found.warnings == [
        "broken: record 3 is cut off"
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("\x1e[1]\n", "record 2 is [1]; it is an object"),
        ("\x1e{,}\n", "record 2 is not JSON: Expecting property name"),
        (line(name="quic:packet_sent", data={}), "record 2: time is missing; it is a number"),
        (line(time=1, name=7, data={}), "record 2: name is 7; it is the name of an event"),
        (line(time=1, name="packet_sent", data=3), "record 2: data is 3; it is an object"),
        (sent(0, -1, "p0"), "record 2: data.header.packet_number is -1; it is a whole number"),
        (
            line(
                time=1,
                name="quic:packet_sent",
                data={"frames": [{"frame_type": "stream", "raw": 1}]},
            ),
            "record 2: data.frames[0].raw is 1; it is an object",
        ),
        (
            line(time=1, name="quic:recovery_metrics_updated", data={"congestion_window": "wide"}),
            "record 2: data.congestion_window is 'wide'; it is a number, 0 or more",
        ),
        (
            acked(0, 1, -2, 0),
            "record 2: data.frames[0].acked_ranges is [[1, -2]]; it is a list of ranges",
        ),
        ("", "it has no event of a packet or of a metric"),
        ("\x1e" + "[" * 100_000 + "\n", "record 2 is not JSON of a log: it is nested too deeply"),
    ],
)
def test_what_is_wrong_in_a_log_is_named_with_its_record(
    record: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.sqlog"
    file.write_text(HEAD + record)
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        read(file)
    assert str(raised.value).startswith(f"{file}: ")
    done = CliRunner().invoke(app, ["capture", str(file)])
    assert said in str(done.exception)


SHORT = [
    text.encode()
    for text in (HEAD + sent(0, 0, "p0") + sent(1, 0, "p1") + acked(9, 0, 0, 1), XQUIC)
]
SHORT.append(picoquic().encode()[:900] + b"\n}]]}]}")
SHORT.append(b"\x1e".join(NOQ.read_bytes().split(b"\x1e")[:40]))

PIECES = st.sampled_from(
    [
        b"",
        b"null",
        b"-1",
        b"1e999",
        b"NaN",
        b'"',
        b"{",
        b"}",
        b"[",
        b"\x1e",
        b"\xff",
        b"9" * 5000,
        b"[]",
        b"true",
    ]
)


@given(
    st.sampled_from(SHORT),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), PIECES), min_size=1, max_size=4),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_a_damaged_log_is_read_or_refused_with_its_name_and_never_otherwise(
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    damage: list[tuple[float, int, bytes]],
    partial: bool,
) -> None:
    for place, length, piece in damage:
        at = int(place * len(content))
        content = content[:at] + piece + content[at + length :]
    file = tmp_path_factory.mktemp("damaged") / "log"
    file.write_bytes(content)
    try:
        found = read(file, partial=partial, delays=True)
    except ValueError as error:
        assert str(error).startswith(str(file)) and len(str(error)) > len(str(file)) + 10
    else:
        json.dumps(found.to_json())
        assert np.isfinite(found.paths.data_ip_bytes).all()


def test_the_command_ends_with_status_2_and_draws_what_it_reads(tmp_path: Path) -> None:
    picture, file = tmp_path / "noq.png", tmp_path / "noq.json"
    done = CliRunner().invoke(
        app, ["capture", str(NOQ), "--plot", str(picture), "--json", str(file)]
    )
    assert done.exit_code == 0 and picture.stat().st_size > 10_000
    written = json.loads(file.read_text())
    assert written["labels"] == ["path-0", "path-1"]
    assert len(written["windows"]["cwnd_bytes"]) == len(written["series"]["t_s"])
