"""Random networks of which the answer is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.sharing import Ranges, document, draw


@given(st.integers(0, 10_000), st.integers(0, 100))
def test_a_network_is_drawn_alike_again_and_is_a_scenario(number: int, seed: int) -> None:
    network = draw(number, seed)
    assert draw(number, seed) == network
    plan = ab.Scenario.written(document(network, "lia+sbd")).plan()
    assert len(plan.classes[0].paths) == len(network.ways)


@given(st.integers(0, 10_000))
def test_paths_share_a_bottleneck_in_even_networks_alone(number: int) -> None:
    network = draw(number, 1)
    used = [way.bottleneck for way in network.ways]
    assert network.shared == (number % 2 == 0)
    assert len(set(used)) == (1 if network.shared else len(used)) == len(network.bottlenecks)


def test_a_range_that_is_one_value_is_that_value() -> None:
    ranges = Ranges().changed(rate_bps=(5e6, 5e6), paths=(8,), queues=("red",))
    for number in range(20):
        network = draw(number, 3, ranges)
        assert len(network.ways) == 8
        assert {(one.rate_bps, one.queue) for one in network.bottlenecks} == {(5e6, "red")}


def test_an_unknown_range_is_refused() -> None:
    with pytest.raises(TypeError):
        Ranges().changed(rates=1)
