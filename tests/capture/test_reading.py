"""Captures are read back whatever their format is, and what is wrong with one is said."""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blocks import COOKED, FRAMES, PACKET, RAW, Block, blocks, packets, pcap, write
from dissector import required, tshark
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from miniature import EVERYTHING, Recorded, record, scenario

import anabranch as ab
from anabranch.capture import Capture, natural, read
from anabranch.cli import main
from anabranch.cli.capture import show
from anabranch.records import meanings
from anabranch.result import Recording

Recorder = Callable[[str], Recorded]

SMALL = 60
"""Packets of a capture that is cut and changed."""


@pytest.fixture(scope="session")
def small(recorded: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginning of a capture that keeps headers only."""
    folder = tmp_path_factory.mktemp("small")
    found = blocks(record("linux/zero-delay", folder, keep_bytes=96).pcap)
    head = len(found) - len(packets(found))
    return write(folder / "small.pcapng", found[: head + SMALL])


def counted(capture: Capture) -> dict[str, list[Any]]:
    """What a capture says but for its times, which formats keep more or less exactly, and
    addresses.
    """
    exact = ("sent_packets", "payload_bytes", "retransmits", "retransmitted_bytes", "acked_bytes")
    flows = ("token", "subflows", "acked_bytes", "joins_proved", "joins_disproved")
    return {
        "packets": [capture.facts.packets, capture.facts.malformed_packets],
        **{f"path {column}": list(capture.paths.column(column)) for column in ("flow", *exact)},
        **{f"flow {column}": list(getattr(capture.flows, column)) for column in flows},
    }


# Formats.


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_of_both_byte_orders_and_precisions_says_the_same(
    order: str, nanoseconds: bool, recorded: Recorder, tmp_path: Path
) -> None:
    original, file = recorded("linux/shared-red").pcap, tmp_path / "x.pcap"
    file.write_bytes(pcap(blocks(original), RAW, order=order, nanoseconds=nanoseconds))
    right, again = read(original), read(file)
    assert counted(again) == counted(right)
    rounded = 1e-9 if nanoseconds else 2e-6
    assert again.facts.duration_s == pytest.approx(right.facts.duration_s, abs=rounded)
    assert again.paths.rtt_s == pytest.approx(right.paths.rtt_s, abs=rounded)


@pytest.mark.parametrize("frames", FRAMES)
def test_every_link_layer_and_both_versions_of_ip_say_the_same(
    frames: str, recorded: Recorder, tmp_path: Path
) -> None:
    original, file = recorded("linux/shared-red").pcap, tmp_path / "x.pcap"
    link, framed = FRAMES[frames]
    file.write_bytes(pcap(blocks(original), link, framed=framed))
    right, again = read(original), read(file)
    assert counted(again) == counted(right)
    header = 20 if "IPv6" in frames else 0  # is longer by that
    more = again.paths.data_ip_bytes - right.paths.data_ip_bytes
    assert (more == header * right.paths.sent_packets).all()


def swapped(block: Block) -> bytes:
    """A section, an interface or a packet in the other byte order; no option but the unit of times."""
    if block.kind == PACKET:
        numbers = struct.unpack_from("<IIIII", block.body)
        body = struct.pack(">IIIII", *numbers) + block.packet + bytes(-len(block.packet) % 4)
    elif block.kind == 1:
        body = struct.pack(">HHI", RAW, 0, 0) + struct.pack(">HHBxxxI", 9, 1, 9, 0)
    else:
        body = struct.pack(">IHHq", 0x1A2B3C4D, 1, 0, -1)
    length = struct.pack(">I", len(body) + 12)
    return struct.pack(">I", block.kind) + length + body + length


def test_pcapng_of_the_other_byte_order_says_the_same(small: Path, tmp_path: Path) -> None:
    file, names = tmp_path / "x", 4
    file.write_bytes(b"".join(swapped(block) for block in blocks(small) if block.kind != names))
    again, right = read(file), read(small)
    assert counted(again) == counted(right) and again.facts == right.facts


@pytest.mark.parametrize(
    ("option", "ticks"),
    [(b"", 10**6), (b"\x09\0\x01\0\x03\0\0\0\0\0\0\0", 10**3), (b"\x09\0\x01\0\x94\0\0\0\0\0\0\0", 2**20)],
    ids=["microseconds", "milliseconds", "2 to the power of -20"],
)  # fmt: skip
def test_times_of_an_interface_have_the_unit_that_it_says(
    option: bytes, ticks: int, small: Path, tmp_path: Path
) -> None:
    found = []
    for block in blocks(small):
        body = block.body
        if block.kind == 1:
            body = body[:8] + option
        elif block.kind == PACKET:
            high, low = divmod(block.at_ns * ticks // 10**9, 2**32)
            body = body[:4] + struct.pack("<II", high, low) + body[12:]
        found.append(Block(block.offset, block.kind, body))
    again, right = read(write(tmp_path / "x", found)), read(small)
    assert counted(again) == counted(right)
    assert again.facts.duration_s == pytest.approx(right.facts.duration_s, abs=1.1 / ticks)


def test_sections_one_after_another_are_one_capture(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(2 * small.read_bytes())
    twice, once = read(file), read(small)
    assert twice.facts.packets == 2 * once.facts.packets
    sent = [sum(capture.paths.sent_packets) for capture in (twice, once)]
    assert sent[0] == 2 * sent[1]


def test_what_tshark_converts_says_the_same(recorded: Recorder, tmp_path: Path) -> None:
    required()
    original, file = recorded("linux/shared-red").pcap, tmp_path / "x.pcap"
    tshark("-r", str(original), "-F", "nsecpcap", "-w", str(file))
    assert counted(read(file)) == counted(read(original))


# What is wrong.


def test_a_capture_that_is_cut_anywhere_says_where_it_broke_off(
    small: Path, tmp_path: Path
) -> None:
    data, found, file = small.read_bytes(), blocks(small), tmp_path / "x"
    ends = [block.offset for block in found] + [len(data)]
    cuts = {*range(0, 900, 2), *range(900, len(data), 13), *ends, *(end - 1 for end in ends[1:])}
    for cut in sorted(cuts):
        file.write_bytes(data[:cut])
        begun = max(end for end in ends if end <= cut)
        whole = sum(block.kind == PACKET for block in found if block.offset < begun)
        count = f"{whole} packet{'s' * (whole != 1)}"
        where = f"the file ends in the middle of a packet at byte {begun}, after {count}"
        if cut < ends[1]:
            said = f"{file} is not a capture: it is neither pcapng nor pcap"
        elif begun < cut:
            said = f"{file} is broken: {where};"
        elif not whole:
            said = f"{file} has no TCP among its 0 packets"
        else:
            assert read(file).facts.packets == whole
            continue
        with pytest.raises(ValueError, match=re.escape(said)):
            read(file)
        if whole:
            partial = read(file, partial=True)
            assert partial.facts.packets == whole
            assert partial.warnings == [f"broken: {where}"]


def test_a_pcap_that_is_cut_says_where_it_broke_off(small: Path, tmp_path: Path) -> None:
    data, file = pcap(blocks(small), RAW), tmp_path / "x"
    frames = [24]
    while frames[-1] < len(data):
        frames.append(frames[-1] + 16 + struct.unpack_from("<I", data, frames[-1] + 8)[0])
    for cut in range(30, 500):
        file.write_bytes(data[:cut])
        begun = max(frame for frame in frames if frame <= cut)
        if begun == cut:
            assert read(file).facts.packets == frames.index(begun)
            continue
        with pytest.raises(
            ValueError, match=f"byte {begun}, after {frames.index(begun)} packets?\\b"
        ):
            read(file)


def cooked_without_ip(content: Iterable[Block]) -> bytes:
    """Packets that are neither IPv4 nor IPv6."""
    return pcap(content, COOKED, framed=lambda packet: bytes(14) + b"\x88\xcc" + packet)


def without(content: bytes, place: int, new: bytes) -> bytes:
    """The content with some bytes changed."""
    return content[:place] + new + content[place + len(new) :]


Make = Callable[[Path], bytes]

WRONG: dict[str, tuple[Make, str]] = {
    "empty": (lambda _: b"", "is not a capture: it is neither pcapng nor pcap"),
    "text": (lambda _: b"name = 'x'\n" * 99, "is not a capture"),
    "zeros": (lambda _: bytes(5000), "is not a capture"),
    "a picture": (lambda _: b"\x89PNG\r\n\x1a\n" + bytes(99), "is not a capture"),
    "only a header": (lambda small: pcap([], RAW), "has no TCP among its 0 packets"),
    "no IP": (lambda small: cooked_without_ip(blocks(small)), f"no TCP among its {SMALL} packets"),
    "an unknown link layer": (
        lambda small: pcap(blocks(small), 147),
        f"no TCP among its {SMALL} packets",
    ),
    "a block that is too long": (
        lambda small: without(small.read_bytes(), blocks(small)[9].offset + 4, b"\xff\xff\xff\x7f"),
        "is broken: a packet is longer than any can be at byte ",
    ),
    "a block whose lengths differ": (
        lambda small: without(small.read_bytes(), blocks(small)[9].offset - 4, b"\x10"),
        "is broken: ",
    ),
    "an interface that is not described": (
        lambda small: without(small.read_bytes(), blocks(small)[9].offset + 8, b"\x63"),
        "is broken: a packet is of an interface that is not described at byte ",
    ),
    "a packet without a time": (
        lambda small: small.read_bytes() + bytes(Block(0, 3, struct.pack("<I", 4) + b"abcd")),
        "is broken: a packet has no time at byte ",
    ),
}
"""Files that are no whole capture: how they are made, and what is said."""


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Status, output and errors of a command."""
    before, sys.argv = sys.argv, ["anabranch", *words]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_with_a_file_is_said_with_status_2(
    wrong: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, said = WRONG[wrong]
    file = tmp_path / "wrong.pcapng"
    file.write_bytes(make(small))
    status, out, err = run(["capture", str(file)], capsys)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {file} ") and said in err
    if "is broken" in err:
        assert re.search(r"at byte \d+, after \d+ packets?; `--partial` takes what was read$", err)
        status, out, _ = run(["capture", str(file), "--partial"], capsys)
        assert status == 0 and "broken: " in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no/such.pcapng"], "no/such.pcapng cannot be read: No such file or directory"),
        (["."], ". is a directory; name a file"),
        (["SMALL", "--from", "1 h"], "there is nothing from 3600 s to"),
        (["SMALL", "--from", "9 s"], "there is nothing from 9 s to"),
        (["SMALL", "--to", "0 s"], "there is nothing from 0 s to"),
        (["SMALL", "--from", "2 ms", "--to", "1 ms", "--bin", "1ms"], "there is nothing from 0.002 s to 0.001 s"),
        (["SMALL", "--bin", "10 us"], "they have from 0.0001 s to 86400 s"),
        (["SMALL", "--bin", "0 s"], "bins of 0 s"),
        (["SMALL", "--bin", "1e300 s"], "it is too large"),
        (["SMALL", "--bin", "-1 s"], "it is negative"),
        (["SMALL", "--json", "/no/such/place/x.json"], "/no/such/place"),
        (["SMALL", "--plot", "/no/such/place/x.png"], "/no/such/place"),
        (["SMALL", "--plot", "x.docx"], "docx"),
    ],
)  # fmt: skip
def test_wrong_words_get_a_clear_error_and_status_2(
    words: list[str], said: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(small) if word == "SMALL" else word for word in words]
    status, _, err = run(["capture", *words], capsys)
    assert status == 2 and said in err, err
    assert "Traceback" not in err and not Path("x.docx").exists()


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    data=st.binary(max_size=300), magic=st.sampled_from(["", "0a0d0d0a", "a1b2c3d4", "4d3cb2a1"])
)
def test_random_bytes_are_no_capture_and_no_crash(data: bytes, magic: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes.fromhex(magic) + data)
    with pytest.raises(ValueError):
        read(file)


