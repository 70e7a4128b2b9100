"""Links that follow a trace or have opportunities, read from a file beside the scenario."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch.planned_network import Opportunities
from anabranch.result import Result
from anabranch.sweeps.configuration import resolved

SCENARIO = """
name = "traced"
duration = "8 s"

[[link]]
name = "line"
rate = "4 Mb/s"
delay = "10 ms"
trace = { file = "rates/line.csv" }

[[flow]]
name = "user"
path = [{ links = ["line"] }]
"""
ROWS = "t_s,rate_bps\n2,8e6\n4,0\n6,2e6\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "rates").mkdir()
    (tmp_path / "rates/line.csv").write_text(ROWS)
    (tmp_path / "traced.toml").write_text(SCENARIO)
    return tmp_path / "traced.toml"


def test_a_trace_is_found_from_the_scenario_and_the_link_follows_it(file: Path) -> None:
    result = ab.run(ab.load(file), series=True)
    series = result.runs[0].series
    arrived = np.interp([1, 2, 3, 4, 4.5, 6, 6.5, 8], series.t_s, series.paths.arrived_bytes[:, 0])
    before, fast, gone, slow = 8e-6 * np.diff(arrived)[::2] / np.array([1, 1, 1.5, 1.5])
    assert before == pytest.approx(4, rel=0.02) and fast == pytest.approx(8, rel=0.02)
    assert gone == 0 and slow == pytest.approx(2, rel=0.02)


def test_a_result_has_the_trace_in_it_and_needs_no_file_any_more(
    file: Path, tmp_path: Path
) -> None:
    ab.run(ab.load(file)).save(tmp_path / "result.json")
    (tmp_path / "rates/line.csv").unlink()
    again = Result.load(tmp_path / "result.json")
    assert [change.rate_bps for change in again.plan.links[0].changes] == [8e6, 1, 2e6]
    first = ab.run(again.scenario).runs[0].digest
    assert first == again.runs[0].digest


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("t_s,rate_bps\n0,1e6\n2,1e6\n1,1e6\n", "in line 4: time goes back: 1 s after 2 s"),
        ("t_s,rate_bps\n0,fast\n", "in line 2: rate_bps is `fast`; it is a number, 0 or above"),
        ("t_s,speed\n", "in line 1: `speed` is not a column"),
        (None, "rates/line.csv cannot be read: No such file"),
        (b"\xff\xfe", "rates/line.csv cannot be read: it is not text"),
    ],
)
def test_a_wrong_trace_is_refused_with_its_file_and_line(
    file: Path, rows: str | bytes | None, said: str
) -> None:
    trace = file.parent / "rates/line.csv"
    if rows is None:
        trace.unlink()
    else:
        trace.write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    command = [Path(sys.executable).parent / "anabranch", "run", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr and "rates/line.csv" in done.stderr


def test_a_trace_goes_with_what_the_link_has(file: Path) -> None:
    text = file.read_text().replace(
        '{ file = "rates/line.csv" }', '{ rows = "t_s,rate_bps\\n0,1e6" }'
    )
    with pytest.raises(ab.ScenarioError, match="but the link has no rate"):
        ab.Scenario.parse(text.replace('rate = "4 Mb/s"', ""))
    with pytest.raises(ab.ScenarioError, match="a file is named by a scenario file or an override"):
        ab.Scenario.parse(file.read_text())
    again = text.replace("0,1e6", "0,1e6\\n5,2e6").replace('" }', '", repeat = "5 s" }')
    with pytest.raises(ab.ScenarioError, match="it is longer than the trace"):
        ab.Scenario.parse(again)


CELL = """
name = "phone"
duration = "6 s"

[[link]]
name = "lte"
delay = "10 ms"
opportunities = { file = "lte.down" }

[[flow]]
name = "user"
protocol = "udp"
app_rate = "9 Mb/s"
path = [{ links = ["lte"] }]
transport = { payload = "1472 B" }
"""
TIMES = "0\n1\n1\n5\n700\n701\n1000\n"


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    (tmp_path / "lte.down").write_text(TIMES)
    (tmp_path / "phone.toml").write_text(CELL)
    return tmp_path / "phone.toml"


def test_opportunities_are_found_from_the_scenario_and_each_carries_a_packet(phone: Path) -> None:
    result = ab.run(ab.load(phone))
    (phone.parent / "lte.down").unlink()
    assert ab.run(result.scenario).runs[0].digest == result.runs[0].digest
    link = result.plan.links[0]
    times_ms = [0, 1, 1, 5, 700, 701, 1000]
    assert link.opportunities == Opportunities(times_ms=times_ms, start_s=0.0)
    assert link.rate_bps == 84_000
    # Those of 0 ms and of the last 10 ms are lost, and one of 1 ms: then a single packet has come.
    assert result.link("lte", "throughput_bps").mean() * 6 / 12e3 == pytest.approx(39)
    assert result.link("lte", "utilisation").mean() == pytest.approx(39 / 42)


def test_an_override_may_name_another_recording(phone: Path) -> None:
    other = phone.parent / "other.down"
    other.write_text("2\n")
    override = f"link.lte.opportunities.file={other}"
    complete = resolved(override)
    assert ab.load(phone).plan(overrides=[override]).links[0].rate_bps == 6_000_000
    other.unlink()
    assert ab.load(phone).plan(overrides=[complete]).links[0].rate_bps == 6_000_000
    with pytest.raises(
        ab.ScenarioError, match=r"override `link\.lte\.opportunities\.file`: the trace"
    ):
        ab.load(phone).plan(overrides=[override])


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ("0\n5\n4\n", "lte.down is wrong in line 3: time goes back: 4 ms after 5 ms"),
        ("0\nsoon\n", "lte.down is wrong in line 2: `soon` is not a whole number of milliseconds"),
        ("0\n0\n", "lte.down is wrong in line 2: the last number is the period, and it is 0"),
        ("", "lte.down is wrong in line 1: there is no number"),
    ],
)
def test_wrong_opportunities_are_refused_with_their_file_and_line(
    phone: Path, times: str, said: str
) -> None:
    (phone.parent / "lte.down").write_text(times)
    with pytest.raises(ab.ScenarioError, match="such as 0 1 1 5") as error:
        ab.load(phone)
    assert said in str(error.value)


def test_theory_takes_the_mean_rate_of_opportunities_and_says_so(phone: Path) -> None:
    from anabranch.theory.network import left_out

    assert "opportunities of links: their mean rate counts" in left_out(ab.load(phone).plan())
