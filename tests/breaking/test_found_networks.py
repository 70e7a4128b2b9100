"""Networks that searches found from their ranges alone, kept as the searches wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.breaking.bench import Bench, UnderTest
from anabranch.breaking.goals import GOALS
from anabranch.breaking.kind import judged
from anabranch.breaking.rendering import SUBJECT
from anabranch.breaking.worlds import Threads
from anabranch.scenario import load

FOUND = Path(__file__).parent / "found"

REPLICATIONS = {"lia-everybody-loses": 60, "balia-several-fixed-points": 4}
"""Where 20 are too few for the interval, or theory needs no more."""

KEPT = {
    "lia-everybody-loses": "TCP on path",
    "reno-more-than-tcp": "tcp",
    "balia-several-fixed-points": "the stable states",
    "bbr-loses": "",
    "cs218-more-than-tcp": "tcp",
}
"""By file, its controller and goal in the name, the beginning of the aspect that is broken."""


@pytest.mark.parametrize("name", KEPT)
def test_a_network_that_was_found_is_small_and_breaks_the_goal_on_other_seeds(name: str) -> None:
    controller, _, goal_name = name.partition("-")
    goal = GOALS[goal_name]
    scenario = load(FOUND / f"{name}.toml")
    plan = scenario.plan()
    links = [link for link in plan.links if link.rate_bps is not None]
    assert len(links) <= 2 and sum(c.count for c in plan.classes) <= 4
    assert plan.classes[0].name == SUBJECT and plan.classes[0].controller == controller
    assert f"`anabranch break {controller} --goal {goal_name} " in plan.source
    bench = Bench(UnderTest.of(controller), goal, Threads(2))
    seeds = range(1, 1 + REPLICATIONS.get(name, 20))
    with bench.working():
        verdict = judged(goal(bench.trial(scenario.document(), seeds)), goal.limit)
    assert verdict and verdict.broken and verdict.aspect.startswith(KEPT[name])


def test_every_kept_file_is_replayed() -> None:
    assert {file.stem for file in FOUND.iterdir()} == set(KEPT)
