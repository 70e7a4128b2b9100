"""Claims about the report's four topologies and its channels, and the two topologies that gave it
no valid results.
"""

from __future__ import annotations

import numpy as np

from ...plan import Bus, Medium, Plan, Wifi
from ...plan import Cell as LteCell
from ...result import Result
from ...statistics import interval
from ..findings import Check, Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import CALLED, CS218, under
from .networks import (
    CSMA,
    LARGE,
    LIGHT,
    LOADED,
    MESH,
    MIXED,
    MOBILE,
    QUIET,
    STATIC,
)
from .paired import Floats, Sweep
from .paper import PAPER
from .reading import exact, goodput, mbps, per_path, rtt_ms

BUS, WHOLE_MIXED, WHOLE_MESH = Sweep(CSMA), Sweep(MIXED), Sweep(MESH)
LEAST = 0.05
"""The part of the packets from which on a route counts as used."""
COUNTERS = (
    "offered_packets",
    "dropped_packets",
    "attempts",
    "unanswered",
    "failed_packets",
    "acknowledged_packets",
)
"""Counters of the stations of a medium."""
WORDS = {"wifi": "on Wi-Fi", "csma": "on the bus"}
WORDS |= {"wifi-1": "node set 1", "wifi-3": "node set 3", "csma-2": "on the bus"}


def connections(result: Result) -> list[str]:
    """Classes with several paths."""
    return [c.name for c in result.plan.classes if len(c.paths) > 1]


def heads(plan: Plan, link: int) -> set[str]:
    """The receiving stations of a link over media."""
    media = plan.media
    return {
        media[way.medium].stations[station].name
        for way in plan.links[link].attachments
        for station in way.to
    }


def roles(plan: Plan) -> dict[str, int]:
    """Number of nodes in each of the report's roles, by the ends of the flows."""
    ends: dict[str, set[str]] = {"MPTCP server": set(), "UDP server": set()}
    clients = {"MPTCP clients": 0, "UDP clients": 0}
    for c in plan.classes:
        kind = "UDP" if c.protocol == "udp" else "MPTCP"
        clients[f"{kind} clients"] += c.count
        for path in c.paths:
            ends[f"{kind} server"] |= heads(plan, path.links[-1])
    return {**{role: len(nodes) for role, nodes in ends.items()}, **clients}


def counted(claim: Claim, plan: Plan, expected: dict[str, int]) -> list[Check]:
    """Nodes of a plan against the ledger, and those of each role against the text."""
    found = roles(plan)
    return [
        measured(claim, "nodes", exact(len(plan.nodes))),
        *(
            within(role, number, exact(found[role]), number, number)
            for role, number in expected.items()
        ),
    ]


def travelled_m(result: Result) -> Floats:
    """Largest distance of each node from its start, in m, shape (seeds, nodes)."""
    places = [np.stack([run.series.nodes.column(k) for k in ("x_m", "y_m")]) for run in result.runs]
    return np.array([np.hypot(*(p - p[:, :1])).max(axis=0) for p in places])


@PAPER.claim("topology.manet", under(MOBILE, CS218), under(STATIC, CS218))
def manet(claim: Claim, lab: Laboratory) -> Finding:
    """Nodes and roles; nodes that move in each variant; whether all nodes are connected."""
    mobile, static = (lab[under(network, CS218)] for network in (MOBILE, STATIC))
    expected = {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 1, "UDP clients": 15}
    far = {name: travelled_m(result) for name, result in ((MOBILE, mobile), (STATIC, static))}
    connected = [min(run.ways.connected) for r in (mobile, static) for run in r.runs]
    checks = [
        *counted(claim, mobile.plan, expected),
        holds("mobile: nodes move", "randomly moving", bool((far[MOBILE].mean(axis=1) > 1).all())),
        holds("static: no node does", "no mobility", bool((far[STATIC] == 0).all())),
        holds("all connected with each other, always", True, min(connected) == 1.0),
    ]
    why = (
        f"In 10 s a moving node is up to {interval(far[MOBILE].mean(axis=1))} m from where it began. The report has neither "
        "mobility model nor speed nor channel rate but 5 Mb/s; the scenario's choices have reasons."
    )
    return finding(claim, "structure", checks, why)