change = st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255), st.integers(0, 3))


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=st.lists(change, min_size=1, max_size=8), legacy=st.booleans())
def test_a_capture_with_random_faults_is_read_or_refused(
    changes: list[tuple[float, int, int]], legacy: bool, small: Path, tmp_path: Path
) -> None:
    data = bytearray(pcap(blocks(small), RAW) if legacy else small.read_bytes())
    for where, value, kind in changes:
        place = int(where * len(data))
        if kind < 2:
            data[place] = value
        elif kind == 2:
            data[place:place] = bytes([value])
        else:
            del data[place : place + value]
    file = tmp_path / "x"
    file.write_bytes(data)
    try:
        capture = read(file, partial=True)
    except ValueError:
        return
    assert 0 < capture.facts.packets <= SMALL + 8
    assert len(capture.series.t_s) <= 10_001
    capture.save(tmp_path / "x.json")


# What is read and written.


def test_rates_are_those_of_the_span_that_was_asked_for(recorded: Recorder) -> None:
    pcap_file = recorded("linux/shared-red").pcap
    whole = read(pcap_file, bin_s=0.1)
    bytes_of = whole.series.data_ip_bytes
    assert (bytes_of.sum(axis=0) == whole.paths.data_ip_bytes).all()
    part = read(pcap_file, bin_s=0.1, start_s=0.5, end_s=1.5)
    assert part.span_s == (0.5, 1.5)
    assert part.paths.throughput_bps == pytest.approx(8 * bytes_of[5:15].sum(axis=0))
    finer = read(pcap_file, bin_s=0.01, start_s=0.5, end_s=1.5)
    assert finer.paths.throughput_bps == pytest.approx(part.paths.throughput_bps)
    sums = np.bincount(part.paths.flow, part.paths.throughput_bps)
    assert part.flows.throughput_bps == pytest.approx(sums)
    for flow in range(len(sums)):
        assert part.shares[part.paths.flow == flow].sum() == pytest.approx(1)
    assert part.jain == pytest.approx(sums.sum() ** 2 / len(sums) / (sums**2).sum())


