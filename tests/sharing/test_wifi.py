"""Networks whose bottlenecks are channels of Wi-Fi."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.result import run
from anabranch.sharing.errors import measure_on
from anabranch.sharing.wifi import LAYOUTS, draw_wifi

layouts = st.sampled_from(sorted(LAYOUTS))


@settings(max_examples=40)
@given(st.integers(0, 10_000), layouts, st.integers(0, 4))
def test_a_network_over_wifi_is_drawn_alike_again_and_is_a_scenario(
    number: int, layout: str, stations: int
) -> None:
    network = draw_wifi(number, 1, LAYOUTS[layout], stations)
    assert draw_wifi(number, 1, LAYOUTS[layout], stations) == network
    plan = ab.Scenario.written(network.document("lia+sbd")).plan()
    assert len(plan.classes[0].paths) == 2
    assert len(plan.media) == len(network.channels)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_paths_share_a_bottleneck_where_they_cross_one_channel(layout: str) -> None:
    """Links of the paths that data crosses: of one medium where they share, else of two at most."""
    network = draw_wifi(3, 1, LAYOUTS[layout], 1)
    document = network.document("lia")
    media = {link["name"]: link.get("medium") for link in document["link"]}
    crossed = [
        {media[name] for name in path["links"]} - {None} for path in document["flow"][0]["path"]
    ]
    assert network.shared == (crossed[0] == crossed[1])
    assert network.shared or not crossed[0] & crossed[1]


def test_two_paths_over_one_full_channel_have_together_what_one_has() -> None:
    """The channel is the bottleneck: a second access point on it adds nothing, one of its own does."""

    def rate(layout: str) -> float:
        network = draw_wifi(0, 1, LAYOUTS[layout], 0, ("g",), ("droptail",))
        scenario = ab.Scenario.written(network.document("reno", 10.0))
        return float(run(scenario, (1,)).rate("subject").mean())

    one, joint, apart = map(rate, ("one-queue", "two-queues", "two-channels"))
    assert joint == pytest.approx(one, rel=0.15)
    assert apart > 1.7 * one


def test_a_common_queue_is_found_and_two_queues_on_one_channel_are_not() -> None:
    """What the page says of Wi-Fi: the detector hears queues, not airtime."""

    def wrong(layout: str) -> int:
        drawn = [draw_wifi(number, 2, LAYOUTS[layout], 0) for number in range(20)]
        return measure_on(drawn).misses.count

    assert wrong("one-queue") <= 4
    assert wrong("two-queues") >= 16
