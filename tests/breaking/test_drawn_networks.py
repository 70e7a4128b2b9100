"""What the search draws, and how it becomes a scenario."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from chance import SMALL, Chance, drawn

from anabranch.breaking import timing
from anabranch.breaking.drawing import Needs, draw
from anabranch.breaking.goals import GOALS
from anabranch.breaking.network import (
    SAME,
    Event,
    Link,
    Network,
    Path,
    User,
    digits,
    rounder,
    tidy,
)
from anabranch.breaking.queues import QUEUES
from anabranch.breaking.ranges import Ranges
from anabranch.breaking.rendering import class_names, document, queue_packets
from anabranch.breaking.variants import (
    SHAKE,
    before_and_after,
    settled,
    shaken,
    tcp_on_each_path,
)
from anabranch.cli.breakoptions import DEFAULTS
from anabranch.scenario import Scenario

TWO = Network(
    (Link(10e6), Link(5e6, "red", 0.5, 0.01)),
    (
        User(SAME, (Path((0,), 0.1), Path((0, 1), 0.05))),
        User("reno", (Path((0,), 0.1),), 2),
        User("cubic", (Path((1,), 0.02),), late=True),
        User("reno", (Path((1,), 0.02),), transfers=0.2),
    ),
    50.0,
    Event(1, "outage", 2.0),
)


@pytest.mark.parametrize("name", GOALS)
def test_every_network_that_is_drawn_for_a_goal_is_a_valid_scenario(name: str) -> None:
    needs = GOALS[name].needs
    for network in drawn(25, needs=needs):
        plan = Scenario.written(document(network, "lia", title="found")).plan()
        assert [c.name for c in plan.classes] == class_names(network)
        assert plan.warmup_s == pytest.approx(network.duration_s / 4)
        bulk = [c for c in plan.classes[1:] if not c.transfer_bytes]
        assert sum(c.count for c in bulk) >= needs.others
        assert len(plan.classes[0].paths) >= needs.paths
        assert not needs.queues or all(link.queue in needs.queues for link in network.links)
        assert any(link.changes for link in plan.links) == (network.event is not None)
        assert needs.event != "always" or network.event is not None
        assert needs.event != "never" or network.event is None


def test_every_network_is_within_the_ranges() -> None:
    ranges = Ranges()
    for network in drawn(150):
        assert 1 <= len(network.links) <= 4
        assert sum(user.count for user in network.users) <= 6
        assert all(1e6 <= link.rate_bps <= 100e6 for link in network.links)
        assert all(link.loss == 0 or 1e-4 <= link.loss <= 0.02 for link in network.links)
        assert all(link.burst == 0 or 2 <= link.burst <= 20 for link in network.links)
        assert all(link.loss > 0 for link in network.links if link.burst)
        assert all(link.jitter_s == 0 or 1e-3 <= link.jitter_s <= 0.05 for link in network.links)
        assert all(link.reorder == 0 or 1e-3 <= link.reorder <= 0.1 for link in network.links)
        assert sum(link.jitter_s > 0 or link.reorder > 0 for link in network.links) <= 1
        assert all(0.01 <= path.rtt_s <= 0.3 for path in network.paths)
        assert min(network.windows()) > 0.95 * ranges.window
        assert timing.packets(network) <= 2 * ranges.packets
        assert network.duration_s >= timing.least_duration_s(network)
        assert {link for path in network.paths for link in path.links} == set(
            range(len(network.links))
        )


def test_some_networks_have_bursts_jitter_and_reordering_and_steady_ones_none() -> None:
    for steady in (False, True):
        links = [link for one in drawn(200, needs=Needs(steady=steady)) for link in one.links]
        for name in ("burst", "jitter_s", "reorder"):
            assert any(getattr(link, name) for link in links) != steady
    assert any(link.loss for link in links)


def test_bursts_jitter_and_reordering_are_in_the_scenario() -> None:
    links = (Link(5e6, loss=0.01, burst=4.0), Link(5e6, jitter_s=0.01), Link(5e6, reorder=0.02))
    user = User(SAME, tuple(Path((place,), 0.08) for place in range(3)))
    network = Network(links, (user,), 30.0)
    made = document(network, "lia")
    plan = Scenario.written(made).plan()
    names = [plan.links[place].name for place in plan.classes[0].paths[1].links]
    assert names == ["line-80ms", "b", "behind-b"]
    found = {link["name"]: link for link in made["link"]}
    assert found["a"]["loss"] == {"probability": 0.01, "burst": 4.0}
    assert found["behind-b"] == {"name": "behind-b", "jitter": "10 ms"}
    assert found["behind-c"]["reorder"] == {"probability": 0.02, "delay": "20 ms"}
    assert "reordering" in [choice["what"] for choice in made["choice"]]
    even = replace(network, links=(*links[:2], Link(5e6)))
    assert "reordering" not in [choice["what"] for choice in document(even)["choice"]]


def test_equal_numbers_draw_the_same_network() -> None:
    assert draw(Chance(5), SMALL, Needs()) == draw(Chance(5), SMALL, Needs())


def test_a_network_survives_json() -> None:
    for network in [TWO, *drawn(40)]:
        assert Network.of_json(json.loads(json.dumps(network.to_json()))) == network


def test_tidying_leaves_out_what_nobody_uses_and_counts_equal_users_together() -> None:
    user = User("reno", (Path((2,), 0.1),))
    untidy = Network(
        (Link(1e6), Link(2e6), Link(3e6)), (User(SAME, (Path((2,), 0.1),)), user, user), 30
    )
    assert tidy(untidy) == Network(
        (Link(3e6),),
        (User(SAME, (Path((0,), 0.1),)), User("reno", (Path((0,), 0.1),), 2)),
        30,
    )
    for network in drawn(40):
        assert tidy(tidy(network)) == tidy(network)


def test_the_subject_is_marked_and_peers_have_its_controller() -> None:
    network = Network((Link(5e6),), (User(SAME, (Path((0,), 0.05),)),) * 2, 30.0)
    flows = document(network, "olia")["flow"]
    assert [flow["name"] for flow in flows] == ["subject", "peer"]
    assert all(flow["subject"] and flow["controller"] == "olia" for flow in flows)


def test_numbers_become_rounder() -> None:
    assert [digits(value) for value in (0.0, 0.05, 20e6, 3e6, 0.15, 0.0123)] == [0, 0, 0, 1, 2, 3]
    for value in (0.013, 37e6, 8.0, 0.3, 0.0041):
        for other in rounder(value):
            assert digits(other) < digits(value) and abs(math.log(other / value)) < math.log(3)


def test_every_replication_has_other_delays_and_a_twin_has_the_same() -> None:
    base = document(TWO, "lia")
    seconds = {link.name: link.delay_s for link in Scenario.written(base).plan().links}
    one, again, other = (shaken(base, seed, seconds) for seed in (1, 1, 2))
    assert one == again != other
    plan, moved = Scenario.written(base).plan(), Scenario.written(one).plan()
    assert sum(c.count for c in moved.classes) == sum(c.count for c in plan.classes)
    assert len({c.name for c in moved.classes}) == len(moved.classes)
    for planned in moved.classes:
        own = next(c for c in plan.classes if c.name == planned.name.partition("/")[0])
        for path, nominal in zip(planned.paths, own.paths, strict=True):
            assert path.base_rtt_s == pytest.approx(nominal.base_rtt_s, rel=SHAKE)
            assert path.base_rtt_s != nominal.base_rtt_s
    for number, twin in enumerate(tcp_on_each_path(base).values()):
        tcp = Scenario.written(shaken(twin, 1, seconds)).plan()
        assert tcp.classes[0].paths[0].base_rtt_s == moved.classes[0].paths[number].base_rtt_s
        assert tcp.classes[0].controller == "reno"
        assert [c.paths[0].base_rtt_s for c in tcp.classes[1:]] == [
            c.paths[0].base_rtt_s for c in moved.classes[1:]
        ]


def test_a_settled_network_is_from_the_start_as_the_event_leaves_it() -> None:
    user = User(SAME, (Path((0,), 0.1),))
    stepped = document(Network((Link(8e6),), (user,), 30.0, Event(0, "step", 0.25)), "lia")
    (link, *_) = Scenario.written(settled(stepped)).plan().links
    assert link.rate_bps == 2_000_000 and not link.changes
    assert set(before_and_after(stepped)) == {
        "without the event",
        "Reno on every path",
        "Reno without the event",
    }


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"rate_bps": "fast"}, "--rate is 'fast'; write a range such as 1..100Mb/s"),
        ({"rate_bps": "1..2 ms"}, "its unit is kb/s, Mb/s or Gb/s"),
        ({"rtt_s": "10..300"}, "--rtt is '10..300'"),
        ({"links": "1..5"}, "the range of links is 1..5; it lies in 1..4"),
        ({"users": "3..2"}, "its first number is the smaller one"),
        ({"paths": "1.5"}, "--paths is '1.5'; these are whole numbers"),
        ({"buffer": "1..2 BDP"}, "it has no unit"),
        ({"queues": "drop tail,bed"}, "there is no queues entry 'bed'"),
    ],
)
def test_a_range_that_cannot_be_is_refused_with_its_name(given: dict[str, str], what: str) -> None:
    with pytest.raises(ValueError) as error:
        Ranges().given(**given)
    assert what in str(error.value)


def test_ranges_are_read_with_their_units() -> None:
    ranges = Ranges().given(
        rate_bps="0.5..20Mb/s", rtt_s="20..50 ms", users="2", queues="Red,drop-tail"
    )
    assert ranges.rate_bps == (5e5, 20e6) and ranges.rtt_s == (0.02, 0.05)
    assert ranges.users == (2, 2) and ranges.queues == ("red", "droptail")
    assert "0.5 to 20 Mb/s" in ranges.text() and "2 users" in ranges.text()


def test_every_queue_holds_a_few_packets() -> None:
    for network in drawn(100):
        for place, link in enumerate(network.links):
            assert queue_packets(network, place) >= QUEUES[link.queue].fewest >= 4


def test_help_states_the_ranges_that_hold_without_options() -> None:
    assert Ranges().given(**DEFAULTS) == Ranges()


def test_ranges_are_written_as_they_are_read() -> None:
    assert Ranges().options() == []
    ranges = Ranges().given(rate_bps="0.5..20Mb/s", rtt_s="20..50 ms", users="2", others="reno")
    words = ranges.options()
    assert words == [
        "--rate",
        "0.5..20Mb/s",
        "--rtt",
        "20..50ms",
        "--users",
        "2",
        "--others",
        "reno",
    ]
    names = {"--rate": "rate_bps", "--rtt": "rtt_s", "--users": "users", "--others": "others"}
    texts = {names[option]: text for option, text in zip(words[::2], words[1::2], strict=True)}
    assert Ranges().given(**texts) == ranges
