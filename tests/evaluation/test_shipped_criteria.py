"""Properties of all criteria that ship: their levels, loads, times and bounds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import anabranch as ab
from anabranch.evaluation.criteria import criteria
from anabranch.evaluation.criteria.varying_delay import drawn
from anabranch.evaluation.criterion import MILLISECONDS, PERCENT, SECONDS, Case, Criterion
from anabranch.evaluation.goals import NoWorse
from anabranch.evaluation.measures import occupancy
from anabranch.evaluation.one_link import reno_cycle_s, steady
from anabranch.evaluation.planning import loaded
from anabranch.evaluation.requirements import KEY_WORDS, requirements
from anabranch.plan import Plan

STANDARD = ("reno", "cubic")


def case_of(criterion: str, name: str) -> Case:
    """A case by its name."""
    (found,) = (one for one in criteria()[criterion].cases if one.name == name)
    return found


def plan_of(case: Case) -> Plan:
    """The plan of a case."""
    return loaded(case.scenario).plan(overrides=case.overrides)


# Levels.


@pytest.mark.parametrize("criterion", criteria().values(), ids=lambda one: one.name)
def test_a_criterion_has_the_strongest_level_of_what_it_answers(criterion: Criterion) -> None:
    """Words in lower case are advice, and so is what the RFC does not ask for."""
    answered = [one for one in requirements().requirements if criterion.name in one.criteria]
    words = [word for word in KEY_WORDS if word in {one.level for one in answered}]
    assert criterion.level == (words[0] if words else "advice")


@pytest.mark.parametrize("criterion", criteria().values(), ids=lambda one: one.name)
def test_a_criterion_stands_in_a_section_that_it_answers(criterion: Criterion) -> None:
    answered = [one for one in requirements().requirements if criterion.name in one.criteria]
    if answered:
        assert criterion.section in {one.section for one in answered}


def test_the_criteria_are_in_the_order_of_sections() -> None:
    def place(number: str) -> list[int]:
        return [int(part) for part in number.split(".")]

    sections = [one.section for one in criteria().values()]
    assert sections == sorted(sections, key=place)


# Loads.


def offered_part(plan: Plan, link: str) -> float:
    """What transfers offer to a link, with headers, over its rate."""
    (rate,) = (one.rate_bps for one in plan.links if one.name == link)
    assert rate
    wire = 0.0
    for one in plan.classes:
        per_s = one.count / one.spread_s * (one.transfer_bytes or 0)
        wire += 8 * per_s * one.packet_bytes / one.payload_bytes
    return float(wire / rate)


@pytest.mark.parametrize("case", criteria()["common-suite"].cases, ids=lambda one: one.name)
def test_the_load_of_a_case_is_the_one_in_its_name(case: Case) -> None:
    """But for the rounding to a whole number of transfers."""
    (percent,) = re.findall(r"(\d+) %", case.name)
    assert offered_part(plan_of(case), "central") == pytest.approx(int(percent) / 100, rel=1e-2)


def test_the_scenario_itself_has_the_load_that_it_states() -> None:
    plan = loaded("common-suite/dumbbell").plan()
    assert offered_part(plan, "central") == pytest.approx(0.85, rel=2e-3)


# Times.

STEADY = (
    *("drop-tail", "round-trips", "wired-rates", "standing-queue", "bufferbloat", "loss-rate"),
    *("aqm", "self-fairness", "unresponsive-sender", "high-delay"),
)
"""Criteria that measure a steady use; a case that does not says so in its name."""


@pytest.mark.parametrize(
    "case",
    {
        (case.scenario, case.overrides): case
        for name in STEADY
        for case in criteria()[name].cases
        if "after slow start" not in case.name
    }.values(),
    ids=lambda one: one.name,
)
def test_reno_loses_packets_where_steady_use_is_measured(case: Case) -> None:
    found = ab.run(case.scenario, 1, controller="reno", overrides=case.overrides, threads=1)
    lost = found.link("bottleneck", "dropped_packets")
    marked = found.link("bottleneck", "marked_packets")
    assert lost.min() + marked.min() >= 3


def test_a_cycle_of_reno_is_what_runs_show() -> None:
    """Recoveries of one flow in three to six cycles of 9 s."""
    overrides = case_of("drop-tail", "2 BDP, 1 flow").overrides
    found = ab.run("rfc9743/one-link", 1, controller="reno", overrides=overrides, threads=1)
    measured = found.plan.duration_s - found.plan.warmup_s
    cycles = measured / reno_cycle_s(buffer=2)
    assert found.path("subject", 0, "recoveries").sum() == pytest.approx(cycles, abs=1.5)


def test_steady_times_hold_three_cycles() -> None:
    duration, warmup = steady(rtt_s=0.3, least_s=60, warmup_s=30)
    measured = float(duration.split("=")[1][:-2]) - float(warmup.split("=")[1][:-2])
    assert 3 * reno_cycle_s(rtt_s=0.3) <= measured <= 3 * reno_cycle_s(rtt_s=0.3) + 10


@pytest.mark.parametrize(
    ("spread_s", "mean_s", "spread_seen_s"), [(0.04, 0.061, 0.011), (0.08, 0.083, 0.022)]
)
def test_the_drawn_delay_varies_as_the_method_says(
    spread_s: float, mean_s: float, spread_seen_s: float
) -> None:
    """Packets each 0.6 ms that keep their order, on a path whose way back has 20 ms."""
    values = [float(one) for one in re.findall(r'delay = "([0-9.]+) ms"', drawn(spread_s))]
    draw = random.Random(1)
    assert values[0] == pytest.approx(20 + 1e3 * spread_s * draw.random(), abs=1e-3)
    sent = np.arange(0.1, 59.9, 0.6e-3)
    arrives = np.maximum.accumulate(sent + np.take(values, (sent / 0.1).astype(int) - 1) / 1e3)
    delays = arrives - sent + 0.02
    assert delays.mean() == pytest.approx(mean_s, abs=5e-4)
    assert delays.std() == pytest.approx(spread_seen_s, abs=5e-4)


# Bounds.


def full_queue_s(plan: Plan, link: str) -> float:
    """The longest wait in a queue of a link of constant rate."""
    (found,) = (one for one in plan.links if one.name == link)
    return 12000.0 * found.queue.limit_packets / found.rate_bps  # type: ignore[union-attr,operator]


def watched_s(plan: Plan) -> tuple[float, float]:
    """The time that is watched after the event of a criterion that counts until then."""
    starts = [one.start_s for one in plan.classes if one.name == "later" and one.count]
    return 0.0, plan.duration_s - (starts[0] if starts else 20.0)


RANGES: dict[str, Callable[[Plan], tuple[float, float]]] = {
    "standing-queue": lambda plan: (0.0, full_queue_s(plan, "bottleneck")),
    "aqm-delay": lambda plan: (0.0, full_queue_s(plan, "bottleneck")),
    "convergence": watched_s,
    "release": watched_s,
    "onset": lambda plan: (0.0, 62500.0),
    "persistent-congestion": lambda plan: (1.0, np.inf),
}
"""What can come out at all, where a measure ends with the setting."""


def range_of(criterion: Criterion, plan: Plan) -> tuple[float, float]:
    """Parts are from 0 to 1, and times end with the run."""
    if criterion.name in RANGES:
        return RANGES[criterion.name](plan)
    ends = {PERCENT: 1.0, SECONDS: plan.duration_s, MILLISECONDS: plan.duration_s}
    return 0.0, ends.get(criterion.unit, np.inf)


COMPARED = [
    one
    for one in criteria().values()
    if isinstance(one.goal, NoWorse)
    and (one.goal.more_is_worse or one.name == "real-time-delay")
    and one.name != "synchronisation"
]
"""Where less is worse, the bound is a part of what a reference has, and so above nothing; where the
measure has no end, there is no bound beyond it.
"""


@pytest.mark.parametrize("criterion", COMPARED, ids=lambda one: one.name)
def test_a_bound_from_references_lies_inside_what_can_come_out(criterion: Criterion) -> None:
    """Some value misses it. Of cases that differ in rate alone the cheap ones are enough."""
    cases = tuple(
        one
        for one in criterion.cases
        if not one.name.startswith(("50 Mb/s", "1 Gb/s", "data center", "trans-oceanic"))
    )
    found = ab.evaluate(*STANDARD, criteria=[replace(criterion, cases=cases)], seeds=1)
    for row in found.entries[0].rows:
        low, high = range_of(criterion, plan_of(row.case))
        bound = row.bound[1] if np.isfinite(row.bound[1]) else row.bound[0]
        assert low < bound < high, row.case.name


@pytest.mark.parametrize("criterion", criteria().values(), ids=lambda one: one.name)
def test_a_goal_that_compares_can_be_missed_whatever_the_references_do(
    criterion: Criterion,
) -> None:
    """A share that is to be high has a bound above none of it, and no slack takes it below."""
    goal = criterion.goal
    if isinstance(goal, NoWorse):
        assert goal.factor > 1 and goal.slack >= 0
        assert goal.more_is_worse or not goal.slack


def test_a_queue_without_limit_has_no_occupancy() -> None:
    class Nothing:
        plan = loaded("rfc9743/one-link").plan()

    with pytest.raises(KeyError, match="line has no queue with a limit"):
        occupancy(Nothing(), "line")  # type: ignore[arg-type]
