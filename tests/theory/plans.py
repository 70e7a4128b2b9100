"""Small plans, made from a shipped one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anabranch.plan import Class, Plan
from anabranch.planned_network import Link, Red
from anabranch.scenario import load

SHIPPED = load("khalili/scenario-c").plan()


def red(rate_bps: float, **changes: Any) -> Red:
    """The draft's RED queue, scaled with capacity (per 10 Mb/s: 25, 50, 100, limit 200)."""
    scale = rate_bps / 10e6
    queue = Red(
        min_packets=25.0 * scale,
        max_packets=50.0 * scale,
        max_p=0.1,
        gentle=True,
        weight=1.0 / 16.0,
        spacing="independent",
        ecn=False,
        limit_packets=int(200 * scale),
    )
    return replace(queue, **changes)


def link(name: str, rate_mbps: float | None, **changes: Any) -> Link:
    """A link with the draft's queue; `None` is a pure delay."""
    rate_bps = None if rate_mbps is None else rate_mbps * 1e6
    queue = None if rate_bps is None else red(rate_bps)
    base = {"name": name, "rate_bps": rate_bps, "delay_s": 0.0, "queue": queue}
    return replace(SHIPPED.links[0], **(base | {"loss": 0.0, "per_user": False} | changes))


def users(
    name: str,
    count: int,
    controller: str,
    paths: list[list[int]],
    rtts_s: list[float] | None = None,
) -> Class:
    """A class over `paths` (lists of link indices), 110 ms base RTT unless given."""
    rtts_s = rtts_s or [0.110] * len(paths)
    path, known = SHIPPED.classes[0].paths[0], replace(SHIPPED.classes[0], packet_bytes=1500)
    over = [
        replace(path, links=links, back=[], base_rtt_s=rtt)
        for links, rtt in zip(paths, rtts_s, strict=True)
    ]
    return replace(known, name=name, count=count, controller=controller, paths=over)


def plan(name: str, links: list[Link], classes: list[Class]) -> Plan:
    """A whole plan."""
    return replace(SHIPPED, name=name, links=links, classes=classes)


def scenario_a(
    n1: int, n2: int = 10, controller: str = "lia", c1: float = 1.0, c2: float = 1.0
) -> Plan:
    """Private path plus shared access point, both through the server's link."""
    links = [link("server", n1 * c1), link("ap", n2 * c2)]
    type1 = users("type1", n1, controller, [[0], [1, 0]])
    return plan("a", links, [type1, users("type2", n2, "reno", [[1]])])


def scenario_b(
    red_multipath: bool, controller: str = "lia", cx: float = 27.0, ct: float = 36.0
) -> Plan:
    """Four ISPs: X, Y, Z, T; 15 Blue and 15 Red users."""
    links = [link("X", cx), link("Y", 100.0), link("Z", 100.0), link("T", ct)]
    blue = users("blue", 15, controller, [[0, 2], [1, 3, 2]])
    if red_multipath:
        reds = users("red", 15, controller, [[1, 3], [0, 3]])
    else:
        reds = users("red", 15, "reno", [[1, 3]])
    return plan("b", links, [blue, reds])


def scenario_c(
    n1: int, n2: int = 10, controller: str = "lia", c1: float = 1.0, c2: float = 1.0
) -> Plan:
    """Multipath users with their own access point, and a share of the other users' one."""
    links = [link("ap1", n1 * c1), link("ap2", n2 * c2)]
    multi = users("multi", n1, controller, [[0], [1]])
    return plan("c", links, [multi, users("single", n2, "reno", [[1]])])
