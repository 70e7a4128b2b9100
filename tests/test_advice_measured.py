"""Links as they were measured: what a sender's packets, a qlog and iperf3 show of them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from anabranch import Scenario, run
from anabranch.advice import advise
from anabranch.advice.candidates import CANDIDATES, Situation, Span, document
from anabranch.advice.fitting import Packets, fit
from anabranch.advice.links import PACKET_BITS, Link
from anabranch.advice.measured import Measured, join, read
from anabranch.advice.measured.iperf3 import report
from anabranch.advice.measured.live import shared, source
from anabranch.cli.application import app
from anabranch.result import Recording

FIRST = Link("first", 8_000_000, None, 0.05, 45, None, 0)
SECOND = Link("second", 5_000_000, None, 0.02, 22, 0.001, 1)
SPAN = Span(30.0, 10.0)


def recorded(folder: Path, common_bps: int | None, name: str) -> Path:
    """A transfer over two links under CUBIC, as a file."""
    situation = Situation((FIRST, SECOND), False, 2**23, common_bps)
    file = folder / name
    kind = "qlog" if name.endswith("qlog") else "pcap"
    scenario = Scenario.written(document(situation, "cubic", [0, 1], SPAN))
    run(scenario, (3,), recording=Recording(**{kind: file}))
    return file


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of a transfer over two links that share nothing."""
    return recorded(tmp_path_factory.mktemp("apart"), None, "apart.pcapng")


def test_a_capture_shows_links_that_share_nothing(apart: Path) -> None:
    found = read(str(apart))
    assert found.shared is False
    for link, seen in zip((FIRST, SECOND), found.fitted, strict=True):
        assert link.trip_s is not None and link.queue_packets is not None
        assert seen.rate_bps.value == pytest.approx(link.down_bps, rel=0.04)
        assert seen.trips_s[0].value == pytest.approx(link.trip_s, rel=0.1)
        assert seen.queue_packets.value == pytest.approx(link.queue_packets, rel=0.1)
        assert seen.rate_bps.low < link.down_bps < seen.rate_bps.high
    first, second = found.fitted
    assert first.others.high == 0.0 and second.others.low <= 1.0 <= second.others.high
    assert first.loss.value == 0.0 and second.loss.low < 0.001 < second.loss.high


def test_a_capture_shows_a_bottleneck_that_is_shared(tmp_path: Path) -> None:
    found = read(str(recorded(tmp_path, 4_500_000, "joint.pcapng")))
    assert found.shared is True
    (one,) = found.fitted
    assert len(one.names) == 2
    assert one.rate_bps.value == pytest.approx(4_500_000, rel=0.04)
    middle = found.middle(Situation((), False, 2**23), found.shared)
    assert middle.shared_bps == round(one.rate_bps.value)
    assert all(link.down_bps > 3 * middle.shared_bps for link in middle.links)


def test_a_qlog_shows_the_same_links_as_a_capture(tmp_path: Path, apart: Path) -> None:
    found = read(str(recorded(tmp_path, None, "two.qlog")))
    mine = {one.names[0]: one for one in found.fitted}
    for seen, place in zip(read(str(apart)).fitted, (0, 1), strict=True):
        assert mine[f"mine.0.path{place}"].rate_bps.value == pytest.approx(
            seen.rate_bps.value, rel=0.05
        )


def test_a_path_that_carried_nothing_is_named(tmp_path: Path) -> None:
    situation = Situation((FIRST, SECOND), False, 2**23)
    scenario = Scenario.written(document(situation, "cubic", [0], SPAN))
    run(scenario, (3,), recording=Recording(pcap=tmp_path / "one.pcapng"))
    (said,) = read(str(tmp_path / "one.pcapng")).diseases
    assert "plain TCP" in said and "a middlebox strips its options" in said


def test_replications_have_links_within_the_intervals(apart: Path) -> None:
    found = read(str(apart))
    plain = Situation((), False, 2**23)
    drawn = [found.drawn(plain, None, number) for number in range(20)]
    assert drawn == [found.drawn(plain, None, number) for number in range(20)]
    for place, seen in enumerate(found.fitted):
        rates = [one.links[place].down_bps for one in drawn]
        assert seen.rate_bps.low - 1 <= min(rates) < max(rates) <= seen.rate_bps.high + 1


def test_what_is_foreseen_from_a_capture_holds_on_the_links_themselves(apart: Path) -> None:
    wanted = [one for one in CANDIDATES if one.controller in ("cubic", "lia")]
    advice = advise([], measured=read(str(apart)), candidates=wanted, span=SPAN, seeds=6)
    plain = Situation((FIRST, SECOND), False, 2**23)
    inside = []
    for outcome in advice.outcomes:
        scenario = Scenario.written(document(plain, outcome.candidate.controller, [0, 1], SPAN))
        low, high = outcome.case(False).between_bps
        inside += [low <= rate <= high for rate in run(scenario, range(71, 81)).rate("mine")]
    assert sum(inside) >= 0.8 * len(inside) == 16


