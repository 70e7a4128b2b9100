"""The networks of docs/explanation/what-breaks.md, which searches found from ranges alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anabranch.breaking.bench import Bench, UnderTest
from anabranch.breaking.goals import GOALS
from anabranch.breaking.kind import judged
from anabranch.breaking.network import Network
from anabranch.breaking.rendering import SUBJECT
from anabranch.scenario import load

FOLDER = Path(__file__).parents[2] / "docs/explanation/what-breaks"

SEARCHES: list[dict[str, Any]] = json.loads((FOLDER / "searches.json").read_text("utf-8"))

FOUND = {one["key"]: one for one in SEARCHES if one["found"]}

SMALL = (
    "lia-everybody-loses",
    "reno-more-than-tcp",
    "balia-several-fixed-points",
    "bbr-loses",
    "cs218-more-than-tcp",
)
"""What a search has to find with at most two links and four users, and scores that are computed
again here. The others take minutes: `tools/generate_what_breaks.py` has their commands."""

REPLICATIONS = {"lia-everybody-loses": 60, "balia-several-fixed-points": 4}
"""Where 20 are too few for the interval, or theory needs no more."""


@pytest.mark.parametrize("key", FOUND)
def test_a_file_of_the_page_is_the_network_of_its_finding(key: str) -> None:
    found = FOUND[key]
    scenario = load(FOLDER / f"{key}.toml")
    plan, network = scenario.plan(), Network.of_json(found["network"])
    assert scenario.document()["title"].startswith(found["sentence"][:-1])
    assert f"`anabranch break {found['controller']} --goal {found['goal']} " in plan.source
    assert plan.classes[0].name == SUBJECT and plan.classes[0].controller == found["controller"]
    assert [link.rate_bps for link in plan.links if link.rate_bps] == [
        link.rate_bps for link in network.links
    ]
    assert found["score"]["interval"][0] > 0.0


@pytest.mark.parametrize("key", SMALL)
def test_a_network_that_was_found_is_small_and_breaks_the_goal_on_other_seeds(key: str) -> None:
    found = FOUND[key]
    network, goal = Network.of_json(found["network"]), GOALS[found["goal"]]
    assert len(network.links) <= 2 and sum(user.count for user in network.users) <= 4
    bench = Bench(UnderTest.of(found["controller"]), goal)
    seeds = range(1, 1 + REPLICATIONS.get(key, 20))
    with bench.working():
        trial = bench.trial(load(FOLDER / f"{key}.toml").document(), seeds)
        verdict = judged(goal(trial), found["limit"])
    assert verdict and verdict.broken and verdict.aspect == found["score"]["aspect"]


def test_every_file_beside_the_page_is_one_of_its_findings() -> None:
    names = {file.name.removesuffix(".toml") for file in FOLDER.glob("*.toml")}
    assert names == set(FOUND)
    measured = {file.name.removesuffix(".linux.json") for file in FOLDER.glob("*.linux.json")}
    assert measured <= names
