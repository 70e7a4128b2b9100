"""Flows that a scenario file wants to be TCP-fair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import fairness
from anabranch.files import write_json
from anabranch.scenario import Scenario

PATHS = """
name = "paths"
duration = "40 s"
warmup = "10 s"

[[link]]
name = "a"
rate = "5 Mb/s"
delay = "25 ms"
queue = { red = { min = "5 packets", max = "15 packets", max_p = 0.1, limit = "42 packets" } }

[[link]]
name = "b"
rate = "5 Mb/s"
delay = "25 ms"
queue = { red = { min = "5 packets", max = "15 packets", max_p = 0.1, limit = "42 packets" } }

[[link]]
name = "wire"
delay = "1 ms"

[[flow]]
name = "tcp"
path = [{ links = ["a"] }]

[[flow]]
name = "pair"
controller = "reno"
fair = { definition = "lenient", margin = 0.1 }
path = [{ links = ["wire", "a"] }, { links = ["wire", "a"] }]

[[flow]]
name = "other"
controller = "multi-priority"
fair = {}
path = [{ links = ["b"] }, { links = ["b"] }]
"""


def test_every_flow_that_is_to_be_fair_is_judged_by_its_own_definition_and_margin() -> None:
    unfair, fair = fairness.judge(Scenario.parse(PATHS), [1, 2])
    assert unfair.demand == fairness.Demand("pair", "lenient", 0.1)
    assert not unfair.met and unfair.fairness.violated == ("a",)
    assert fair.demand == fairness.Demand("other", "stringent", 0.05)
    assert fair.met and fair.fairness.bound_bps == 5e6  # nobody else is on b


def test_the_lenient_definition_does_not_ask_for_the_bound() -> None:
    lenient, stringent = (
        fairness.judge(
            "tse/two-paths",
            controller="reno",
            overrides=[
                "duration=60 s",
                "warmup=20 s",
                f"flow.ensemble.fair.definition={definition}",
            ],
        )[0]
        for definition in ("lenient", "stringent")
    )
    assert lenient.fairness == stringent.fairness and lenient.fairness.excess > 0.3
    assert lenient.met and not stringent.met


def test_a_saved_result_keeps_its_judgements_and_one_without_any_is_read(tmp_path: Path) -> None:
    result = ab.run(Scenario.parse(PATHS))
    found = fairness.judgements(result)
    judged = replace(result, fairness=[one.record() for one in found])
    judged.save(tmp_path / "judged.json.gz")
    again = ab.Result.load(tmp_path / "judged.json.gz")
    assert again.fairness == judged.fairness
    assert [one.met for one in again.fairness] == [False, True]
    result.save(tmp_path / "plain.json")
    assert ab.Result.load(tmp_path / "plain.json").fairness == []
    assert [one.met for one in fairness.judgements(again)] == [False, True]


def test_a_result_from_before_there_were_demands_has_none(tmp_path: Path) -> None:
    content = ab.run(Scenario.parse(PATHS), overrides=["duration=12 s"]).to_json()
    for planned in content["plan"]["classes"]:
        del planned["fair"]
    write_json(tmp_path / "old.json", content)
    result = ab.Result.load(tmp_path / "old.json")
    assert fairness.judgements(result) == []


def test_what_cannot_be_judged_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="no flow of tse/two-paths is to be TCP-fair: give one"):
        fairness.judge("tse/two-paths")
    scenario = Scenario.parse(PATHS)
    with pytest.raises(ValueError, match="path 0 of flow 'pair' has no link with a rate"):
        fairness.judge(scenario, overrides=['flow.pair.path=[{ links = ["wire"] }]'])
    with pytest.raises(ValueError, match="at least one seed"):
        fairness.judge(scenario, [])
    measured = replace(ab.run(scenario, overrides=["duration=12 s"]), world="linux")
    with pytest.raises(ValueError, match="no reference TCP for a result of linux: give `runs`"):
        fairness.judgements(measured)
    assert len(fairness.judgements(measured, runs=ab.run)) == 2


@pytest.mark.parametrize(
    ("fair", "said"),
    [
        ("{ margin = 1.5 }", "fair.margin is 1.5"),
        ("{ margin = -0.1 }", "fair.margin is -0.1"),
        ('{ definition = "nice" }', "nice"),
        ("{}\ncount = 2", "not a single user"),
    ],
)
def test_a_demand_that_makes_no_sense_is_refused_by_the_scenario(fair: str, said: str) -> None:
    with pytest.raises(ab.ScenarioError, match=said):
        Scenario.parse(PATHS.replace("fair = {}", f"fair = {fair}"))
