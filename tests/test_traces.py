"""Links that follow a trace, read from a file beside the scenario."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch.result import Result

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
    series = result.runs[0]["series"]
    arrived = np.interp(
        [1, 2, 3, 4, 4.5, 6, 6.5, 8], series["t_s"], series["paths"]["arrived_bytes"][:, 0]
    )
    before, fast, gone, slow = 8e-6 * np.diff(arrived)[::2] / np.array([1, 1, 1.5, 1.5])
    assert before == pytest.approx(4, rel=0.02) and fast == pytest.approx(8, rel=0.02)
    assert gone == 0 and slow == pytest.approx(2, rel=0.02)


def test_a_result_has_the_trace_in_it_and_needs_no_file_any_more(
    file: Path, tmp_path: Path
) -> None:
    ab.run(ab.load(file)).save(tmp_path / "result.json")
    (tmp_path / "rates/line.csv").unlink()
    again = Result.load(tmp_path / "result.json")
    assert [change["rate_bps"] for change in again.plan["links"][0]["changes"]] == [8e6, 1, 2e6]
    first = ab.run(again.scenario).runs[0]["digest"]
    assert first == again.runs[0]["digest"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("t_s,rate_bps\n0,1e6\n2,1e6\n1,1e6\n", "in line 4: time goes back: 1 s after 2 s"),
        ("t_s,rate_bps\n0,fast\n", "in line 2: rate_bps is `fast`; it is a number from 0 on"),
        ("t_s,speed\n", "in line 1: `speed` is no column"),
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
    with pytest.raises(ab.ScenarioError, match="but the link has none"):
        ab.Scenario.parse(text.replace('rate = "4 Mb/s"', ""))
    with pytest.raises(ab.ScenarioError, match="a file is read with the scenario file"):
        ab.Scenario.parse(file.read_text())
    again = text.replace("0,1e6", "0,1e6\\n5,2e6").replace('" }', '", repeat = "5 s" }')
    with pytest.raises(ab.ScenarioError, match="it is longer than the trace"):
        ab.Scenario.parse(again)