def delivering(lab: Laboratory, sweep: Sweep) -> bool:
    """Whether every connection has delivered data in every run, on any path."""
    results = [lab[configuration] for configuration in sweep.configurations]
    return all((mbps(r, name) > 0).all() for r in results for name in connections(r))


def idle(result: Result) -> Floats:
    """Number of paths without deliveries, one for each seed."""
    unused = [
        (per_path(result, "throughput_bps", name) == 0).sum(axis=(1, 2))
        for name in connections(result)
    ]
    return np.asarray(np.sum(unused, axis=0), dtype=float)


def alive(lab: Laboratory, sweep: Sweep) -> bool:
    """Whether every path of every connection has delivered data in every run."""
    results = [lab[configuration] for configuration in sweep.configurations]
    return all(
        (per_path(r, "throughput_bps", name) > 0).all() for r in results for name in connections(r)
    )


def rates(lab: Laboratory, sweep: Sweep, name: str) -> str:
    """Throughputs of a connection under each algorithm, and differences."""
    values = sweep.values(lab, lambda result: mbps(result, name), " Mb/s")
    return f"{values.listed()}; {values.compared(CS218)}"


@PAPER.claim("topology.csma", *BUS.configurations)
def csma(claim: Claim, lab: Laboratory) -> Finding:
    """Nodes and roles, and runs under all four algorithms."""
    expected = {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 1, "UDP clients": 15}
    checks = [
        *counted(claim, lab[under(CSMA, CS218)].plan, expected),
        holds("runs complete with all four algorithms", True, alive(lab, BUS)),
    ]
    trips = BUS.values(lab, rtt_ms, " ms")
    why = (
        f"Over the bus of 100 Mb/s: {rates(lab, BUS, 'multipath')}. RTT: {trips.listed()}. All eight subflows share one queue "
        "of 100 packets, so that losses decide; the report gives no numbers."
    )
    return finding(claim, lab.world.name, checks, why)


def capacity(result: Result, kind: type[Bus] | type[Wifi]) -> float:
    """Nominal Mb/s of all media of a kind."""
    return sum(m.rate_bps for m in result.plan.media if isinstance(m, kind)) / 1e6


def sane(lab: Laboratory, sweep: Sweep) -> list[Check]:
    """No connection is above its routes, nor all together above what all of them are; each route is
    used.
    """
    checks = []
    for c in sweep.controllers:
        result = lab[under(sweep.network, c)]
        bus, air = capacity(result, Bus), capacity(result, Wifi)
        each = {name: mbps(result, name) for name in connections(result)}
        radio = np.sum([rate for name, rate in each.items() if name.startswith("wifi")], axis=0)
        total = np.sum(list(each.values()), axis=0)
        inside = bool((radio <= air).all() and (total <= bus).all())
        checks.append(
            holds(f"{CALLED[c]}: within what routes carry", f"{air:g} and {bus:g} Mb/s", inside)
        )
    checks.append(holds("every subflow carries data, in every run", True, alive(lab, sweep)))
    return checks


def subflows(lab: Laboratory, sweep: Sweep, name: str) -> str:
    """The least and the most that a subflow of a connection gets under CS218_ALGO."""
    each = per_path(lab[under(sweep.network, CS218)], "throughput_bps", name)[:, 0] / 1e6
    return (
        f"a subflow {WORDS[name]} {interval(each.min(axis=1))} to {interval(each.max(axis=1))} Mb/s"
    )