def iperf3(rates_bps: list[float], trips_us: list[int], retransmits: int = 0) -> dict[str, object]:
    """A report as iperf3 3.12 writes it, of the parts that are read."""
    intervals = [
        {"streams": [{"rtt": trip}], "sum": {"bits_per_second": rate, "omitted": False}}
        for rate, trip in zip(rates_bps, trips_us, strict=True)
    ]
    sent = {"seconds": float(len(rates_bps)), "retransmits": retransmits}
    return {
        "start": {"connected": [{}], "test_start": {"reverse": 0}},
        "intervals": intervals,
        "end": {"sum_sent": sent, "streams": [{"sender": {"min_rtt": min(trips_us)}}]},
    }


def test_a_report_of_iperf3_is_a_link(tmp_path: Path) -> None:
    file = tmp_path / "dsl.json"
    file.write_text(json.dumps(iperf3([1e6] + [9.6e6] * 9, [20_000] + [120_000] * 9, 20)))
    (one,) = read(str(file)).fitted
    assert one.names == ("dsl",)
    assert one.rate_bps.value == pytest.approx(9.6e6 * 1500 / 1448)
    assert one.trips_s[0].value == 0.02
    assert one.queue_packets.value == pytest.approx(0.1 * one.rate_bps.value / PACKET_BITS)
    assert read(f"home={file}").fitted[0].names == ("home",)


def test_links_of_two_files_may_share_or_not(tmp_path: Path) -> None:
    found = [report(iperf3([5e6] * 6, [30_000] * 6), name) for name in ("a", "b")]
    both = join(found)
    assert both.shared is None and [one.names for one in both.fitted] == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", "no file of measurements; there are: a capture"),
        (b'{"start": {"connected": []}}', "no report of iperf3"),
        (b'{"qlog_version": "0.3", "traces": [{}]}', r"traces\[0\].events is missing"),
        (json.dumps(iperf3([1e6], [20_000])).encode(), "0 intervals; 4 or more"),
        (json.dumps(iperf3([1e6] * 9, [0] * 9) | {"error": "refused"}).encode(), "refused"),
    ],
)
def test_a_file_that_says_nothing_of_links_is_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=said):
        read(str(file))


def test_one_name_is_for_one_link(apart: Path) -> None:
    with pytest.raises(ValueError, match="'dsl' names one link; the file has 2"):
        read(f"dsl={apart}")


@given(
    st.integers(200, 400).flatmap(
        lambda n: st.tuples(
            st.lists(st.floats(0.0, 60.0), min_size=n, max_size=n),
            st.lists(st.floats(1e-4, 2.0), min_size=n, max_size=n),
            st.lists(st.floats(0.0, 60.0), max_size=30),
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_any_packets_give_a_link_that_can_be_simulated(
    times: tuple[list[float], list[float], list[float]],
) -> None:
    sent_s, rtt_s, lost_s = (np.array(one) for one in times)
    seen = fit(["a"], [Packets(sent_s, rtt_s, lost_s, 12_000.0)])
    for number in range(3):
        (link,) = Measured([seen], None).drawn(Situation((), False, 2**20), None, number).links
        assert link.down_bps > 0 and link.trip_s > 0.0 and link.queue(up=False) >= 8
        assert link.loss is None or 0.0 < link.loss < 1.0


@given(st.binary(max_size=400))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_a_measurement_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("bytes") / "file"
    file.write_bytes(b'{"qlog_version": "0.3", "traces": ' + content)
    with suppress(ValueError):
        read(str(file))


def test_links_that_add_no_rate_when_both_carry_data_share_a_bottleneck() -> None:
    assert shared([10e6, 20e6], 20.5e6) is True
    assert shared([10e6, 20e6], 29e6) is False
    assert shared([10e6, 20e6], 25e6) is None


@pytest.mark.parametrize("text", ["dsl", "dsl=", "dsl=localhost", "=192.0.2.1", "9=192.0.2.1"])
def test_a_wrong_via_says_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match="write NAME=ADDRESS"):
        source(text)
    assert source("dsl=192.0.2.7") == ("dsl", "192.0.2.7")


def test_the_command_takes_a_capture_and_writes_a_card(apart: Path, tmp_path: Path) -> None:
    page, file = tmp_path / "a.html", tmp_path / "a.json"
    words = ["advise", "--measured", str(apart), "--card", str(page), "--json", str(file)]
    done = CliRunner().invoke(app, [*words, "--repeat", "2"])
    assert done.exit_code == 0, done.output
    assert "Measured, with intervals" in done.output
    written = json.loads(file.read_text())
    assert written["shared"] is False and len(written["measured"]) == 2
    assert written["verdict"] in page.read_text().replace("&#39;", "'")


def test_the_command_refuses_half_of_a_measurement() -> None:
    for words, said in (
        (["--live", "192.0.2.1"], "no --via; name two links or more"),
        (["--via", "dsl=192.0.2.1"], "is for --live SERVER"),
        (["--measured", "missing.pcapng"], "missing.pcapng"),
        ([], "no links; advice is for two links or more"),
    ):
        done = CliRunner().invoke(app, ["advise", *words])
        assert done.exit_code != 0
        assert said in str(done.exception) + done.output