def test_every_column_counts_the_span_and_parts_of_it_make_the_whole(recorded: Recorder) -> None:
    file = recorded(EVERYTHING).pcap
    whole, *parts = (
        read(file, start_s=start_s, end_s=end_s)
        for start_s, end_s in ((0, None), (0, 1), (1, 2.5), (2.5, None))
    )
    for column in ("sent_packets", "data_ip_bytes", "payload_bytes", "retransmits"):
        sums = sum(part.paths.column(column) for part in parts)
        assert (sums == whole.paths.column(column)).all(), column
        assert (sums > 0).any(), column
    for table in ("paths", "flows"):
        acked = sum(getattr(part, table).acked_bytes for part in parts)
        assert (acked == getattr(whole, table).acked_bytes).all(), table
    for part in parts:
        lasted = part.span_s[1] - part.span_s[0]
        assert part.flows.goodput_bps == pytest.approx(8 * part.flows.acked_bytes / lasted)
        assert (part.paths.upward == whole.paths.upward).all()
        assert (part.series.data_ip_bytes == whole.series.data_ip_bytes).all()


def test_goodput_above_throughput_has_its_reason_beside_it(recorded: Recorder) -> None:
    file = recorded(EVERYTHING).pcap
    found = [read(file, start_s=start / 10, end_s=start / 10 + 0.1) for start in range(5, 35)]
    above = [
        (capture, flow)
        for capture in found
        for flow in np.flatnonzero(capture.flows.goodput_bps > capture.flows.throughput_bps)
    ]
    assert above, "some tenth of a second has acknowledgements of data from before it"
    for capture, flow in above:
        assert any(text.startswith(f"connection {flow}: ") for text in capture.warnings)


