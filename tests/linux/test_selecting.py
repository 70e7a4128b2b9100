"""The ways to choose a controller: a connection of two paths that got it by any of them is coupled."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from churn import SUBFLOW, Stage

from anabranch.linux.controllers import attached
from anabranch.linux.namespace import write_setting
from anabranch.linux.observe import CHOICE
from anabranch.linux.sockets import abort
from anabranch.linux.tcp_info import IPPROTO_MPTCP

pytestmark = pytest.mark.usefixtures("kernel", "controllers")

SERVER = "10.9.0.2", 9000


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
def connection(stage: Stage) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of one of MPTCP that chooses nothing for itself."""
    with stage.receiver.inside():
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    with stage.sender.inside():
        sender = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP)
    ends = [server, sender]
    try:
        server.bind(SERVER)
        server.listen(1)
        sender.bind(("10.9.0.1", 0))
        sender.connect(SERVER)
        ends.append(server.accept()[0])
        for end in ends:
            end.setblocking(False)
        yield sender, ends[-1]
    finally:
        for end in ends:
            abort(end)


def send(sender: socket.socket, receiver: socket.socket, seconds: float) -> None:
    """All that goes through in some time."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        with suppress(BlockingIOError):
            while True:
                sender.send(bytes(1 << 16))
        with suppress(BlockingIOError):
            while receiver.recv(1 << 20):
                pass
        time.sleep(0.005)


@pytest.mark.parametrize("choose", [by_the_default_of_its_namespace, by_an_attribute_of_its_routes])
def test_a_connection_that_is_given_a_controller_is_coupled(
    choose: Callable[[Stage, str], None],
) -> None:
    with staged() as stage, attached(["lia"]) as there:
        choose(stage, there.kernel_name("lia"))
        with connection(stage) as ends:
            send(*ends, 2)
        assert there.counters()["lia"]["coupled"] > 0


def test_a_connection_that_chooses_a_controller_while_it_sends_is_coupled_from_then_on() -> None:
    with staged() as stage, attached(["lia"]) as there, connection(stage) as (sender, receiver):
        send(sender, receiver, 1)
        assert there.counters()["lia"]["acks"] == 0
        name = there.kernel_name("lia").encode()
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        send(sender, receiver, 2)
        assert there.counters()["lia"]["coupled"] > 0