@PAPER.claim("topology.wifi_csma", *WHOLE_MIXED.configurations)
def wifi_csma(claim: Claim, lab: Laboratory) -> Finding:
    """Nodes and roles, and whether subflows behave."""
    expected = {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 2, "UDP clients": 32}
    result = lab[under(MIXED, CS218)]
    checks = [*counted(claim, result.plan, expected), *sane(lab, WHOLE_MIXED)]
    why = (
        f"Under CS218_ALGO {subflows(lab, WHOLE_MIXED, 'wifi')}, {subflows(lab, WHOLE_MIXED, 'csma')}. One UDP client has an "
        "interface on the bus too and is the gateway."
    )
    return finding(claim, lab.world.name, checks, why)


def parts(result: Result, name: str) -> Floats:
    """The part of its packets that a connection sends on each path, shape (seeds, paths)."""
    packets = per_path(result, "sent_packets", name)[:, 0]
    return np.asarray(packets / packets.sum(axis=1, keepdims=True))


def split(result: Result, name: str) -> str:
    """These parts in words."""
    each = [interval(100 * part) for part in parts(result, name).T]
    return " and ".join(f"{value} %" for value in each)


@PAPER.claim("topology.full_mesh", QUIET)
def full_mesh(claim: Claim, lab: Laboratory) -> Finding:
    """Nodes, routes of a client on Wi-Fi, and the packets that each of them carries without UDP
    clients.
    """
    result = lab[QUIET]
    plan = result.plan
    names = [node.name for node in plan.nodes]
    clients = [name for name in connections(result) if name.startswith("wifi")]
    routes = {
        tuple(" or ".join(sorted(heads(plan, number))) for number in path.links)
        for c in plan.classes
        if c.name == clients[0]
        for path in c.paths
    }
    checks = [
        measured(claim, "nodes", exact(len(names))),
        measured(claim, "physical_routes", exact(len(routes))),
        within("MPTCP clients, one in each group", 3, exact(roles(plan)["MPTCP clients"]), 3, 3),
        holds(
            "server and access points",
            "nodes 21, 0 and 36",
            {"server-21", "ap-0", "ap-36"} <= set(names),
        ),
    ]
    for name in clients:
        for number, part in enumerate(parts(result, name).T):
            where = f"packets of {WORDS[name]} on route {number + 1}"
            checks.append(within(where, "at least 5 %", part, LEAST, None))
    own = "; ".join(f"{WORDS[n]} {interval(mbps(result, n))} Mb/s" for n in connections(result))
    why = (
        f"Routes: {', '.join(' > '.join(route) for route in sorted(routes))}. Without UDP clients: {own}. Both clients on "
        "Wi-Fi share both access points."
    )
    return finding(claim, lab.world.name, checks, why)


def changed(lab: Laboratory, counter: str) -> dict[str, int]:
    """By how much a counter of all stations differs for the load on the first channel, by channel,
    over all seeds.
    """
    found: dict[str, int] = {}
    for light, loaded in zip(lab[LIGHT].runs, lab[LOADED].runs, strict=True):
        media = light.stations.medium
        rows = (np.asarray(run.stations.column(counter), dtype=int) for run in (light, loaded))
        for medium, a, b in zip(media, *rows, strict=True):
            found[medium] = found.get(medium, 0) + abs(int(a) - int(b))
    return found


