"""Goals: scores of runs, and verdicts on scores."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from pathlib import Path as File

import numpy as np
import pytest
from chance import SMALL, drawn

from anabranch.breaking.bench import Bench, UnderTest
from anabranch.breaking.drawing import Needs
from anabranch.breaking.goals import GOALS
from anabranch.breaking.goals.oscillates import swing
from anabranch.breaking.kind import Goal, Part, guide, judged, leaning, less
from anabranch.breaking.network import SAME, Event, Link, Network, Path, User
from anabranch.breaking.own import goal, goal_of
from anabranch.breaking.ranges import QUEUES
from anabranch.breaking.rendering import document
from anabranch.breaking.trial import ITSELF, Trial
from anabranch.breaking.worlds import Threads
from anabranch.plan import Plan
from anabranch.result import Result

ARRAY = np.array

HERE = File(__file__).parent
STUCK, LATECOMER = HERE / "stuck.py", HERE / "latecomer.py"


def scored(goal: Goal, network: Network, controller: str, seeds: int = 3) -> dict[str, float]:
    """The mean of the first part of each aspect."""
    bench = Bench(UnderTest.of(controller), goal, Threads(2))
    with bench.working():
        aspects = bench.score(network, range(1, seeds + 1), "test")
    return {name: float(parts[0].values.mean()) for name, parts in aspects.items()}


def one_link(subflows: int, rtt_s: float = 0.05, **link: object) -> Network:
    """A user with subflows over one link, and a TCP."""
    path = Path((0,), rtt_s)
    users = (User(SAME, (path,) * subflows), User("reno", (path,)))
    return Network((Link(5e6, **link),), users, 60.0)  # type: ignore[arg-type]


def test_reno_with_two_subflows_takes_a_second_share_and_lia_does_not() -> None:
    goal, shared = GOALS["more-than-tcp"], one_link(2, queue="red")
    assert scored(goal, shared, "reno", 5)["tcp"] == pytest.approx(1 / 3, abs=0.1)
    assert scored(goal, shared, "lia", 5)["tcp"] < 0.12


def test_reno_on_one_path_is_exactly_its_own_twin() -> None:
    alike = "more-than-tcp more-on-a-path starves wastes unfair-to-itself loses standing-queue"
    for name in (*alike.split(), "oscillates"):
        assert set(scored(GOALS[name], one_link(1), "reno").values()) == {0.0}


def test_a_fair_queue_is_no_place_for_goals_that_compare_with_one_flow() -> None:
    """There every subflow has a share of its own, whatever the controller."""
    alike = "more-than-tcp starves more-on-a-path delays-transfers unfair-to-itself"
    for name in alike.split():
        assert "fq-codel" not in (GOALS[name].needs.queues or QUEUES)
        for network in drawn(20, needs=GOALS[name].needs):
            assert all(link.queue != "fq-codel" for link in network.links)


def test_a_step_of_the_rate_is_no_swing_and_taking_turns_is() -> None:
    step, turns = ARRAY([2.0] * 5 + [1.0] * 7), ARRAY([2.0, 2.0, 0.0, 0.0] * 3)
    assert swing(step) == 0.0 and swing(step[::-1]) == 0.0
    assert swing(turns) == pytest.approx(turns.std(), rel=0.15)
    assert swing(ARRAY([3.0] * 8)) == 0.0


def test_a_late_user_is_no_oscillation() -> None:
    path = Path((0,), 0.05)
    users = (User(SAME, (path,)), User("reno", (path,), late=True))
    network = Network((Link(5e6),), users, 70.0)
    for controller in ("cubic", "lia"):
        assert scored(GOALS["oscillates"], network, controller)["path 1"] < 0.05
    assert not any(
        user.late or user.transfers
        for one in drawn(40, needs=GOALS["oscillates"].needs)
        for user in one.users
    )


def test_transfers_that_are_not_completed_count() -> None:
    """Else the transfers that a bully keeps from ending would make it look better."""
    path = Path((0,), 0.05)
    users = (User(SAME, (path,)), User("reno", (path,), transfers=0.9))
    network = Network((Link(1e6),), users, 40.0)
    bench = Bench(UnderTest.of("reno"), GOALS["delays-transfers"], Threads(2))
    with bench.working():
        trial = bench.trial(document(network, "reno"), (1, 2))
    (run, *_) = trial.runs[ITSELF]
    place = run.classes.index("short-tcp")
    flows, classes = run.runs[0].flows, run.runs[0].classes
    begun = (np.asarray(flows.class_) == "short-tcp") & (
        np.asarray(flows.start_s) >= trial.plan.warmup_s
    )
    open_ = begun & np.isnan(np.asarray(flows.fct_s))
    assert open_.sum() > 0
    assert classes.completed_flows[place] == begun.sum() - open_.sum()
    total_s = classes.completed_flows[place] * classes.fct_mean_s[place]
    total_s += (trial.plan.duration_s - np.asarray(flows.start_s)[open_]).sum()
    assert trial.completion_s()[0] == pytest.approx(total_s / begun.sum())


def test_a_delay_target_is_unfair_to_the_user_that_was_there_first() -> None:
    alone = Network((Link(10e6, buffer=4.0),), (User(SAME, (Path((0,), 0.05),)),), 60.0)
    goal = GOALS["unfair-to-itself"]
    assert scored(goal, alone, f"{LATECOMER}:Latecomer")["begin one after the other"] > 0.5
    assert scored(goal, alone, "cubic", 5)["begin one after the other"] < 0.25


def test_a_window_that_does_not_fill_the_path_wastes_it(tmp_path: File) -> None:
    law = tmp_path / "timid.law"
    law.write_text(
        "law timid: a twentieth of the growth of Reno\n\ngrowth  = 0.05 / w\nbackoff = 0.5 * w\n"
    )
    paths = (Path((0,), 0.05), Path((1,), 0.05))  # on one path every law is Reno
    links = (Link(20e6, loss=0.002), Link(20e6, loss=0.002))
    lossy = Network(links, (User(SAME, paths),), 60.0)
    # Rates go with the root of growth: sqrt(0.05) of Reno's.
    assert scored(GOALS["wastes"], lossy, str(law))["all users"] == pytest.approx(0.78, abs=0.08)


def test_without_its_cap_lia_has_more_on_a_path_than_a_tcp() -> None:
    """`phi` with an exponent of 1 is LIA without its cap: bounded-proofs.md disproves the claim."""
    paths = (Path((0,), 0.02), Path((1,), 0.3))
    network = Network((Link(50e6, loss=0.01), Link(50e6, loss=0.0001)), (User(SAME, paths),), 300.0)
    goal = GOALS["more-on-a-path"]
    assert scored(goal, network, "phi:1")["path 2"] > 0.3
    assert scored(goal, network, "lia")["path 2"] < 0.1


def test_bbr_loses_what_a_shallow_queue_does_not_hold() -> None:
    shallow = Network((Link(10e6, buffer=0.2),), (User(SAME, (Path((0,), 0.05),) * 2),), 40.0)
    bbr, cubic = (scored(GOALS["loses"], shallow, name)["subject"] for name in ("bbr", "cubic"))
    assert bbr > 0.03 and bbr > 3 * abs(cubic)


def test_everybody_loses_in_scenario_b_of_the_draft() -> None:
    subject = User(SAME, (Path((1,), 0.11), Path((0, 1), 0.11)))
    peer = User(SAME, (Path((0,), 0.11), Path((1,), 0.11)))
    links = (Link(1.8e6, "red", 0.8), Link(2.4e6, "red", 0.8))
    network = Network(links, (subject, peer), 200.0)
    found = scored(GOALS["everybody-loses"], network, "lia", 5)
    assert found["TCP on path 1"] > 0.0


def test_theory_finds_two_stable_states_of_balia_and_one_of_lia() -> None:
    path = Path((0,), 0.05)
    network = Network((Link(5e6, "red"),), (User(SAME, (path, path)),), 30.0)
    assert scored(GOALS["several-fixed-points"], network, "balia")["the stable states"] > 0.2
    assert scored(GOALS["several-fixed-points"], network, "lia")["the stable states"] == 0.0


def test_a_controller_that_does_not_come_back_is_seen() -> None:
    path = Path((0,), 0.05)
    network = Network((Link(1e6),), (User(SAME, (path,)),), 30.0, Event(0, "outage", 2.0))
    assert abs(scored(GOALS["no-recovery"], network, "reno")["all paths"]) < 1e-9
    assert scored(GOALS["no-recovery"], network, f"{STUCK}:Stuck")["all paths"] > 0.5


@pytest.mark.parametrize("name", GOALS)
def test_every_goal_has_finite_scores_on_small_networks(name: str) -> None:
    goal = GOALS[name]
    bench = Bench(UnderTest.of("lia"), goal, Threads(2))
    needs = goal.needs
    values = []
    with bench.working():
        for network in drawn(2, SMALL, needs):
            aspects = bench.score(network, (1, 2), "test")
            for parts in aspects.values():
                assert all(part.values.shape == (2,) for part in parts)
                assert sum(part.limit is None for part in parts) >= 1
            values.append(guide(aspects, goal.limit))
    assert any(math.isfinite(value) for value in values)
    assert goal.told.format(controller="lia", aspect="tcp", value="1 %")
    assert goal.meaning.endswith(".") and goal.why.endswith(".")


SIMULATED = [name for name, goal in GOALS.items() if goal.simulated and name != "theory-differs"]


@pytest.mark.parametrize("name", SIMULATED)
def test_a_score_does_not_depend_on_the_names_of_users_and_links(name: str) -> None:
    goal = GOALS[name]
    (network,) = drawn(1, SMALL, replace(goal.needs, others=1))
    bench = Bench(UnderTest.of("lia"), goal, Threads(2))
    with bench.working():
        trial = bench.trial(document(network, "lia"), (1, 2))
    new = {c.name: f"user {place}" for place, c in enumerate(trial.plan.classes) if place}
    new |= {link.name: f"wire {place}" for place, link in enumerate(trial.plan.links)}
    runs = {
        variant: [renamed(result, new) for result in results]
        for variant, results in trial.runs.items()
    }
    other = replace(trial, plan=renamed_plan(trial.plan, new), runs=runs)
    values = [[p.values.tolist() for p in parts] for parts in goal.score(trial).values()]
    again = [[p.values.tolist() for p in parts] for parts in goal.score(other).values()]
    np.testing.assert_equal(again, values)


def renamed_plan(plan: Plan, new: dict[str, str]) -> Plan:
    """A plan with other names of classes and links; users of a class keep their numbers."""

    def name(old: str) -> str:
        base, slash, number = old.partition("/")
        return f"{new.get(base, base)}{slash}{number}"

    return replace(
        plan,
        classes=[replace(c, name=name(c.name)) for c in plan.classes],
        links=[replace(link, name=name(link.name)) for link in plan.links],
    )


def renamed(result: Result, new: dict[str, str]) -> Result:
    """A result with other names."""
    plan = renamed_plan(result.plan, new)
    names = {a.name: b.name for a, b in zip(result.plan.classes, plan.classes, strict=True)}
    runs = []
    for run in result.runs:
        one = copy(run)
        one.flows = copy(run.flows)
        one.flows.class_ = [names[name] for name in run.flows.class_]
        runs.append(one)
    return replace(result, plan=plan, runs=runs)


def test_a_goal_is_broken_only_where_the_whole_interval_is_beyond_the_limit() -> None:
    inside = {"a": [Part(ARRAY([0.3, 0.31, 0.32]))], "b": [Part(ARRAY([-1.0, 5.0, 0.0]))]}
    verdict = judged(inside, 0.2)
    assert verdict and verdict.broken and verdict.aspect == "a" and verdict.aspects == 2
    assert verdict.value.confidence == pytest.approx(0.975)
    assert not judged(inside, 0.31).broken  # type: ignore[union-attr]
    assert judged({"a": [Part(ARRAY([np.nan, 1.0]))]}, 0.0) is None
    assert guide(inside, 0.2) == pytest.approx(0.1) and leaning(inside, 0.2) > 1.0


def test_every_part_of_an_aspect_has_to_be_beyond_its_limit() -> None:
    high, low = Part(ARRAY([0.5, 0.5])), Part(ARRAY([0.1, 0.1]))
    assert not judged({"both": [high, low]}, 0.2).broken  # type: ignore[union-attr]
    both = judged({"both": [high, Part(low.values, 0.0)]}, 0.2)
    assert both and both.broken and both.value.mean == 0.5


def test_less_is_a_part_of_the_mean_of_the_twin() -> None:
    assert less(ARRAY([1.0, 3.0]), ARRAY([4.0, 4.0])).tolist() == [0.75, 0.25]
    now, twin = ARRAY([1.0, 2.0, 6.0]), ARRAY([2.0, 4.0, 12.0])
    assert less(now, twin).tolist() == [0.5, 0.5, 0.5]  # the twin's own spread is none of the ratio
    assert np.isnan(less(ARRAY([1.0]), ARRAY([0.0]))).all()


def test_a_goal_of_a_users_own_gets_the_runs_and_may_return_several_values(tmp_path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import anabranch as ab\n"
        "@ab.breaking.goal(limit=0.2, twins=ab.breaking.tcp_on_each_path, paths=2)\n"
        "def idle(trial):\n"
        "    'A path is idle.'\n"
        "    return {f'path {p}': 1 - trial.path_rate(p) / trial.rate('subject') for p in trial.paths}\n"
        "def plain(trial):\n"
        "    return trial.rate('subject') - 1.0\n"
        "def wrong(trial):\n"
        "    return 1.0\n"
    )
    own, found = goal_of(f"{file}:idle")
    assert found == file and own.name == "idle" and own.meaning == "A path is idle."
    assert own.limit == 0.2 and own.needs == Needs(paths=2)
    assert set(scored(own, one_link(2), "lia")) == {"path 0", "path 1"}
    plain, _ = goal_of(f"{file}:plain")
    assert scored(plain, one_link(1), "reno")["plain"] > 1e5
    assert plain.given == f"{file}:plain"
    wrong, _ = goal_of(f"{file}:wrong")
    with pytest.raises(ValueError, match="it has a value for each of 3 replications"):
        scored(wrong, one_link(1), "reno")
    with pytest.raises(ValueError, match="there is no goal 'everbody-loses'; did you mean"):
        goal_of("everbody-loses")


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("def mine(trial):\n    return 1 / 0\n", "ZeroDivisionError: division by zero"),
        ("def mine():\n    return 1\n", "TypeError: mine\\(\\) takes 0 positional arguments"),
        ("def mine(trial):\n    return trial.rate('nobody')\n", "there is no class 'nobody'"),
        (
            "def mine(trial):\n    return ['much', 'more', 'most']\n",
            "ValueError: could not convert",
        ),
    ],
)
def test_a_goal_of_a_users_own_that_fails_is_named(code: str, what: str, tmp_path: File) -> None:
    file = tmp_path / "mine.py"
    file.write_text(code)
    own, _ = goal_of(f"{file}:mine")
    with pytest.raises(ValueError, match=f"the goal {file}:mine fails: .*{what}"):
        scored(own, one_link(1), "reno")


def test_a_decorated_function_is_a_goal() -> None:
    @goal(limit=1.0, unit="Mb/s")
    def fast(trial: Trial) -> object:
        assert list(trial.runs) == [ITSELF]
        return trial.rate("subject") / 1e6

    assert isinstance(fast, Goal) and fast.shown(2.0) == "2 Mb/s"
    assert scored(fast, one_link(1), "reno")["fast"] > 1.0
