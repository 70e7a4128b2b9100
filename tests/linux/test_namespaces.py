"""Namespaces, devices, addresses and routes: there while they are held, gone afterwards."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from left import eventually
from pyroute2 import MPTCP, IPRoute

from anabranch.linux.namespace import Namespace, read_setting, write_setting
from anabranch.linux.observe import namespaces, status
from anabranch.linux.settings import FIXED
from anabranch.linux.wiring import Network
from anabranch.scenario import Scenario

pytestmark = pytest.mark.usefixtures("kernel")

TWO_PATHS = """
name = "two"
duration = "6 s"
warmup = "3 s"
[[link]]
name = "left"
rate = "4 Mb/s"
delay = "10 ms"
queue = { droptail = { packets = "30 packets" } }
[[link]]
name = "right"
rate = "6 Mb/s"
delay = "20 ms"
queue = { droptail = { packets = "30 packets" } }
[[flow]]
name = "user"
controller = "uncoupled"
[[flow.path]]
links = ["left"]
[[flow.path]]
links = ["right"]
"""


@contextmanager
def witness(namespace: Namespace) -> Iterator[Namespace]:
    """A namespace that shares a pair of devices with another: its end goes when the other goes."""
    seen = Namespace()
    try:
        with seen.inside(), IPRoute() as route:
            fd = namespace._fd
            route.link("add", ifname="here", kind="veth", peer={"ifname": "there", "net_ns_fd": fd})
        yield seen
    finally:
        seen.close()


def vanished(seen: Namespace, within_s: float = 5.0) -> bool:
    """Whether the namespace that `seen` shares devices with is gone; the kernel takes its time."""
    limit = time.monotonic() + within_s
    while time.monotonic() < limit:
        with seen.inside(), IPRoute() as route:
            if not route.link_lookup(ifname="here"):
                return True
        time.sleep(0.02)
    return False


def test_a_namespace_is_entered_and_left_even_by_an_error() -> None:
    home = os.readlink("/proc/thread-self/ns/net")
    namespace = Namespace()
    with pytest.raises(RuntimeError), namespace.inside():
        assert os.readlink("/proc/thread-self/ns/net") == f"net:[{namespace.number}]"
        raise RuntimeError
    assert os.readlink("/proc/thread-self/ns/net") == home
    namespace.close()


def test_a_setting_changes_in_its_namespace_and_not_on_the_host() -> None:
    name = "net.ipv4.tcp_slow_start_after_idle"
    before = read_setting(name)
    namespace = Namespace()
    with namespace.inside():
        write_setting(name, "0" if before == "1" else "1")
        assert read_setting(name) != before
    assert read_setting(name) == before
    namespace.close()


def test_a_network_has_its_addresses_routes_limits_and_settings() -> None:
    plan = Scenario.parse(TWO_PATHS).plan()
    with Network(plan) as network:
        (sender,), (receiver,) = network.senders, network.receivers
        sender.set_endpoint(1, True)
        with sender.namespace.inside(), IPRoute() as route, MPTCP() as paths:
            found = {a.get_attr("IFA_ADDRESS") for a in route.get_addr(family=socket.AF_INET)}
            assert found == {"10.1.0.1", "10.1.1.1"}
            for path, device in enumerate(sender.devices):
                (way,) = route.route("get", dst="10.1.0.2", src=f"10.1.{path}.1")
                assert way.get_attr("RTA_OIF") == device.index
                (link,) = route.get_links(index=device.index)
                assert link.get_attr("IFLA_MTU") == 1500
            assert paths.limits("show")[0].get_attr("MPTCP_PM_ATTR_SUBFLOWS") == 1
            (endpoint,) = paths.endpoint("show")
            (address,) = [endpoint.get_attr("MPTCP_PM_ATTR_ADDR")]
            assert address.get_attr("MPTCP_PM_ADDR_ATTR_ADDR4") == "10.1.1.1"
        with receiver.namespace.inside(), IPRoute() as route:
            for path, device in enumerate(receiver.devices):
                (way,) = route.route("get", dst=f"10.1.{path}.1", src="10.1.0.2")
                assert way.get_attr("RTA_OIF") == device.index
                assert way.get_attr("RTA_METRICS").get_attr("RTAX_QUICKACK") == 1
        assert sender.settings == receiver.settings
        assert sender.settings["net.ipv4.tcp_early_retrans"] == "0"
        assert FIXED.items() <= sender.settings.items()
        assert network.dropped() == 0


def test_nothing_is_left_of_a_network() -> None:
    with (
        Network(Scenario.parse(TWO_PATHS).plan()) as network,
        witness(network.senders[0].namespace) as one,
        witness(network.receivers[0].namespace) as other,
    ):
        network.__exit__()
        assert vanished(one) and vanished(other)


KILLED = """
import sys, threading, time
from anabranch.linux import running
from anabranch.linux.wiring import Network
import anabranch.linux.wiring as wiring
made = wiring.Network.__init__
def told(self, plan):
    made(self, plan)
    print(*(f"{side.namespace.number}:{side.namespace._fd}" for side in self.sides), flush=True)
wiring.Network.__init__ = told
running.run(sys.argv[1], [1], keep_invalid=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_ends_early_leaves_nothing(how: signal.Signals, tmp_path: object) -> None:
    scenario = f"{tmp_path}/two.toml"
    with open(scenario, "w") as file:
        file.write(TWO_PATHS)
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, scenario],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        assert child.stdout is not None
        held = child.stdout.readline().split()
        opened = [os.open(f"/proc/{child.pid}/fd/{h.split(':')[1]}", os.O_RDONLY) for h in held]
        namespaces = [adopted(fd) for fd in opened]
        seen = []
        for namespace in namespaces:
            keeper = witness(namespace)
            seen.append((keeper, keeper.__enter__()))
            namespace.close()
        time.sleep(2.5)  # connections are up and busy by now
        child.send_signal(how)
        child.wait(timeout=10)
    try:
        assert len(seen) == 2
        assert all(vanished(namespace, 10) for _, namespace in seen)
    finally:
        for keeper, _ in seen:
            keeper.__exit__(None, None, None)


def adopted(fd: int) -> Namespace:
    """A namespace that another process made."""
    namespace = Namespace.__new__(Namespace)
    namespace._fd = fd
    return namespace


def test_a_namespace_that_only_an_open_file_holds_is_found_by_its_number() -> None:
    namespace = Namespace()
    try:
        assert namespace.number in [found.number for found in namespaces()]
    finally:
        namespace.close()


def test_connections_of_a_running_scenario_are_observed(controllers: None) -> None:
    program = "from anabranch.linux import run; import sys; run(sys.argv[1], controller='olia')"
    text = TWO_PATHS.replace('"6 s"', '"30 s"')
    code = program.replace(
        "run(sys.argv[1]",
        "from anabranch.scenario import Scenario; run(Scenario.parse(sys.argv[1])",
    )
    running = subprocess.Popen([sys.executable, "-c", code, text])
    try:
        name = f"ab{running.pid}_olia"[:15]

        def seen() -> bool:
            found = [row for row in status().connections if row.controller == name]
            return [len(row.subflows) for row in found] == [2]

        assert eventually(seen, 20)
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(20)