@PAPER.claim("mech.logical_interfaces", LIGHT, LOADED)
def logical_interfaces(claim: Claim, lab: Laboratory) -> Finding:
    """Interfaces of the client, and counters of stations with ten times the load on the first
    channel.
    """
    media = lab[LIGHT].plan.media
    own = [m.name for m in media if any(s.name == "client" for s in m.stations)]
    moved = {counter: changed(lab, counter) for counter in COUNTERS}
    first, rest = own[0], own[1:]
    touched = all(moved[counter][first] > 0 for counter in COUNTERS)
    untouched = all(moved[counter][medium] == 0 for counter in COUNTERS for medium in rest)
    checks = [
        measured(claim, "interfaces", exact(len(own))),
        holds("loss and contention on channel 1 rise", True, touched),
        holds("no counter of another channel's MAC differs", True, untouched),
    ]
    rows = ", ".join(f"{counter.replace('_', ' ')} {moved[counter][first]}" for counter in COUNTERS)
    why = (
        "With all UDP clients on channel 1 and ten times their load, counters of its stations differ over "
        f"{len(lab[LIGHT].runs)} seeds by {rows}, and those of the other seven by nothing at all. Subflows are "
        "Uncoupled in this: what a coupled algorithm moves from channel to channel is windows, not the MAC's "
        "doing. Losses by noise cannot be set for one channel of several; these are of full queues and of collisions."
    )
    return finding(claim, "structure", checks, why)


@PAPER.claim("wish.fix_mixed", *WHOLE_MIXED.configurations, *WHOLE_MESH.configurations)
def fix_mixed(claim: Claim, lab: Laboratory) -> Finding:
    """The tables that the report could not have."""
    checks = [*sane(lab, WHOLE_MIXED), *sane(lab, WHOLE_MESH)]
    checks = [
        Check(
            f"{network}, {check.name}",
            *(getattr(check, k) for k in ("published", "obtained", "band", "verdict")),
        )
        for network, group in ((MIXED, checks[:5]), (MESH, checks[5:]))
        for check in group
    ]
    rows = [
        f"{sweep.network}, {WORDS[name]}: {rates(lab, sweep, name)}"
        for sweep in (WHOLE_MIXED, WHOLE_MESH)
        for name in connections(lab[sweep.configurations[0]])
    ]
    mesh = lab[under(MESH, CS218)]
    used = "; ".join(f"{WORDS[name]} {split(mesh, name)}" for name in ("wifi-1", "wifi-3"))
    why = f"{'. '.join(rows)}. Packets on each route of the full mesh under CS218_ALGO: {used}."
    return finding(claim, lab.world.name, checks, why)


def technologies(plan: Plan) -> set[str]:
    """Kinds of subnets: a MANET is another one than a network of access points."""
    return {technology(medium) for medium in plan.media}


def technology(medium: Medium) -> str:
    """Name of a medium in evidence."""
    match medium:
        case Wifi(routing="aodv" | "olsr" | "oracle"):
            return "Wi-Fi, ad hoc"
        case Wifi():
            return "Wi-Fi, access points"
        case Bus():
            return "CSMA bus"
        case LteCell():
            return "LTE cell"


@PAPER.claim("wish.large_topologies", *Sweep(LARGE).configurations)
def large(claim: Claim, lab: Laboratory) -> Finding:
    """Size, technologies, and runs under all four algorithms."""
    sweep = Sweep(LARGE)
    plan = lab[under(LARGE, CS218)].plan
    kinds = technologies(plan)
    checks = [
        within("nodes", "at least 200", exact(len(plan.nodes)), 200, None),
        within("subnets", "at least 5", exact(len(plan.media)), 5, None),
        within("technologies", "at least 3", exact(len(kinds)), 3, None),
        holds(
            "10 s complete under all four algorithms",
            claim.expected["output"],
            delivering(lab, sweep),
        ),
    ]
    total = sweep.values(
        lab, lambda r: np.asarray(sum(mbps(r, n) for n in connections(r))), " Mb/s"
    )
    payload = sweep.values(lab, lambda r: np.asarray(sum(goodput(r, n) for n in connections(r))))
    why = (
        f"{', '.join(sorted(kinds))}. Five connections together: {total.listed()}; {total.compared(CS218)}. Goodput: "
        f"{payload.listed()}. Of ten paths {interval(idle(lab[under(LARGE, CS218)]))} bring nothing in 10 s under CS218_ALGO: "
        "a MANET of several hops may have no way to its gateway."
    )
    return finding(claim, lab.world.name, checks, why)