def test_names_of_the_file_stand_for_addresses(recorded: Recorder, tmp_path: Path) -> None:
    capture = read(recorded("linux/shared-red").pcap)
    assert set(capture.names) >= {end.split(":")[0] for end in capture.paths.initiator}
    for number, initiator in enumerate(capture.paths.initiator):
        assert capture.label(number).startswith(capture.names[initiator.split(":")[0]])
    bare = replace(capture, names={})
    assert bare.label(0) == f"{capture.paths.initiator[0]} → {capture.paths.responder[0]}"


def renamed(capture: Capture, name: Callable[[int], str | None]) -> Capture:
    """The capture with other names for who opened its subflows: one for each connection, or none."""
    paths = capture.paths
    ends = [end.rpartition(":")[0] for end in paths.initiator]
    names = {end: name(int(flow)) for end, flow in zip(ends, paths.flow, strict=True)}
    return replace(capture, names={end: one for end, one in names.items() if one})


def test_connections_are_in_natural_order_of_their_names_and_then_in_order_of_appearance(
    recorded: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = read(recorded("khalili/scenario-c").pcap)
    flows = capture.paths.flow
    count = len(capture.flows.token)
    assert count > 11

    def order(capture: Capture) -> list[int]:
        return list(dict.fromkeys(flows[capture.order].tolist()))

    assert order(replace(capture, names={})) == list(range(count))
    backwards = renamed(capture, lambda flow: f"user.{count - flow}")
    assert order(backwards) == list(reversed(range(count)))
    some = renamed(capture, lambda flow: {3: "user.10", 7: "user.9", 9: "user.09x"}.get(flow))
    assert order(some)[:4] == [7, 9, 3, 0], "connections without names come last"
    assert order(renamed(capture, lambda _: "server")) == list(range(count))
    assert sorted(capture.order) == list(range(len(flows)))

    labels = [capture.label(number) for number in capture.order]
    assert [label.split(".path")[0] for label in labels if ".path0" in label] == [
        f"{group}.{user}" for group in ("multipath", "single-path") for user in range(count // 2)
    ]
    show(backwards)
    first = next(line for line in capsys.readouterr().out.splitlines() if "user.1 →" in line)
    assert first.split()[1] == str(count - 1), "the number of a connection stays"


def test_panels_of_a_picture_have_the_order_of_the_table(recorded: Recorder) -> None:
    capture = read(recorded("khalili/scenario-c").pcap)
    drawn = [ax.get_title(loc="left") for ax in ab.plot.capture(capture).axes]
    headings = [int(re.findall(r"connection (\d+)", one)[0]) for one in drawn]
    order = list(dict.fromkeys(capture.paths.flow[capture.order].tolist()))
    assert len(headings) == 6 and headings == [flow for flow in order if flow in headings]


def test_names_with_thousands_of_digits_are_ordered() -> None:
    long = "9" * 5000
    texts = [f"a.{long}9", f"a.{long}", "a.10", "a.9", "a", "a.9.b"]
    assert sorted(texts, key=natural) == ["a", "a.9", "a.9.b", "a.10", f"a.{long}", f"a.{long}9"]


def test_a_capture_of_one_instant_has_no_rates(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = blocks(small)
    first = next(place for place, block in enumerate(found) if block.kind == PACKET)
    file, picture = write(tmp_path / "x", found[: first + 1]), tmp_path / "x.png"
    capture = read(file)
    assert capture.span_s == (0, 0) and np.isnan(capture.flows.goodput_bps).all()
    assert np.isnan(capture.shares).all() and np.isnan(capture.jain)
    status, out, err = run(["capture", str(file), "--plot", str(picture)], capsys)
    assert status == 0 and "nan" not in out, err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_picture_shows_the_span_with_few_steps_and_those_that_carried_most(
    recorded: Recorder,
) -> None:
    capture = read(recorded(EVERYTHING).pcap, bin_s=0.001, start_s=1, end_s=3)
    figure = ab.plot.capture(capture)
    assert figure.axes[0].get_xlim() == pytest.approx((1, 3))
    flows = np.asarray(capture.paths.flow)
    inside = (capture.series.t_s >= 1) & (capture.series.t_s < 3)
    each = 8e-6 * capture.series.data_ip_bytes[inside].sum(axis=0)
    most = np.argsort(-np.bincount(flows, weights=each))[:6]
    (below,) = figure.legends
    count = len(set(flows))
    if count > 6:
        assert f"the 6 of {count} connections that carried most" in below.get_title().get_text()
    patches = [patch for ax in figure.axes for patch in ax.patches]
    drawn = [patch.get_data() for patch in patches]  # type: ignore[attr-defined]
    assert all(40 < len(line.values) <= 60 for line in drawn)
    carried = np.sort(each[np.isin(flows, most)])[::-1]
    areas = [np.nansum(line.values * np.diff(line.edges)) for line in drawn]
    assert np.sort(areas)[::-1] == pytest.approx(carried)


def test_the_command_shows_writes_and_draws(
    recorded: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, json_file, picture = recorded(EVERYTHING).pcap, tmp_path / "c.json", tmp_path / "c.png"
    words = ["--json", str(json_file), "--plot", str(picture), "--from", "1s", "--to", "3 s"]
    status, out, err = run(["capture", str(file), *words, "--bin", "50ms"], capsys)
    assert status == 0, err
    assert ".path0 → " in out and "10.0.0.1" not in out, "the file has names for its addresses"
    assert "From 1 s to 3.000 s" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    content, capture = json.loads(json_file.read_text()), read(file, bin_s=0.05, start_s=1, end_s=3)
    assert (content["kind"], content["format"]) == ("anabranch capture", 1)
    assert content["span_s"] == [1, 3] and content["series"]["bin_s"] == 0.05
    assert content["paths"]["throughput_bps"] == capture.paths.throughput_bps.tolist()
    assert content["jain"] == capture.jain
    rows = {len(column) for column in content["paths"].values()}
    assert rows == {len(content["series"]["data_ip_bytes"][0])}


# What a run writes.


def test_a_recording_changes_nothing(recorded: Recorder, tmp_path: Path) -> None:
    watched = recorded(EVERYTHING).result.runs[0]
    alone = ab.run(scenario(EVERYTHING), [1]).runs[0]
    short = record(EVERYTHING, tmp_path, until_s=0.5, keep_bytes=80).result.runs[0]
    assert alone.digest == watched.digest == short.digest
    pairs = [
        (alone.flows, watched.flows),
        (alone.paths, watched.paths),
        (alone.links, watched.links),
    ]
    for one, other in pairs:
        for column in meanings(type(one)):
            if one.has(column):
                np.testing.assert_array_equal(one[column], other[column])


def test_the_same_run_writes_the_same_bytes(recorded: Recorder, tmp_path: Path) -> None:
    first, again = recorded(EVERYTHING), record(EVERYTHING, tmp_path)
    assert first.pcap.read_bytes() == again.pcap.read_bytes()
    assert first.qlog.read_bytes() == again.qlog.read_bytes()


@pytest.mark.parametrize("keep_bytes", [80, 96, 1499])
def test_headers_alone_say_the_same(keep_bytes: int, recorded: Recorder, tmp_path: Path) -> None:
    whole = recorded(EVERYTHING)
    cut = record(EVERYTHING, tmp_path, keep_bytes=keep_bytes)
    assert max(len(block.packet) for block in packets(blocks(cut.pcap))) <= keep_bytes
    assert cut.pcap.stat().st_size < whole.pcap.stat().st_size
    assert counted(read(cut.pcap)) == counted(read(whole.pcap))


def test_nothing_is_recorded_after_the_time_that_was_given(
    recorded: Recorder, tmp_path: Path
) -> None:
    whole, cut = recorded(EVERYTHING), record(EVERYTHING, tmp_path, until_s=1.5)
    all_packets, first = (packets(blocks(run.pcap)) for run in (whole, cut))
    assert [bytes(b) for b in first] == [bytes(b) for b in all_packets if b.at_ns <= 1_500_000_000]
    events = [e for t in json.loads(cut.qlog.read_text())["traces"] for e in t["events"]]
    assert 1400 < max(event["time"] for event in events) <= 1500


LARGE = "transport.payload=65500 B"
HURRIED = ["--set", "duration=300 ms", "--set", "warmup=0 s"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pcap", "x.pcapng", "--repeat", "3"], "x.pcapng would be of one run, and there are 3 seeds"),
        (["--qlog", "x.qlog", "-n", "2"], "x.qlog would be of one run"),
        (["--pcap", "/no/such/place/x"], "/no/such/place does not exist"),
        (["--pcap", "."], "is a directory; name a file"),
        (["--pcap", "/proc/x"], "/proc/x cannot be written"),
        (["--qlog", "/proc/x"], "/proc/x cannot be written"),
        (["--pcap", "x", "--qlog", "x"], "--pcap and --qlog are both x"),
        (["--pcap", "x", "--pcap-keep", "79"], "headers take up to 80"),
        (["--pcap-keep", "96"], "say where to with --pcap"),
        (["--record-until", "1 s"], "say what to record with --pcap or --qlog"),
        (["--pcap", "x", "--record-until", "soon"], "--record-until is 'soon'"),
        (["--pcap", "x", "--set", LARGE, "--set", "transport.packet=65535 B"], "an IP packet holds at most 65455 B"),
    ],
)  # fmt: skip
def test_a_recording_that_cannot_be_is_refused_and_leaves_nothing(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(["run", "linux/zero-delay", *HURRIED, *words], capsys)
    assert status == 2 and said in err, out + err
    assert "Traceback" not in err and not list(tmp_path.iterdir())


def test_a_run_that_fails_leaves_no_recording(tmp_path: Path) -> None:
    def fails(_done: float, _total: float) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        ab.run(
            "khalili/scenario-c",
            recording=Recording(pcap=tmp_path / "x.pcapng", qlog=tmp_path / "x.qlog"),
            progress=fails,
        )
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    for what in ("pcap", "qlog"):
        with pytest.raises(OSError, match="No space left on device"):
            ab.run(
                "linux/zero-delay",
                overrides=["duration=300 ms", "warmup=0 s"],
                recording=Recording(**{what: "/dev/full"}),
            )
