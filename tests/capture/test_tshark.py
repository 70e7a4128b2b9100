"""tshark believes our captures, and counts what we count."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address
from pathlib import Path

import numpy as np
import pytest
from blocks import PACKET, blocks, option_at, packets, with_sums, write
from dissector import ERROR, GOOD, SENDERS, Packet, dissect, required
from miniature import EVERYTHING, NAMES, Recorded, record

from anabranch.capture import read

Run = Callable[[str], Recorded]
Dissected = Callable[[str], list[Packet]]

MPTCP = 30
"""Kind of its option."""

ADD_ADDRESS, REMOVE_ADDRESS = "3", "4"

UNHURT = ("wifi/", "cs218/manet", "common-suite/dumbbell")
"""What scenarios begin with that lose hardly anything in two seconds: a MAC sends again by itself,
and short transfers have not filled a queue."""


def suspects(seen: Iterable[Packet]) -> list[tuple[str, str]]:
    """Packets with a wrong checksum, a malformed part or an error: number and what is wrong."""
    found = []
    for packet in seen:
        sums = [packet[f"{part}.checksum.status"] for part in ("ip", "tcp", "udp")]
        if not sums[0] or {status for status in sums if status} != {GOOD}:
            found.append((packet["frame.number"], "checksum"))
        elif packet["_ws.malformed"]:
            found.append((packet["frame.number"], "malformed"))
        elif ERROR in packet.list("_ws.expert.severity"):
            found.append((packet["frame.number"], packet["_ws.expert.message"]))
    return found


def by_path(recorded: Recorded, counted: Counter[int]) -> list[int]:
    """Counts in the order of the paths of the result."""
    return [counted[path] for path in range(len(recorded.paths.flow))]


def path_of(endpoint: str) -> int:
    """The path whose sender has an address, as results number paths."""
    return int(IPv4Address(endpoint.split(":")[0])) - SENDERS


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_malformed_and_every_checksum_is_right(name: str, dissected: Dissected) -> None:
    seen = dissected(name)
    assert len(seen) > 500
    assert suspects(seen) == []


def test_tfrc_is_datagrams_to_and_fro(tmp_path: Path) -> None:
    required()
    run = record("tse/link-failure", tmp_path, tcp=False)
    seen = dissect(run.pcap)
    assert suspects(seen) == []
    assert all(packet["udp.length"] for packet in seen)
    sent = Counter(packet.path for packet in seen if packet.path is not None)
    assert by_path(run, sent) == run.paths.sent_packets.tolist()
    reports = [packet for packet in seen if packet.path is None]
    assert len(reports) > 20 and all(int(packet["udp.length"]) >= 8 + 12 for packet in reports)
    assert '"TFRC"' in run.qlog.read_text(encoding="utf-8")


def test_a_coded_path_is_datagrams_with_its_header_and_the_others_are_tcp(tmp_path: Path) -> None:
    required()
    run = record("couple-plus/static", tmp_path, tcp=False)
    seen = dissect(run.pcap)
    assert suspects(seen) == []
    coded = [packet for packet in seen if packet.path == 1]
    sent = Counter(packet.path for packet in seen if packet.path is not None and not packet.added)
    assert by_path(run, sent) == run.paths.sent_packets.tolist()
    assert all(packet["udp.length"] == str(8 + 12 + 1000) for packet in coded)
    answers = [packet for packet in seen if packet.path is None and packet["udp.length"]]
    assert len(answers) > 20 and all(int(packet["udp.length"]) == 8 + 16 for packet in answers)
    assert all(not packet["udp.length"] for packet in seen if packet.path in (0, 2))


@pytest.mark.parametrize("name", NAMES)
def test_packets_of_each_path_are_as_many_for_tshark_for_the_reader_and_for_the_run(
    name: str, recorded: Run, dissected: Dissected
) -> None:
    run, seen = recorded(name), dissected(name)
    ours = [packet for packet in seen if packet.path is not None and not packet.added]
    sent = Counter(packet.path for packet in ours)
    assert by_path(run, sent) == run.paths.sent_packets.tolist()
    again = Counter(packet.path for packet in ours if packet.again)
    assert by_path(run, again) == run.paths.retransmits.tolist()
    assert sum(again.values()) > 5 or name.startswith(UNHURT)
    data, payload = Counter(), Counter()
    for packet in ours:
        data[packet.path] += packet.payload > 0
        payload[packet.path] += packet.payload
    capture, columns = read(run.pcap), ("sent_packets", "retransmits", "payload_bytes")
    read_back: dict[str, Counter[int]] = {column: Counter() for column in columns}
    for number, endpoint in enumerate(capture.paths.initiator):
        for column in columns:
            read_back[column][path_of(endpoint)] += int(capture.paths.column(column)[number])
    for column, counted in zip(columns, (data, again, payload), strict=True):
        assert by_path(run, read_back[column]) == by_path(run, counted), column
    assert capture.facts.packets == len(seen)
    assert capture.facts.other_packets == sum(packet["udp.length"] != "" for packet in seen)


@pytest.mark.parametrize("name", NAMES)
def test_subflows_belong_together_as_tshark_groups_them_and_carry_the_same_bytes(
    name: str, recorded: Run, dissected: Dissected
) -> None:
    run, seen = recorded(name), dissected(name)
    of_subflow = {p["tcp.stream"]: p["mptcp.stream"] for p in seen if p["mptcp.stream"]}
    paths: dict[str, set[int]] = defaultdict(set)
    payload: Counter[str] = Counter()
    for packet in seen:
        if packet.path is not None and (stream := of_subflow.get(packet["tcp.stream"])):
            paths[stream].add(packet.path)
            payload[stream] += packet.payload
    capture = read(run.pcap)
    flows = defaultdict(set)
    for number, endpoint in enumerate(capture.paths.initiator):
        flows[int(capture.paths.flow[number])].add(path_of(endpoint))
    several = {flow for flow, token in enumerate(capture.flows.token) if token}
    sums = np.bincount(capture.paths.flow, capture.paths.payload_bytes)
    theirs = {frozenset(paths[stream]): payload[stream] for stream in paths}
    assert theirs == {frozenset(flows[flow]): sums[flow] for flow in several}
    for together in flows.values():  # and they are users of the run
        assert len({run.paths.flow[path] for path in together}) == 1
    paths_of = Counter(run.paths.flow.tolist())
    multipath = {flow for flow, count in paths_of.items() if count > 1}
    started = {run.paths.flow[path] for together in paths.values() for path in together}
    assert started == multipath


def keys(seen: Iterable[Packet]) -> dict[str, tuple[int, int]]:
    """Keys of each MPTCP connection, of the initiator and of the responder, as they were exchanged."""
    found = {}
    for packet in seen:
        if packet["tcp.options.mptcp.recvkey"]:
            pair = packet["tcp.options.mptcp.sendkey"], packet["tcp.options.mptcp.recvkey"]
            assert found.setdefault(packet["mptcp.stream"], pair) == pair
    return {stream: (int(ours), int(theirs)) for stream, (ours, theirs) in found.items()}


def digest(key: int) -> bytes:
    return hashlib.sha256(key.to_bytes(8)).digest()


def code(first: int, second: int, *parts: tuple[int, int]) -> bytes:
    """HMAC-SHA256 under two keys over numbers of so many bytes (RFC 8684 §3.2)."""
    message = b"".join(number.to_bytes(size) for number, size in parts)
    return hmac.digest(first.to_bytes(8) + second.to_bytes(8), message, "sha256")


@pytest.mark.parametrize("name", NAMES)
def test_tokens_and_first_data_sequence_numbers_are_made_of_the_keys(
    name: str, recorded: Run, dissected: Dissected
) -> None:
    seen = dissected(name)
    tokens: dict[str, set[int]] = defaultdict(set)
    for packet in seen:
        if packet["mptcp.expected_token"]:
            key = int(packet["tcp.options.mptcp.sendkey"])
            token = int.from_bytes(digest(key)[:4])
            assert int(packet["mptcp.expected_token"]) == token
            assert int(packet["mptcp.expected_idsn"]) == int.from_bytes(digest(key)[-8:])
            tokens[packet["mptcp.stream"]].add(token)
    joins = [packet for packet in seen if packet["tcp.options.mptcp.recvtok"]]
    exchanged = keys(seen)
    for packet in joins:
        token = int.from_bytes(digest(exchanged[packet["mptcp.stream"]][1])[:4])
        assert int(packet["tcp.options.mptcp.recvtok"]) == token
        assert token in tokens[packet["mptcp.stream"]]
    ours = {int.from_bytes(digest(key)[:4]) for key, _ in exchanged.values()}
    assert {int(t, 16) for t in read(recorded(name).pcap).flows.token if t} == ours
    assert joins or not any(len(c.paths) > 1 for c in recorded(name).result.plan.classes)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_connection_acknowledged_reaches_from_its_first_byte_to_its_last_data_ack(
    name: str, recorded: Run, dissected: Dissected
) -> None:
    seen, reached = dissected(name), defaultdict(int)
    exchanged = keys(seen)
    for packet in seen:
        if packet.path is None and (ack := packet["tcp.options.mptcp.rawdataack"]):
            stream = packet["mptcp.stream"]
            first = int.from_bytes(digest(exchanged[stream][0])[-8:]) + 1
            reached[stream] = max(reached[stream], (int(ack) - first) % 2**32)
    tokens = {stream: digest(initiator)[:4].hex() for stream, (initiator, _) in exchanged.items()}
    flows = read(recorded(name).pcap).flows
    pairs = zip(flows.token, flows.acked_bytes, strict=True)
    ours = {token: int(acked) for token, acked in pairs if token}
    assert {tokens[stream]: acked for stream, acked in reached.items()} == ours
    assert sum(ours.values()) > 0 or not ours


@pytest.mark.parametrize("name", NAMES)
def test_each_join_and_each_announced_address_proves_the_keys(
    name: str, recorded: Run, dissected: Dissected
) -> None:
    seen = dissected(name)
    exchanged, nonces, proved = keys(seen), {}, set()
    for packet in seen:
        first, second = exchanged.get(packet["mptcp.stream"], (0, 0))
        stream, rand = packet["tcp.stream"], packet["tcp.options.mptcp.sendrand"]
        if rand and packet["tcp.options.mptcp.recvtok"]:
            nonces[stream] = (int(rand), 0)
        elif rand:
            nonces[stream] = (nonces[stream][0], int(rand))
            made = code(second, first, (nonces[stream][1], 4), (nonces[stream][0], 4))
            assert int(packet["tcp.options.mptcp.sendtrunchmac"]) == int.from_bytes(made[:8])
        elif mac := packet["tcp.options.mptcp.sendhmac"]:
            made = code(first, second, *((nonce, 4) for nonce in nonces[stream]))
            assert mac == made[:20].hex()
            proved.add(stream)
        elif mac := packet["tcp.options.mptcp.addaddrtrunchmac"]:
            address = int(IPv4Address(packet["tcp.options.mptcp.ipv4"]))
            number = int(packet["tcp.options.mptcp.addrid"])
            made = code(first, second, (number, 1), (address, 4), (0, 2))
            assert int(mac) == int.from_bytes(made[-8:])
    flows = read(recorded(name).pcap).flows
    assert sum(flows.joins_proved) == len(proved)
    assert sum(flows.joins_disproved) == 0


ECHO, REDUCED, SYN = 0x40, 0x80, 0x02
"""Bits of the TCP header."""


def flags(packet: Packet) -> int:
    return int(packet["tcp.flags"] or "0", 16)


def of_class(run: Recorded, name: str, seen: Iterable[Packet]) -> list[Packet]:
    """The packets that senders of a class have sent."""
    flows = np.asarray(run.result.runs[0].flows.class_)[run.paths.flow]
    return [packet for packet in seen if packet.path is not None and flows[packet.path] == name]


def test_a_run_with_everything_has_everything_in_its_capture(
    recorded: Run, dissected: Dissected
) -> None:
    run, seen = recorded(EVERYTHING), dissected(EVERYTHING)
    modern, opened, short, datagrams = (
        of_class(run, name, seen) for name in ("modern", "open", "short", "datagrams")
    )
    capable = {p["frame.number"] for p in seen if p["ip.dsfield.ecn"] == "2"}
    first = {p["frame.number"] for p in modern if p.payload and not p.again}
    assert capable == first  # what is sent again must not be marked (RFC 3168 §6.1.5)
    assert run.paths.marks.sum() > 0
    answers = [p for p in seen if p.path is None and not flags(p) & SYN]
    assert sum(flags(p) & ECHO > 0 for p in answers) > 10
    assert sum(flags(p) & REDUCED > 0 for p in modern if p.payload) > 3
    assert any("D-SACK" in p["_ws.expert.message"] for p in seen)
    assert any(int(count or 0) > 1 for p in seen for count in p.list("tcp.options.sack.count"))
    greetings = [p for p in short if flags(p) & SYN]
    assert len(greetings) >= 5 and not any(p["tcp.options.sack_perm"] for p in greetings)
    backups = {p.path for p in seen if "1" in p.list("tcp.options.mptcp.backup.flag")}
    assert backups == {6, None}  # it asks, and the receiver grants
    assert all(p["udp.length"] for p in datagrams) and len(datagrams) > 300
    assert not any(p.added for p in short + datagrams if not flags(p) & 0x10)
    assert sum(p.added for p in opened) > sum(p.added for p in modern) > 0


def test_addresses_are_announced_before_they_join_confirmed_and_withdrawn_when_they_leave(
    recorded: Run, dissected: Dissected
) -> None:
    run, seen = recorded(EVERYTHING), dissected(EVERYTHING)
    announced = [p for p in seen if ADD_ADDRESS in p.list("tcp.options.mptcp.subtype")]
    ours = [p for p in announced if p.path is not None]
    assert all(p.added for p in ours)
    confirmed = {
        p["tcp.options.mptcp.ipv4"] for p in announced if "1" in p["tcp.options.mptcp.echo"]
    }
    joins = {p["ip.src"]: int(p["frame.number"]) for p in seen if p["tcp.options.mptcp.recvtok"]}
    for packet in ours:
        assert int(packet["frame.number"]) < joins[packet["tcp.options.mptcp.ipv4"]]
    late = {f"10.0.0.{path + 1}" for path in (1, 3, 5)}
    assert confirmed == late == {p["tcp.options.mptcp.ipv4"] for p in ours}
    assert set(joins) == late | {"10.0.0.7"}
    withdrawn = [p for p in seen if REMOVE_ADDRESS in p.list("tcp.options.mptcp.subtype")]
    # When the backup joins and the path before it leaves, no other is open that could say so.
    assert len(withdrawn) == 3 and all(p.added for p in withdrawn)
    flows = read(run.pcap).flows
    assert sorted(flows.addresses_announced) == [0] * 5 + [1, 1, 1]
    assert sum(flows.addresses_announced) == len(ours)
    assert sorted(flows.addresses_withdrawn) == [0] * 5 + [1, 1, 1]
    assert sorted(flows.joins_proved) == [0] * 5 + [1, 1, 2]


def ruler(start: int, length: int) -> bytes:
    """What applications send: lines of 16 bytes that say where they begin."""
    first = start // 16
    lines = (f"{16 * line:015x}\n" for line in range(first, (start + length) // 16 + 1))
    return "".join(lines).encode()[start - 16 * first :][:length]


def test_each_byte_says_where_in_the_connection_it_is(recorded: Run, dissected: Dissected) -> None:
    run, seen = recorded(EVERYTHING), dissected(EVERYTHING)
    exchanged = keys(seen)
    looked = Counter()
    for block, packet in zip(packets(blocks(run.pcap)), seen, strict=True):
        payload = block.payload
        assert len(payload) == packet.payload
        if not payload:
            continue
        if not packet["mptcp.stream"]:
            start, kind = int(packet["tcp.seq"]) - 1, "TCP"
        elif not packet["tcp.options.mptcp.rawdataseqno"]:
            start, kind = 0, "the first of MPTCP"  # with the keys and without a number
        else:
            first = int.from_bytes(digest(exchanged[packet["mptcp.stream"]][0])[-8:])
            start = (int(packet["tcp.options.mptcp.rawdataseqno"]) - first - 1) % 2**64
            kind = "MPTCP"
            assert int(packet["tcp.options.mptcp.datalvllen"]) == len(payload)
        assert payload == ruler(start, len(payload)), packet["frame.number"]
        looked[kind] += 1
    assert looked["MPTCP"] > 2000 and looked["TCP"] > 400
    assert looked["the first of MPTCP"] == 3


def flipped(packet: bytes, at: int) -> bytes:
    """The packet with one bit turned over."""
    return packet[:at] + bytes([packet[at] ^ 1]) + packet[at + 1 :]


def test_a_bit_that_is_turned_over_is_noticed_wherever_it_is(recorded: Run, tmp_path: Path) -> None:
    required()
    found = blocks(recorded("linux/zero-delay").pcap)[:200]
    head = len(found) - len(packets(found))
    places = [place for place in range(head, len(found)) if found[place].payload][:5]
    wheres = [8, 34, 46, 90, len(found[places[4]].packet) - 1]
    for place, where in zip(places, wheres, strict=True):  # TTL, window, clock, payload and its end
        found[place] = found[place].of(flipped(found[place].packet, where))
    wrong = dissect(write(tmp_path / "wrong.pcapng", found))
    assert suspects(wrong) == [(str(place - head + 1), "checksum") for place in places]


def changed(recorded: Recorded, file: Path, option: tuple[int, int], at: int) -> Path:
    """The capture with a bit turned over in the first MPTCP option of this length and subtype, and
    with checksums that are right."""
    found = blocks(recorded.pcap)
    for place, block in enumerate(found):
        start = option_at(block.packet, MPTCP) if block.kind == PACKET else None
        if start and (block.packet[start + 1], block.packet[start + 2] >> 4) == option:
            found[place] = block.of(with_sums(flipped(block.packet, start + at)))
            return write(file, found)
    raise AssertionError(f"there is no option of length and subtype {option}")


JOIN, DATA = 1, 2
"""Subtypes of the option of MPTCP."""


@pytest.mark.parametrize(("length", "at"), [(24, 10), (16, 5)], ids=["initiator", "responder"])
def test_a_wrong_proof_of_a_join_is_noticed(
    length: int, at: int, recorded: Run, tmp_path: Path
) -> None:
    right = read(recorded(EVERYTHING).pcap).flows
    flows = read(changed(recorded(EVERYTHING), tmp_path / "x", (length, JOIN), at)).flows
    assert sum(flows.joins_disproved) == 1
    assert sum(flows.joins_proved) == sum(right.joins_proved) - 1


def test_a_wrong_token_makes_a_connection_of_its_own(recorded: Run, tmp_path: Path) -> None:
    right = read(recorded(EVERYTHING).pcap).flows
    wrong = read(changed(recorded(EVERYTHING), tmp_path / "x", (12, JOIN), 4)).flows
    assert len(wrong.token) == len(right.token) + 1
    assert sum(wrong.joins_proved) == sum(right.joins_proved) - 1


def test_an_option_that_says_a_wrong_length_is_noticed(recorded: Run, tmp_path: Path) -> None:
    file = changed(recorded(EVERYTHING), tmp_path / "x", (22, DATA), 1)
    capture = read(file)
    assert capture.facts.malformed_packets == 1
    assert capture.warnings == ["packets with malformed TCP options: 1"]


@pytest.mark.parametrize("more", [False, True])
def test_a_packet_that_is_missing_or_there_twice_is_noticed(
    more: bool, recorded: Run, tmp_path: Path
) -> None:
    run = recorded("linux/zero-delay")
    right, found = read(run.pcap), blocks(run.pcap)
    place = max(place for place, b in enumerate(found) if b.kind == PACKET and b.payload)
    found[place : place + 1] = [found[place]] * 2 if more else []
    wrong = read(write(tmp_path / "x", found))
    sent = [int(sum(capture.paths.sent_packets)) for capture in (right, wrong)]
    again = [int(sum(capture.paths.retransmits)) for capture in (right, wrong)]
    assert sent[1] - sent[0] == (1 if more else -1)
    assert again[1] - again[0] == (1 if more else 0)
