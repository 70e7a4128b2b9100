"""The two definitions of multipath TCP-fairness, over numbers and over runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.fairness import ensemble_fairness, reference, tcp_fairness
from anabranch.result import run
from anabranch.scenario import Scenario

RATES = st.floats(0, 1e9)
BOTH = {"a": 5.0, "b": 5.0}

TWO_PATHS = """
name = "two"
duration = "60 s"
warmup = "20 s"

[transport]
delayed_ack = "0 s"

[[link]]
name = "a"
rate = "5 Mb/s"
delay = "25 ms"
queue = {{ red = {{ min = "8 packets", max = "24 packets", max_p = 0.1, limit = "60 packets" }} }}

[[link]]
name = "b"
rate = "5 Mb/s"
delay = "25 ms"
queue = {{ red = {{ min = "8 packets", max = "24 packets", max_p = 0.1, limit = "60 packets" }} }}

[[link]]
name = "access"
rate = "100 Mb/s"
delay = "1 ms"

[[flow]]
name = "on-a"
path = [{{ links = ["a"] }}]

[[flow]]
name = "on-b"
path = [{{ links = ["b"] }}]

[[flow]]
name = "ensemble"
controller = "{controller}"
start = "2 s"
path = [{{ links = ["access", "a"] }}, {{ links = ["access", "{second}"] }}]
"""


def two(controller: str, second: str = "b") -> Scenario:
    return Scenario.parse(TWO_PATHS.format(controller=controller, second=second))


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            st.lists(RATES, min_size=n, max_size=n),
            st.lists(st.sampled_from("abc"), min_size=n, max_size=n),
            st.lists(RATES, min_size=n, max_size=n),
        )
    ),
    st.tuples(RATES, RATES, RATES),
)
def test_who_is_stringently_fair_is_leniently_fair(paths, spare) -> None:
    rates, bottlenecks, tcp = paths
    unused = dict(zip("abc", spare, strict=True))
    found = ensemble_fairness(rates, bottlenecks, tcp, unused, dict.fromkeys("abc", 1e9))
    assert found.lenient or not found.stringent
    assert found.bound_bps >= max(tcp)
    assert sum(link.ensemble_bps for link in found.links) == pytest.approx(found.total_bps)


def test_tcps_on_contested_paths_of_their_own_are_leniently_fair_and_not_stringently() -> None:
    nothing, capacities = dict.fromkeys("abcd", 0.0), dict.fromkeys("abcd", 5.0)
    found = ensemble_fairness([2.5] * 4, list("abcd"), [2.5] * 4, nothing, capacities)
    assert found.lenient and not found.stringent
    assert (found.total_bps, found.bound_bps, found.excess) == (10.0, 2.5, 3.0)


def test_what_nobody_else_uses_may_be_used_besides_one_share() -> None:
    # Figure 4-11: two TCPs on one of two paths of 5 Mb/s. The best is a TCP there and all of the
    # empty one.
    rates, unused = [5 / 3, 5.0], {"a": 0.0, "b": 5.0}
    found = ensemble_fairness(rates, ["a", "b"], rates, unused, BOTH)
    assert found.stringent and found.best_path == 0
    assert found.bound_bps == pytest.approx(5 / 3 + 5)


def test_paths_over_one_bottleneck_are_one_path() -> None:
    found = ensemble_fairness([2.0, 2.0], ["a", "a"], [2.5, 2.4], {"a": 1.0}, BOTH)
    assert found.violated == ("a",) and not found.lenient
    assert found.bound_bps == 2.5
    assert ensemble_fairness([1.2, 1.3], ["a", "a"], [2.5, 2.4], {"a": 1.0}, BOTH).stringent


def test_the_margin_is_a_fraction_of_a_link_and_of_the_bound() -> None:
    one = ([2.7], ["a"], [2.5], {"a": 0.0}, BOTH)
    assert ensemble_fairness(*one).lenient and not ensemble_fairness(*one).stringent
    assert ensemble_fairness(*one, margin=0.09).stringent
    assert not ensemble_fairness(*one, margin=0.03).lenient


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], [], {}, {}), "0 rates"),
        (([1.0], ["a"], [], {"a": 0.0}, BOTH), "1 rates, 1 bottlenecks and 0 rates of TCP"),
        (([1.0], ["a"], [1.0], {}, BOTH), "there is no spare capacity of a"),
        (([-1.0], ["a"], [1.0], {"a": 0.0}, BOTH), "-1.0 bit/s is no rate"),
        (([1.0], ["a"], [1.0], {"a": 0.0}, {}), "there is no capacity of a"),
        (([1.0], ["a"], [1.0], {"a": 0.0}, {"a": float("nan")}), "there is no capacity of a"),
        (([float("nan")], ["a"], [1.0], {"a": 0.0}, BOTH), "nan bit/s is no rate"),
        (([1.0], ["a"], [float("inf")], {"a": 0.0}, BOTH), "inf bit/s is no rate"),
    ],
)
def test_what_is_missing_or_no_rate_is_said(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        ensemble_fairness(*arguments)


@pytest.mark.parametrize("margin", [-0.01, 1.5, float("nan")])
def test_a_margin_is_a_part(margin: float) -> None:
    with pytest.raises(ValueError, match=r"the margin is .*; it is a part, from 0 to 1"):
        ensemble_fairness([1.0], ["a"], [1.0], {"a": 0.0}, BOTH, margin=margin)


def test_multi_priority_is_fair_where_tcps_are_not_and_an_access_link_does_not_count() -> None:
    twin = reference(two("reno"), "ensemble", [1, 2])
    assert twin.bottlenecks == ("a", "b")
    assert twin.tcp_bps.shape == (2, 2)
    assert np.all((twin.tcp_bps > 1.8e6) & (twin.tcp_bps < 3.2e6))
    assert all((spare < 0.15 * 5e6).all() for spare in twin.spare_bps.values())
    fair = tcp_fairness(run(two("multi-priority"), [1, 2]), twin, margin=0.1)
    assert fair.stringent
    unfair = tcp_fairness(run(two("reno"), [1, 2]), twin, margin=0.1)
    assert unfair.lenient and not unfair.stringent


def test_what_a_tcp_leaves_of_the_queue_that_limits_it_is_spare_by_one_reading_only() -> None:
    twin = reference(two("reno"), "ensemble", [1, 2])
    assert all((spare > 0).all() for spare in twin.spare_bps.values())
    assert all((spare == 0).all() for spare in twin.elsewhere_bps.values())
    result = run(two("reno"), [1, 2])
    wide, narrow = (tcp_fairness(result, twin, spare=spare) for spare in ("unused", "elsewhere"))
    assert (wide.spare, narrow.spare) == ("unused", "elsewhere")
    assert (
        narrow.bound_bps < wide.bound_bps
        and narrow.bound_bps == twin.measured_bps.mean(axis=1).max()
    )


def test_what_a_flow_of_one_rate_leaves_of_a_link_is_spare_by_both_readings() -> None:
    text = TWO_PATHS.format(controller="reno", second="b")
    slow = text.replace('name = "on-a"', 'name = "on-a"\napp_rate = "1 Mb/s"')
    twin = reference(Scenario.parse(slow), "ensemble", [1])
    assert twin.spare_bps["a"] == twin.elsewhere_bps["a"] > 3.5e6
    assert twin.spare_bps["b"] > twin.elsewhere_bps["b"] == 0


def test_tcps_over_one_bottleneck_violate_even_the_lenient_definition() -> None:
    twin = reference(two("reno", second="a"), "ensemble")
    assert twin.bottlenecks == ("a", "a")
    found = tcp_fairness(run(two("reno", second="a")), twin)
    assert found.violated == ("a",)
    assert found.links[0].excess > 0.15


def test_runs_may_come_from_anywhere() -> None:
    seen = []

    def recorded(scenario: Scenario, seeds: list[int]):
        seen.append(scenario.name)
        return run(scenario, seeds, overrides=["duration=5 s", "warmup=1 s"])

    reference(two("reno"), "ensemble", runs=recorded)
    assert [name.split(" ", 1)[1] for name in seen] == [
        "with a TCP on path 0",
        "with a TCP on path 1",
        "without ensemble",
    ]


def test_without_anybody_else_all_is_spare() -> None:
    text = TWO_PATHS.format(controller="reno", second="b")
    first, last = text.index('[[flow]]\nname = "on-a"'), text.index('[[flow]]\nname = "ensemble"')
    twin = reference(Scenario.parse(text[:first] + text[last:]), "ensemble")
    assert {link: float(spare[0]) for link, spare in twin.spare_bps.items()} == {"a": 5e6, "b": 5e6}


SOON = ["duration=20 s", "warmup=5 s"]


def test_flows_without_users_do_not_move_others_and_count_as_nobody() -> None:
    off = ["flow.on-a.count=0"]
    one_off = reference(two("reno"), "ensemble", overrides=[*off, *SOON])
    assert one_off.spare_bps["a"] == 5e6 and one_off.spare_bps["b"] < 2e6
    both_off = [*off, "flow.on-b.count=0"]
    empty = reference(two("reno"), "ensemble", overrides=[*both_off, *SOON])
    assert {link: spare.tolist() for link, spare in empty.spare_bps.items()} == {
        "a": [5e6],
        "b": [5e6],
    }
    with pytest.raises(ValueError, match="flow 'on-a' has 0 users"):
        reference(two("reno"), "on-a", overrides=off)


def test_a_tcp_alone_is_taken_to_use_what_nobody_uses() -> None:
    nobody = ["flow.on-a.count=0", "flow.on-b.count=0"]
    empty = reference(two("reno"), "ensemble", overrides=[*nobody, *SOON])
    assert (empty.tcp_bps == 5e6).all()


def test_a_controller_is_that_of_the_other_flows_and_not_of_the_tcp() -> None:
    seen = []

    def recorded(scenario: Scenario, seeds: list[int]):
        seen.append({c.name: c.controller for c in scenario.plan().classes})
        return run(scenario, seeds)

    text = two("reno").text.replace(
        'name = "on-b"\npath = [', 'name = "on-b"\npath = [{ links = ["a"] }, '
    )
    options = {"controller": "lia", "overrides": ["flow.ensemble.controller=cubic", *SOON]}
    reference(Scenario.parse(text), "ensemble", runs=recorded, **options)
    assert [twin.pop("ensemble", None) for twin in seen] == ["reno", "reno", None]
    assert seen == [{"on-a": "reno", "on-b": "lia"}] * 3


def test_paths_that_are_alike_are_run_once() -> None:
    seen = []

    def recorded(scenario: Scenario, seeds: list[int]):
        seen.append(scenario.name)
        return run(scenario, seeds, overrides=SOON)

    text = two("reno", second="a").text
    twin = reference(Scenario.parse(text), "ensemble", runs=recorded)
    assert len(seen) == 2 and twin.tcp_bps.shape == (2, 1)


def test_a_striped_flow_has_all_its_paths_and_gives_each_the_same_part() -> None:
    striped = ["flow.ensemble.striped=true", *SOON]
    twin = reference(two("reno"), "ensemble", overrides=striped)
    assert twin.bottlenecks == ("a", "b")
    result = run(two("reno"), overrides=striped)
    found = tcp_fairness(result, twin)
    assert [link.ensemble_bps for link in found.links] == [found.total_bps / 2] * 2
    assert found.total_bps == pytest.approx(result.rate("ensemble")[0], rel=1e-9)


def test_a_link_whose_rate_changes_has_its_mean_and_a_private_one_is_used_by_nobody_else() -> None:
    text = two("reno").text.replace(
        'name = "access"\nrate = "100 Mb/s"',
        'name = "access"\nper_user = true\nrate = "1 Mb/s"',
    )
    shared = text.replace('path = [{ links = ["a"] }]', 'path = [{ links = ["access", "a"] }]')
    twin = reference(Scenario.parse(shared), "ensemble", overrides=SOON)
    assert twin.bottlenecks == ("access", "access")
    assert twin.spare_bps["access"] == 1e6
    falling = text.replace(
        'name = "a"\nrate = "5 Mb/s"',
        'name = "a"\nchange = [{ at = "12.5 s", rate = "0.5 Mb/s" }]\nrate = "1 Mb/s"',
    )
    twin = reference(
        Scenario.parse(falling.replace("1 Mb/s", "0.9 Mb/s", 1)), "on-a", overrides=SOON
    )
    assert twin.capacities_bps["a"] == pytest.approx(0.7e6, rel=1e-6)


def test_after_an_interrupt_there_is_no_reference() -> None:
    def interrupted(scenario: Scenario, seeds: list[int]):
        result = run(scenario, seeds[:1], overrides=SOON)
        result.provenance["complete"] = False
        return result

    with pytest.raises(KeyboardInterrupt):
        reference(two("reno"), "ensemble", [1, 2], runs=interrupted)


def test_what_cannot_be_judged_is_refused() -> None:
    result = run(two("reno"), overrides=SOON)
    with pytest.raises(ValueError, match="there is no reference TCP to compare with"):
        tcp_fairness(result, None)
    twin = reference(two("reno"), "ensemble", overrides=SOON)
    with pytest.raises(ValueError, match="no flow 'ensemble'; the flows of the result are on-a"):
        tcp_fairness(run(two("reno"), overrides=["flow.ensemble.count=0", *SOON]), twin)
    elsewhere = run(two("reno", second="a"), overrides=SOON)
    with pytest.raises(ValueError, match="path 1 of flow 'ensemble' does not cross 'b'"):
        tcp_fairness(elsewhere, twin)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("flow.ensemble.path=[]", "it has no path"),
        ('flow.ensemble.path=[{ links = ["c"] }]', "there is no link `c`"),
        ("link.a.delay=-5 ms", "it is negative"),
        ("flow.ensemble.count=-1", "count"),
    ],
)
def test_a_reference_of_what_is_no_scenario_is_refused(override: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        reference(two("reno"), "ensemble", overrides=[override])


def test_a_reference_that_cannot_be_is_refused() -> None:
    with pytest.raises(
        ValueError, match="there is no flow 'nobody'; the flows are on-a, on-b, ensemble"
    ):
        reference(two("reno"), "nobody")
    several = two("reno").text.replace('name = "ensemble"', 'name = "ensemble"\ncount = 3')
    with pytest.raises(ValueError, match="flow 'ensemble' has 3 users"):
        reference(Scenario.parse(several), "ensemble")
    unlimited = (
        two("reno").text.replace('rate = "100 Mb/s"\n', "").replace('["access", "a"]', '["access"]')
    )
    with pytest.raises(ValueError, match="has no link with a rate"):
        reference(Scenario.parse(unlimited), "ensemble")
    twin = reference(two("reno"), "ensemble")
    shorter = Scenario.parse(two("reno").text.replace(', { links = ["access", "b"] }', ""))
    with pytest.raises(ValueError, match="has 1 paths and the reference 2"):
        tcp_fairness(run(shorter, overrides=["duration=5 s", "warmup=1 s"]), twin)
