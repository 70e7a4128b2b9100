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
    # Figure 4-11: two TCPs on one of two paths of 5 Mb/s. The best is a TCP there and all of the empty one.
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
    ],
)
def test_what_is_missing_or_no_rate_is_said(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        ensemble_fairness(*arguments)


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
