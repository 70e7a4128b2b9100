"""Shrinking, with predicates in the place of runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from chance import drawn

from anabranch.breaking.drawing import Needs, check
from anabranch.breaking.kind import Judged
from anabranch.breaking.network import SAME, Link, Network, Path, User
from anabranch.breaking.ranges import Ranges
from anabranch.breaking.shrinking import MOST_TRIED, Step, plainer_traffic, shrink
from anabranch.statistics import Interval

YES = Judged("it", Interval(1.0, 0.1, 5), 0.4, 1)


def shrunk(
    network: Network, holds: Callable[[Network], bool], needs: Needs | None = None
) -> list[Step]:
    """The shrinking of a network that is broken where a predicate holds."""
    asked: list[Network] = []

    def broken(one: Network) -> Judged | None:
        check(one, Ranges(), needs or Needs())
        asked.append(one)
        return YES if holds(one) else None

    chain = shrink(Step(network, YES), broken, Ranges(), needs or Needs())
    assert len(asked) <= MOST_TRIED and len(set(asked)) == len(asked)
    return chain


PREDICATES: dict[str, Callable[[Network], bool]] = {
    "anything": lambda network: True,
    "two links": lambda network: len(network.links) >= 2,
    "three users": lambda network: sum(user.count for user in network.users) >= 3,
    "a peer": lambda network: any(user.controller == SAME for user in network.others),
    "unequal round trips": lambda network: (
        max(p.rtt_s for p in network.paths) > 1.5 * min(p.rtt_s for p in network.paths)
    ),
    "a fast link": lambda network: max(link.rate_bps for link in network.links) > 8e6,
    "a shallow queue": lambda network: min(link.buffer for link in network.links) < 0.7,
    "loss": lambda network: any(link.loss for link in network.links),
    "bursts": lambda network: any(link.burst for link in network.links),
    "jitter": lambda network: any(link.jitter_s for link in network.links),
    "reordering": lambda network: any(link.reorder for link in network.links),
}


@pytest.mark.parametrize("name", PREDICATES)
def test_every_step_is_smaller_and_still_broken(name: str) -> None:
    holds = PREDICATES[name]
    networks = [one for one in drawn(300) if holds(one)][:12]
    assert len(networks) >= 6
    for network in networks:
        chain = shrunk(network, holds)
        sizes = [step.network.size for step in chain]
        assert all(after < before for before, after in pairwise(sizes))
        assert all(holds(step.network) for step in chain)


def test_what_is_always_broken_becomes_one_user_on_one_link_with_round_numbers() -> None:
    for network in drawn(20):
        (link,), (user,) = (
            (found := shrunk(network, PREDICATES["anything"])[-1].network).links,
            found.users,
        )
        assert len(user.paths) == 1 and found.event is None
        assert link.loss == link.burst == link.jitter_s == link.reorder == 0
        assert link.queue == "droptail" and link.buffer == 1.0
        # Rounder ones may need a longer run than is allowed.
        assert sum(map(math.ceil, found.size[-2:-1])) <= 2


def test_only_what_matters_is_left() -> None:
    networks = [one for one in drawn(200) if any(link.loss for link in one.links)][:10]
    for network in networks:
        found = shrunk(network, PREDICATES["loss"])[-1].network
        assert len(found.links) == 1 and len(found.users) == 1 and found.links[0].loss > 0


def test_shrinking_keeps_what_the_goal_needs() -> None:
    needs = Needs(others=1, paths=2, queues=("red",), event="never")
    for network in drawn(10, needs=needs):
        found = shrunk(network, PREDICATES["anything"], needs)[-1].network
        assert len(found.subject.paths) == 2 and sum(u.count for u in found.others) == 1
        assert {link.queue for link in found.links} == {"red"} and len(found.links) == 1


def test_shrinking_is_the_same_every_time() -> None:
    holds = PREDICATES["three users"]
    (network, *_) = [one for one in drawn(30, needs=Needs(others=2, paths=2)) if holds(one)]
    first = [step.network for step in shrunk(network, holds)]
    assert len(first) > 1
    assert first == [step.network for step in shrunk(network, holds)]


def test_a_peer_is_tried_as_a_tcp_on_each_of_its_paths() -> None:
    own, first, second = Path((0, 1), 0.1), Path((0,), 0.1), Path((1,), 0.1)
    users = (User(SAME, (own,)), User(SAME, (first, second)))
    network = Network((Link(5e6), Link(5e6)), users, 60.0)
    tcps = [
        one.users[1].paths for one in plainer_traffic(network) if one.users[1].controller == "reno"
    ]
    assert tcps == [(first,), (second,)]


def test_shrinking_ends_with_the_smallest_so_far_when_time_is_up() -> None:
    (network,) = drawn(1, needs=Needs(others=2, paths=2))
    asked: list[Network] = []

    def broken(one: Network) -> Judged:
        asked.append(one)
        return YES

    told: list[Step] = []
    chain = shrink(
        Step(network, YES),
        broken,
        Ranges(),
        Needs(),
        lambda tried, step: told.append(step),
        lambda: len(asked) >= 3,
    )
    assert len(asked) == 3 and len(chain) == 4 and told == chain
