"""JSON logs are read value by value: as the standard library reads them, in bounded memory."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.qlog import read, scanning
from anabranch.qlog.scanning import CutOff, Scanner

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64)
    | st.floats(allow_nan=False)
    | st.text(max_size=9)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


def whole(scanner: Scanner) -> Any:
    """The next value, with objects and lists read member by member."""
    if scanner.peek() == "{":
        return {key: whole(scanner) for key in scanner.members()}
    if scanner.peek() == "[":
        return [whole(scanner) for _ in scanner.items()]
    return scanner.value()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads three bytes at once, so that each kind of value is cut somewhere."""
    monkeypatch.setattr(scanning, "PIECE", 3)


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t\r\n "]))
@settings(max_examples=300)
def test_a_text_is_read_as_the_standard_library_reads_it(
    value: Any, ascii_only: bool, indent: Any
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    before, scanning.PIECE = scanning.PIECE, 3
    try:
        scanner = Scanner(io.BytesIO(text))
        assert whole(scanner) == json.loads(text)
        scanner.end()
        again = Scanner(io.BytesIO(text))
        assert again.value() == json.loads(text)
        again.end()
    finally:
        scanning.PIECE = before


def test_a_value_is_read_again_from_the_byte_where_it_began(tiny: None) -> None:
    file = io.BytesIO('{"größe": "µ", "list": [1, "zwölf", {"a": 20}], "b": 2}'.encode())
    scanner, places = Scanner(file), {}
    for key in scanner.members():
        scanner.peek()
        places[key] = scanner.at
        scanner.value()
    assert [Scanner(file, at).value() for at in places.values()] == [
        "µ",
        [1, "zwölf", {"a": 20}],
        2,
    ]


@pytest.mark.parametrize(
    "text", ['{"a": [1, {"b": "c d"}, tru', '{"a": [1, {"b', '{"a": [1', '{"a"', "{", '{"a": [1, ']
)
def test_a_text_that_ends_early_is_cut_off(text: str, tiny: None) -> None:
    with pytest.raises(CutOff, match=r"^the file is cut off$"):
        whole(Scanner(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": [1, {"b": x}, {}]}', "the file is not JSON: Expecting value at byte 16"),
        ("{1: 2}", "the file is not JSON: Expecting a key at byte 1"),
        ('{"a" 2}', "the file is not JSON: Expecting ':' at byte 5"),
        ("[1 2]", "the file is not JSON: Expecting ',' at byte 3"),
        ('"µ" 2', "the file is not JSON: Extra data at byte 5"),
        ("[" * 100_000, "the file is not JSON of a log: it is nested too deeply"),
        ("9" * 5000, "the file is not JSON: Exceeds the limit"),
        ('"\udcff"', "the file is not JSON: 'utf-8' codec can't decode"),
    ],
)
def test_what_is_no_json_is_named_with_its_byte(text: str, said: str, tiny: None) -> None:
    scanner = Scanner(io.BytesIO(text.encode(errors="surrogateescape")))
    with pytest.raises(ValueError, match=re.escape(said)):
        scanner.value() if text[:2] in ("[[", "99") else whole(scanner)
        scanner.end()


def event(path: int, number: int) -> dict[str, Any]:
    """A packet with data in the form of qlog 0.3."""
    return {
        "time": 0.1 * number + path,
        "name": "transport:packet_sent",
        "data": {
            "header": {"packet_type": "1RTT", "packet_number": number},
            "raw": {"length": 1200},
            "frames": [{"frame_type": "stream", "stream_id": 0, "offset": 0, "length": 1170}],
        },
    }


def acked(path: int, number: int) -> dict[str, Any]:
    """Its acknowledgement."""
    frame = {"frame_type": "ack", "acked_ranges": [[number, number]]}
    data = {"header": {"packet_type": "1RTT", "packet_number": number}, "frames": [frame]}
    return {"time": 0.1 * number + path + 0.05, "name": "transport:packet_received", "data": data}


def log(file: Path, packets: int, traces: int) -> Path:
    """A log with one trace for each path, whose fields stand behind its events."""
    with file.open("w") as out:
        out.write('{"qlog_version": "0.3", "qlog_format": "JSON", "traces": [')
        for path in range(traces):
            out.write(("," if path else "") + '\n{"events": [')
            for number in range(packets):
                both = event(path, number), acked(path, number)
                out.write(("," if number else "") + ",\n".join(json.dumps(one) for one in both))
            title = {"title": f"u.0.path{path}", "vantage_point": {"type": "server"}}
            title["common_fields"] = {"group_id": "u.0", "time_format": "relative"}
            out.write("]," + json.dumps(title)[1:])
        out.write("]}")
    return file


@pytest.mark.parametrize("traces", [1, 3])
def test_json_is_read_in_memory_that_does_not_grow_with_its_events(
    traces: int, tmp_path: Path
) -> None:
    most = []
    for packets in (500, 6_000):
        file = log(tmp_path / f"{packets}.qlog", packets, traces)
        tracemalloc.start()
        found = read(file, bin_s=10)
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found.facts.packets == 2 * traces * packets
        assert found.paths.sent_packets.tolist() == traces * [packets]
        assert found.paths.acked_bytes.tolist() == traces * [1170 * packets]
        assert file.stat().st_size > (packets > 500) * 1.5e6 * traces
    assert most[1] < 1.2 * most[0], most


def test_fields_behind_the_events_count_and_traces_begin_at_the_first_event(tmp_path: Path) -> None:
    found = read(log(tmp_path / "x.qlog", 10, 3))
    assert found.labels == ["u.0.path0", "u.0.path1", "u.0.path2"]
    assert not found.paths.upward.any()  # a server's, as it says at the end
    # Path 1 begins one millisecond after path 0, of which ten packets have 0.1 ms each.
    assert found.facts.duration_s == pytest.approx(2.95e-3)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.9, 0.9999])
def test_a_json_that_is_cut_off_is_read_up_to_there_if_that_is_asked_for(
    share: float, tmp_path: Path
) -> None:
    text = log(tmp_path / "x.qlog", 50, 2).read_text()
    text = text[: int(share * len(text))]
    file = tmp_path / "cut.qlog"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"cut.qlog: the file.* is cut off; `--partial` takes"):
        read(file)
    found = read(file, partial=True)
    complete = text.count('"acked_ranges": [[')
    assert complete - 1 <= found.facts.packets - text.count("packet_sent") <= complete
    assert [one for one in found.warnings if one.startswith("broken: the file")]
