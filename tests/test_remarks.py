"""What a result says of its own numbers: too few events, and data that arrived before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.papers.explanations import explanations as explained
from anabranch.papers.findings import Finding
from anabranch.papers.registry import PAPERS
from anabranch.plan import Class
from anabranch.remarks import FEWEST_EVENTS, ShortPath, late_text, short_text

SAWTOOTH = """
name = "sawtooth"
duration = "{duration}"
warmup = "5 s"
link = [{{ name = "line", rate = "10 Mb/s", delay = "10 ms", queue = {{ droptail = {{ packets = "20 packets" }} }} }}]
flow = [{{ name = "user", path = [{{ links = ["line"] }}] }}]
"""


HELD = """
name = "held"
duration = "7 s"
warmup = "5 s"
transport = { initial_ssthresh = 40.0 }
link = [
  { name = "fast", rate = "10 Mb/s", delay = "5 ms" },
  { name = "slow", rate = "9 Mb/s", delay = "500 ms", trace = { rows = "t_s,rate_bps\\n0,9e6\\n3.9,0\\n5,9e6" } },
]
flow = [{ name = "users", controller = "lia", path = [{ links = ["fast"] }, { links = ["slow"] }] }]
"""
"""The slow path stands still at the end of the warm-up, and data of the fast one waits for it."""


def events(result: ab.Result) -> float:
    """Congestion events of the only path in the only run."""
    paths = result.runs[0].paths
    return float(paths.recoveries[0] + paths.timeouts[0] + paths.marks[0])


def sawtooth(duration: str) -> ab.Result:
    """A TCP alone on a link with a short queue."""
    return ab.run(ab.Scenario.parse(SAWTOOTH.format(duration=duration), name="sawtooth"))


def test_a_run_of_a_few_sawteeth_says_that_it_is_too_short_and_a_long_one_does_not(
    tmp_path: Path,
) -> None:
    short, long = sawtooth("10 s"), sawtooth("120 s")
    assert events(short) < FEWEST_EVENTS <= events(long)
    (path,) = short.short_paths()
    assert (path.class_, path.path, path.events) == ("user", 0, events(short))
    assert any(text.startswith("too short to judge") for text in short.remarks())
    assert not long.short_paths() and not long.remarks()
    short.save(tmp_path / "x.json")
    content = json.loads((tmp_path / "x.json").read_text())
    assert content["too_short"] == [{"class": "user", "path": 0, "events": events(short)}]
    assert ab.Result.load(tmp_path / "x.json").short_paths() == [path]


@pytest.mark.parametrize("override", ['flow.user.transfer="200 kB"', 'flow.user.app_rate="1 Mb/s"'])
def test_flows_that_do_not_always_have_data_are_not_called_too_short(override: str) -> None:
    scenario = ab.Scenario.parse(SAWTOOTH.format(duration="10 s"), name="sawtooth")
    assert not ab.run(scenario, overrides=[override]).short_paths()


def test_goodput_above_throughput_has_the_reason_beside_it() -> None:
    plan = ab.Scenario.parse(SAWTOOTH.format(duration="15 s"), name="sawtooth").plan()
    c: Class = plan.classes[0]
    assert late_text(plan, c, 1.00e6, 0.96e6) == ""
    text = late_text(plan, c, 1.00e6, 1.10e6)
    waited = (1.10e6 - 1.00e6 * c.payload_bytes / c.packet_bytes) * 10 / 8 / 1e6
    assert f"about {waited:.3g} MB per user had arrived during the warm-up" in text


def test_the_table_of_a_result_has_the_reason_for_goodput_above_throughput() -> None:
    result = ab.run(ab.Scenario.parse(HELD, name="held"))
    (row,) = result.summary()
    assert row.goodput_bps.mean > row.throughput_bps.mean
    assert "users: goodput is above throughput" in result.table().splitlines()[-1]
    assert "goodput is above" not in sawtooth("15 s").table()


def test_a_measurement_with_few_retransmissions_is_too_short() -> None:
    file = Path(__file__).parents[1] / "measurements/khalili/c-lia-30-each/1.json.gz"
    measured = ab.Result.load(file)
    assert not measured.too_short()
    measured.runs[0].paths.retransmits[:] = 4
    assert "fewer than 10 retransmissions per user on multipath paths 0, 1 (4.0, 4.0)" in (
        measured.too_short()
    )


def test_paths_of_a_class_that_are_too_short_are_listed_together() -> None:
    many = [ShortPath("a", path, events) for path, events in enumerate((3.0, 0.0, 1.5, 2.0))]
    text = short_text([*many, ShortPath("b", 1, 4.0)])
    assert "on a paths 0, 1, 2, 3 (0.0 to 3.0), b path 1 (4.0); " in text


def finding(claim: str, evidence: str) -> Finding:
    """A claim of a document that did not come out."""
    return Finding(PAPERS["khalili"].claims[claim], "simulation", (), evidence, "not_reproduced")


def test_each_sentence_of_an_explanation_is_said_once_with_the_claims_that_it_explains() -> None:
    one, two, three = list(PAPERS["khalili"].claims)[:3]
    found = explained(
        [
            finding(one, "Own one. Shared by all. Peng et al. 2016 say so."),
            finding(two, "Shared by all. Peng et al. 2016 say so. Own two."),
            finding(three, "Shared by all."),
        ]
    )
    assert found == [
        ([one], "Own one."),
        ([one, two, three], "Shared by all."),
        ([one, two], "Peng et al. 2016 say so."),
        ([two], "Own two."),
    ]
