"""Shared bottlenecks in captures, and of samples of any origin."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import anabranch as ab
from anabranch.cli.application import app
from anabranch.sharing.finding import Samples, find, of_capture

SCENARIO = """
name = "two-and-one"
duration = "30 s"
link = [
  { name = "shared", rate = "20 Mb/s", queue = { droptail = { packets = "80 packets" } } },
  { name = "own", rate = "15 Mb/s", delay = "20 ms", queue = { droptail = { packets = "60 packets" } } },
  { name = "near", delay = "10 ms", jitter = "1 ms" },
  { name = "far", delay = "20 ms", jitter = "1 ms" },
]
[[flow]]
name = "mp"
controller = "lia"
path = [{ links = ["near", "shared"] }, { links = ["far", "shared"] }, { links = ["own"] }]
[[flow]]
name = "tcp"
controller = "reno"
path = [{ links = ["near", "shared"] }]
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("shared") / "two-and-one.pcapng"
    ab.run(ab.Scenario.parse(SCENARIO), recording=ab.Recording(pcap=file))
    return file


def test_subflows_and_a_tcp_over_one_link_are_one_group(capture: Path) -> None:
    answer = of_capture(capture)
    names = [answer.capture.label(row).split(" ")[0] for row in answer.subflows]
    groups = [{names[path] for path in group} for group in answer.found.last]
    assert sorted(map(sorted, groups)) == [
        ["mp.0.path0", "mp.0.path1", "tcp.0.path0"],
        ["mp.0.path2"],
    ]


def test_the_command_says_each_pair_and_writes_json(capture: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["shared", str(capture), "--json", str(tmp_path / "s.json")], env={"COLUMNS": "200"}
    )
    assert done.exit_code == 0, done.output
    rows = [line for line in done.output.splitlines() if line.count("→") == 2]
    assert len(rows) == 6
    assert ["yes" in row for row in rows] == ["path2" not in row for row in rows]
    written = json.loads((tmp_path / "s.json").read_text())
    assert len(written["subflows"]) == len(written["confidence"]) == 4


def test_errors_of_the_command_say_what_is_right(capture: Path, tmp_path: Path) -> None:
    for words, text in [
        ([], "name a capture"),
        ([str(capture), "--networks", "4"], "leave the capture out"),
        ([str(capture), "--seed", "4"], "--seed is for --networks"),
        ([str(capture), "--detector", "corelation"], "did you mean `correlation`"),
        ([str(tmp_path / "none.pcapng")], "cannot be read"),
        (["--networks", "4", "--law", "bbr"], "is not a law"),
    ]:
        done = CliRunner().invoke(app, ["shared", *words], env={"COLUMNS": "200"})
        assert done.exit_code != 0, words
        said = done.output + str(done.exception)
        assert text in said, said


def test_a_capture_with_one_subflow_has_nothing_to_compare(tmp_path: Path) -> None:
    file = tmp_path / "one.pcapng"
    text = SCENARIO.split("[[flow]]")[0] + "[[flow]]" + SCENARIO.split("[[flow]]")[2]
    ab.run(ab.Scenario.parse(text), recording=ab.Recording(pcap=file))
    with pytest.raises(ValueError, match="a comparison needs two"):
        of_capture(file)


numbers = st.lists(st.floats(0.0, 100.0), max_size=60)


@settings(deadline=None)
@given(
    st.lists(numbers, min_size=1, max_size=4),
    st.sampled_from(["correlation", "rfc8382", "losses", "dwc"]),
)
def test_any_samples_have_an_answer(paths: list[list[float]], detector: str) -> None:
    samples = [
        Samples(np.sort(np.array(one)), np.array(one), np.array(one), np.array(one[:5]))
        for one in paths
    ]
    found = find(samples, detector)
    assert sorted(path for group in found.last for path in group) == list(range(len(paths)))
    assert np.all((found.confidence >= 0.0) & (found.confidence <= 1.0))


def test_samples_that_are_wrong_are_named() -> None:
    good, bad = np.array([1.0, 2.0]), np.array([1.0, np.nan])
    with pytest.raises(ValueError, match="finite and not negative"):
        find([Samples(good, bad, good, good)])
    with pytest.raises(ValueError, match="differ in length"):
        find([Samples(good, good[:1], good, good)])
    with pytest.raises(ValueError, match="there is no detector"):
        find([Samples(good, good, good, good)], "none")
