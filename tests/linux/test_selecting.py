"""The ways to choose a controller: a connection of two paths that got it by any of them is coupled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from churn import SUBFLOW, Stage
from pairs import Pair, feed

from anabranch.linux.controllers import attached
from anabranch.linux.namespace import write_setting
from anabranch.linux.observe import CHOICE
from anabranch.linux.tcp_info import IPPROTO_MPTCP

pytestmark = pytest.mark.usefixtures("kernel", "controllers")


def by_the_default_of_its_namespace(stage: Stage, name: str) -> None:
    with stage.sender.inside():
        write_setting(CHOICE, name)


def by_an_attribute_of_its_routes(stage: Stage, name: str) -> None:
    from pyroute2 import IPRoute

    with stage.sender.inside(), IPRoute() as route:
        for path in range(2):
            (index,) = route.link_lookup(ifname=f"path{path}")
            way = {"dst": "0.0.0.0/0", "oif": index, "table": 100 + path, "scope": 253}
            route.route("replace", **way, metrics={"cc_algo": name})


@contextmanager
def staged() -> Iterator[Stage]:
    """A stage whose connections have two paths."""
    stage = Stage(rate_bps=8e6)
    try:
        stage.set_endpoint(1, SUBFLOW)
        yield stage
    finally:
        stage.close()


@contextmanager
def connection(stage: Stage) -> Iterator[Pair]:
    """One of MPTCP that chooses nothing for itself."""
    pair = Pair(stage, 9000, None, (IPPROTO_MPTCP, IPPROTO_MPTCP))
    try:
        yield pair
    finally:
        pair.close()


@pytest.mark.parametrize("choose", [by_the_default_of_its_namespace, by_an_attribute_of_its_routes])
def test_a_connection_that_is_given_a_controller_is_coupled(
    choose: Callable[[Stage, str], None],
) -> None:
    with staged() as stage, attached(["lia"]) as there:
        choose(stage, there.kernel_name("lia"))
        with connection(stage) as pair:
            feed([pair], 2)
        assert there.counters()["lia"]["coupled"] > 0


def test_a_connection_that_chooses_a_controller_while_it_sends_is_coupled_from_then_on() -> None:
    with staged() as stage, attached(["lia"]) as there, connection(stage) as pair:
        feed([pair], 1)
        assert there.counters()["lia"]["acks"] == 0
        pair.choose(there.kernel_name("lia"))
        feed([pair], 2)
        assert there.counters()["lia"]["coupled"] > 0
