"""Definitions, topologies and arithmetic claims."""

from __future__ import annotations

import numpy as np

from ...plan import Wifi
from ...scenario import load
from ...statistics import interval
from ..findings import Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import BANDS, COUPLED, DOWN, RENO, UP, alone, two
from .paper import PAPER
from .reading import exact, listed, mbps, most, multipath, rtt_ms, share

IDLE_S, MBPS = 0.01, 10.0
"""The chapter's idle round trip and throughput of a flow."""


def bdp_kb(rtt_s: float, rate_mbps: float) -> float:
    """A bandwidth-delay product in kB."""
    return rtt_s * rate_mbps * 1e6 / 8 / 1e3


@PAPER.claim("def.do_no_harm", two(DOWN, COUPLED), two(DOWN, RENO))
def do_no_harm(claim: Claim, lab: Laboratory) -> Finding:
    """A third and a half of the capacity: the shares of Coupled and New Reno when the network gives
    feedback.
    """
    fair, unfair = (share(lab, two(DOWN, c)) for c in (COUPLED, RENO))
    gap = claim.expected["unfair_share"]["min"] - claim.expected["fair_share"]["max"]
    pairs = np.asarray(unfair - fair > gap)
    checks = [
        measured(claim, "fair_share", fair),
        measured(claim, "unfair_share", unfair),
        most("New Reno's share above Coupled's by the gap of the bands", "no flips", pairs, 1.0),
    ]
    why = (
        f"Three users and two networks: a third each is {1 / 3:.3f}; two subflows that count as a user each have 2/4. "
        f"On the downlink Coupled takes {interval(fair)}, New Reno {interval(unfair)} of all traffic."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("def.coupled", alone(COUPLED), alone(RENO), two(DOWN, COUPLED))
def coupled(claim: Claim, lab: Laboratory) -> Finding:
    """With one subflow the windows equal New Reno's at every sample, and so does every event of the
    run.
    """
    one, reno = lab[alone(COUPLED)], lab[alone(RENO)]
    windows = [
        [np.asarray(run.series.paths.cwnd_segments) for run in result.runs]
        for result in (one, reno)
    ]
    same = all(np.array_equal(a, b) for a, b in zip(*windows, strict=True))
    digests = [[run.digest for run in result.runs] for result in (one, reno)]
    configuration = two(DOWN, COUPLED)
    best = np.maximum(mbps(lab, configuration, 2), mbps(lab, configuration, 3))
    bound = multipath(lab, configuration) / best
    checks = [
        holds("single_flow", claim.expected["single_flow"], same and digests[0] == digests[1]),
        within("sum over the best parallel flow", claim.expected["aggregate_bound"], bound, 0, 1.0),
    ]
    why = (
        f"{len(digests[0])} pairs of runs of {one.plan.duration_s:g} s with the same seed, one path and either "
        f"controller for all flows have the same windows and the same digest of all events. With two paths the "
        f"sum is {interval(bound)} of the best single flow on the downlink."
    )
    return finding(claim, lab.world.name, checks, why)


GHZ = {"a": "5", "b": "2.4", "g": "2.4"}
"""Bands in GHz of the amendments of 802.11 that the document's networks use."""


def bands_of(name: str) -> list[str]:
    """The bands in GHz of the networks that a configuration plans."""
    cell = PAPER.configurations[name]
    plan = load(cell.scenario).plan(controller=cell.controller, overrides=list(cell.overrides))
    return sorted({GHZ[m.standard] for m in plan.media if isinstance(m, Wifi)})


@PAPER.claim("topology.two_networks", *(two(d, COUPLED) for d in (DOWN, UP)))
def two_networks(claim: Claim, lab: Laboratory) -> Finding:
    """Two access points, four flows, both directions, every pair of bands."""
    plans = {d: lab[two(d, COUPLED)].plan for d in (DOWN, UP)}
    points = [
        {s.name for m in plan.media for s in m.stations if s.name.startswith("ap-")}
        for plan in plans.values()
    ]
    paths = [(c.name, len(c.paths)) for plan in plans.values() for c in plan.classes]
    expected = [("multipath", 2), ("parallel-1", 1), ("parallel-2", 1)]
    first = {d: plan.links[plan.classes[0].paths[0].links[0]] for d, plan in plans.items()}
    checks = [
        measured(claim, "access_points", [float(len(names)) for names in points]),
        holds("flows", claim.expected["flows"], paths == 2 * expected),
        holds(
            "directions",
            "down and up",
            first[UP].name == "up-1" and first[DOWN].name == "wire-back-1",
        ),
        holds(
            "bands",
            "same band and 2.4+5 GHz",
            all(
                bands_of(two(d, COUPLED, bands)) == wanted
                for d in (DOWN, UP)
                for bands, wanted in zip(BANDS, (["5"], ["2.4"], ["2.4", "5"]), strict=True)
            ),
        ),
    ]
    stations = [f"{m.name}: {', '.join(s.name for s in m.stations)}" for m in plans[UP].media]
    return finding(claim, "structure", checks, f"Stations of the media: {'; '.join(stations)}.")


@PAPER.claim("topology.deep_bottleneck", "deep")
def deep_bottleneck(claim: Claim, lab: Laboratory) -> Finding:
    """A slow line behind each access point that is full, and air that is not."""
    plan = lab["deep"].plan
    lines = [link for link in plan.links if link.name in ("wire-1", "wire-2")]
    rates = {(line.rate_bps, line.queue and line.queue.limit_packets) for line in lines}
    air = np.array(
        [lab["deep"].station(m.name, s.name, "airtime") for m in plan.media for s in m.stations]
    )
    busy = lab["deep"].link("wire-1", "utilisation")
    networks = air.reshape(2, -1, air.shape[1]).sum(axis=1).max(axis=0)
    checks = [
        holds("lines", "1 Mb/s, 20 packets", rates == {(1e6, 20)}),
        holds("air", "54 Mb/s", {m.rate_bps for m in plan.media if isinstance(m, Wifi)} == {54e6}),
        within("utilisation of a line", claim.expected["bottleneck"], busy, 0.95, 1.0),
        within(
            "part of the time in which data is on the air", "not the bottleneck", networks, 0, 0.1
        ),
    ]
    why = f"The line is used to {interval(busy)}; data is on the air for {interval(networks)} of the time."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("up.bdp", two(UP, COUPLED), "idle")
def bdp(claim: Claim, lab: Laboratory) -> Finding:
    """Doubled idle RTT times throughput, by definition and for the simulated network."""
    idle = rtt_ms(lab, "idle", "probe")
    rates = {f"flow {i + 1}": mbps(lab, two(UP, COUPLED), i) for i in range(4)}
    own = np.mean([2e-3 * idle * rate * 1e3 / 8 for rate in rates.values()], axis=0)
    checks = [
        measured(claim, "bdp", exact(bdp_kb(2 * IDLE_S, MBPS))),
        within("twice the simulated idle round trip (ms)", "20", 2 * idle, 19.0, 21.0),
    ]
    why = (
        "The product is a definition: the chapter's 20 ms times its 10 Mb/s, with which the program only has to agree on "
        "units. What is simulated is the round trip. "
        f"Simulated: an idle round trip of {interval(idle)} ms, {listed(rates)} Mb/s, and so {interval(own)} kB in the mean."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("rtt100.setup", "idle", "idle-100")
def added_setup(claim: Claim, lab: Laboratory) -> Finding:
    """RTT of a small packet on idle networks, with and without 100 ms added at the server."""
    idle, added = (rtt_ms(lab, configuration, "probe") for configuration in ("idle", "idle-100"))
    checks = [
        measured(claim, "idle_rtt", added),
        within("added round-trip time (ms)", 100, added - idle, 99.0, 101.0),
    ]
    why = f"{interval(idle)} ms without, {interval(added)} ms with the delay, which is on the wire from the server."
    return finding(claim, lab.world.name, checks, why)
