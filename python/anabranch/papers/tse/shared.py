"""Figures 3-1, 3-2 and 4-2, and claims of Chapters 2 and 3 on one shared bottleneck."""

from __future__ import annotations

import numpy as np

from ...statistics import interval, paired
from ..findings import Check, Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import reasons
from .configurations import BILEVEL, CAPACITIES, CONTESTED, FRACTION, MOST, PATHS, TCP
from .paper import BASE, HACKER, NAIVE, PAPER, independent_name, shared_name
from .reading import (
    Floats,
    Points,
    everywhere,
    exact,
    links_of,
    listed,
    on_path,
    paths,
    rank,
    share,
    taken,
)

UNIT_MBPS = 2.5
"""A fair share of a link of 5 Mb/s with one competing TCP."""


def curve(
    lab: Laboratory, controller: str, queue: str = "red", mbps: float = 5.0
) -> dict[int, Floats]:
    """The ensemble's share of all traffic over the number of paths."""
    return {n: share(lab, shared_name(controller, n, queue, mbps)) for n in PATHS}


def _every_curve(lab: Laboratory, controller: str, queue: str) -> dict[tuple[float, int], Floats]:
    """Shares over capacity and number of paths."""
    return {
        (mbps, n): values
        for mbps in CAPACITIES
        for n, values in curve(lab, controller, queue, mbps).items()
    }


def _where(mbps: float, n: int) -> str:
    return f"{mbps:g} Mb/s, {paths(n)}"


def _figure3_configurations(queue: str) -> tuple[str, ...]:
    names = (
        shared_name(controller, n, queue, mbps)
        for mbps in CAPACITIES
        for controller in (BASE, NAIVE)
        for n in PATHS
    )
    return tuple(dict.fromkeys(names))


def _borrowing(claim: Claim, lab: Laboratory, queue: str) -> tuple[Check, str]:
    """The share with borrowing at each capacity and number of paths."""
    low, high = claim.band("share_with_borrowing")
    points = {_where(*at): values for at, values in _every_curve(lab, BASE, queue).items()}
    check = everywhere("share_with_borrowing", 0.5, points, low, high)
    outside = [
        f"{where}: {interval(values)}"
        for where, values in points.items()
        if not low <= values.mean() <= high
    ]
    ends = f"Means lie between {_least(points):.3f} and {_most(points):.3f}"
    return check, f"{ends}{'; outside the band: ' + ', '.join(outside) if outside else ''}."


def _least(points: Points) -> float:
    return min(float(values.mean()) for values in points.values())


def _most(points: Points) -> float:
    return max(float(values.mean()) for values in points.values())


@PAPER.claim("fig3-1", *_figure3_configurations("drop-tail"))
def figure3_1(claim: Claim, lab: Laboratory) -> Finding:
    """Drop-tail: naive and borrowing over capacity and paths."""
    check, why = _borrowing(claim, lab, "drop-tail")
    naive = _every_curve(lab, NAIVE, "drop-tail")
    low, high = min(CAPACITIES), max(CAPACITIES)
    most = [naive[mbps, MOST] for mbps in CAPACITIES]
    checks = [
        check,
        measured(claim, "share_naive_n16_lowest_capacity", naive[low, MOST]),
        within(
            "naive at the lowest less at the highest capacity, 16 paths",
            "worse at lower bandwidth",
            paired(naive[low, MOST], naive[high, MOST]),
            0.05,
            None,
        ),
        within(
            "naive share over the number of paths at the lowest capacity, Spearman",
            "non-decreasing",
            rank(PATHS, [naive[low, n] for n in PATHS]),
            0.8,
            None,
        ),
        within(
            "naive share over capacity at 16 paths, Spearman",
            "decreasing",
            rank(CAPACITIES, most),
            None,
            -0.8,
        ),
    ]
    rows = {f"{mbps:g} Mb/s": values for mbps, values in zip(CAPACITIES, most, strict=True)}
    why = f"Borrowing: {why} Naive with 16 paths: {listed(rows)}."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("fig3-2", *_figure3_configurations("red"))
def figure3_2(claim: Claim, lab: Laboratory) -> Finding:
    """RED: naive and borrowing over capacity and paths."""
    check, why = _borrowing(claim, lab, "red")
    naive = _every_curve(lab, NAIVE, "red")
    most = {f"{mbps:g} Mb/s": naive[mbps, MOST] for mbps in CAPACITIES}
    low, high = claim.band("share_naive_n16_every_capacity")
    ranks = [
        (rank(PATHS, [naive[mbps, n] for n in PATHS]).mean, f"{mbps:g} Mb/s") for mbps in CAPACITIES
    ]
    least, where = min(ranks)
    checks = [
        check,
        everywhere("share_naive_n16_every_capacity", "above 0.5", most, low, high),
        within(
            f"naive share over the number of paths, least Spearman ({where})",
            "non-decreasing at every capacity",
            exact(least),
            0.8,
            None,
        ),
    ]
    why = f"Borrowing: {why} Naive with 16 paths: {listed(most)}."
    return finding(claim, lab.world.name, checks, why, unless=reasons.borrowing(lab))


@PAPER.claim(
    "mech.probe_traffic",
    *(shared_name(NAIVE, n, "drop-tail", mbps) for mbps in (1.0, 5.0) for n in PATHS[1:]),
)
def probe_traffic(claim: Claim, lab: Laboratory) -> Finding:
    """Packets of backed-off flows in a round trip, one for each."""
    found = {
        (mbps, n): _probes(lab, shared_name(NAIVE, n, "drop-tail", mbps), n)
        for mbps in (1.0, 5.0)
        for n in PATHS[1:]
    }
    windows = [
        float(on_path(lab, shared_name(NAIVE, n, "drop-tail"), p, "cwnd_segments").mean())
        for n in PATHS[1:]
        for p in range(1, n)
    ]
    points = {f"{n - 1} background flows": found[5.0, n] / (n - 1) for n in PATHS[1:]}
    scarce = {f"{n - 1}": found[1.0, n] / (n - 1) for n in PATHS[1:]}
    checks = [
        everywhere(
            "packets in a round trip for each background flow",
            claim.expected["probes_per_rtt"],
            points,
            0.85,
            1.15,
        ),
        within("their mean windows, largest", "backed off", exact(max(windows)), None, 1.05),
    ]
    why = (
        f"At 5 Mb/s with drop-tail, a round trip being the base flow's on the same link: {listed(points)}. At 1 Mb/s, where "
        f"a bandwidth-delay product is 4 packets, many of them are lost and wait for timeouts: {listed(scarce)}."
    )
    return finding(claim, lab.world.name, checks, why)


def _probes(lab: Laboratory, configuration: str, n: int) -> Floats:
    """Packets of all background flows in a round trip of the base flow."""
    plan = lab[configuration].plan
    sent = np.sum([on_path(lab, configuration, p, "sent_packets") for p in range(1, n)], axis=0)
    rtt = on_path(lab, configuration, 0, "srtt_s")
    return np.asarray(sent * rtt / (plan.duration_s - plan.warmup_s))


@PAPER.claim("mech.multiple_tcps_unfair", *(shared_name(TCP, n) for n in PATHS[1:]))
def multiple_tcps(claim: Claim, lab: Laboratory) -> Finding:
    """N TCPs against one."""
    points = {n: share(lab, shared_name(TCP, n)) for n in PATHS[1:]}
    checks = [measured(claim, f"share_n{n}", points[n]) for n in (4, 16)]
    off = {f"{n} TCPs": values - n / (n + 1) for n, values in points.items()}
    checks.append(everywhere("share less N/(N+1)", "0", off, -0.06, 0.06))
    return finding(claim, lab.world.name, checks, f"Less N/(N+1): {listed(off)}.")


@PAPER.claim(
    "mech.mtcp_lenient_only",
    shared_name(TCP, 1),
    *(independent_name(TCP, MOST, k) for k in CONTESTED),
    "shared-red-5-without",
    "shared-red-5-alone",
)
def mtcp(claim: Claim, lab: Laboratory) -> Finding:
    """With perfect detection mTCP is one TCP on a shared link, and one on each of sixteen
    others.
    """
    from .matching import against_links

    configuration = independent_name(TCP, MOST, MOST)
    found = against_links(lab, configuration, contested=MOST)
    nominal, real = (
        taken(lab, configuration) / UNIT_MBPS,
        taken(lab, configuration) / taken(lab, shared_name(TCP, 1)),
    )
    checks = [
        measured(claim, "shared_link_share", share(lab, shared_name(TCP, 1))),
        measured(claim, "all_16_contested_total", nominal),
        within(
            "lenient: largest excess of a link",
            "met",
            exact(max(link.excess for link in found.links)),
            None,
            found.margin,
        ),
        within("over the stringent bound", "not met", exact(found.excess), found.margin, None),
    ]
    why = (
        "The oracle is a plain TCP on one path of the shared link, and one on each of the sixteen. A unit is half of a link, "
        f"2.5 Mb/s; two TCPs use {2 * share_of_link(lab):.2f} of this RED link. In units of what a TCP gets beside a TCP there "
        f"the total is {interval(real)}, which is one experiment over itself and not judged. The real detector is `mtcp`, in "
        "the figure."
    )
    return finding(claim, lab.world.name, checks, why)


def share_of_link(lab: Laboratory) -> float:
    """Half of the rate of two TCPs on a link of 5 Mb/s."""
    return float(lab[shared_name(TCP, 1)].link("bottleneck", "utilisation").mean()) / 2


@PAPER.claim("alg.fractional_tfrc", *(shared_name(FRACTION, n) for n in PATHS))
def fractional(claim: Claim, lab: Laboratory) -> Finding:
    """1/N of TFRC on each path, together about one TCP."""
    from ... import theory

    every = {f"N = {n}": share(lab, shared_name(FRACTION, n)) for n in PATHS}
    points = {where: every[where] for where in ("N = 1", "N = 4", "N = 16")}
    low, high = claim.band("shared_link_share")
    golden = {1e-4: 1_835_465.0, 0.01: 168_498.0, 0.1: 26_552.0}
    formula = max(abs(theory.tfrc_rate_bps(p, 0.1) / 8 / b - 1) for p, b in golden.items())
    configuration = shared_name(FRACTION, 16)
    rates = np.array([on_path(lab, configuration, p) for p in range(16)]) / 1e6
    spread = rates.std(axis=0) / rates.mean(axis=0)
    checks = [
        within(
            "response function over golden values, less 1",
            "s/(R sqrt(2p/3) + t_RTO 3 sqrt(3p/8) p (1+32p²))",
            exact(formula),
            None,
            1e-4,
        ),
        everywhere("shared_link_share", 0.5, points, low, high),
    ]
    why = (
        f"{listed(every)}. Each of 16 paths has {interval(rates.mean(axis=0))} Mb/s, with a relative spread of "
        f"{spread.mean():.2f} among paths."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "mech.red_vs_droptail",
    *(
        shared_name(c, n, queue)
        for c in (BASE, BILEVEL)
        for n in PATHS
        for queue in ("red", "drop-tail")
    ),
)
def red_and_drop_tail(claim: Claim, lab: Laboratory) -> Finding:
    """Shares over RED less those over drop-tail."""
    low, high = claim.band("share_difference")
    checks = []
    rows = []
    for controller in (BASE, BILEVEL):
        points = {
            paths(n): share(lab, shared_name(controller, n))
            - share(lab, shared_name(controller, n, "drop-tail"))
            for n in PATHS
        }
        checks.append(everywhere(f"{controller}: share_difference", 0.0, points, low, high))
        rows.append(f"{controller}: {listed(points)}")
    return finding(
        claim,
        lab.world.name,
        checks,
        f"RED less drop-tail, {'; '.join(rows)}.",
        unless=reasons.queues(lab),
    )


def _points(points: dict[int, Floats]) -> Points:
    return {paths(n): values for n, values in points.items()}


@PAPER.claim("fig4-2.multi_priority", *(shared_name(BASE, n) for n in PATHS))
@PAPER.claim("fig4-2.bilevel", *(shared_name(BILEVEL, n) for n in PATHS))
def figure4_2(claim: Claim, lab: Laboratory) -> Finding:
    """Half of the link, for any number of paths."""
    controller = BASE if claim.id.endswith("multi_priority") else BILEVEL
    points = _points(curve(lab, controller))
    low, high = claim.band("share")
    why = f"{listed(points)}."
    unless = reasons.borrowing(lab) if controller == BASE else ""
    return finding(
        claim, lab.world.name, [everywhere("share", 0.5, points, low, high)], why, unless=unless
    )


@PAPER.claim(
    "fig4-2.hacker",
    *dict.fromkeys(shared_name(c, n) for c in (HACKER, BASE, BILEVEL) for n in PATHS),
)
def figure4_2_hacker(claim: Claim, lab: Laboratory) -> Finding:
    """More with every path."""
    points = curve(lab, HACKER)
    above = [
        (points[n] - share(lab, shared_name(other, n)), 0.0, None)
        for n in PATHS
        if n >= 4
        for other in (BASE, BILEVEL)
    ]
    checks = [
        measured(claim, "share_n16", points[16]),
        within(
            "share at 16 less at 2 paths", "increasing", paired(points[16], points[2]), 0.05, None
        ),
        within(
            "share over paths, Spearman",
            "increasing",
            rank(PATHS, list(points.values())),
            0.8,
            None,
        ),
        hold_together("ordering", claim.expected["ordering"], above),
    ]
    law = ", ".join(f"{n}: {_square_root(n):.3f}" for n in PATHS)
    why = f"{listed(_points(points))}. The square-root law gives {law}."
    return finding(claim, lab.world.name, checks, why)


def _square_root(n: int) -> float:
    """A TCP and N - 1 flows of weight 1/sqrt(N), against one TCP."""
    weight = 1 + (n - 1) / np.sqrt(n)
    return float(weight / (weight + 1))


@PAPER.claim("topology.shared", shared_name(BASE, MOST))
def topology_shared(claim: Claim, lab: Laboratory) -> Finding:
    """Sixteen paths of the ensemble and one TCP over one link, the only one with a rate."""
    plan = lab[shared_name(BASE, MOST)].plan
    links = links_of(lab, shared_name(BASE, MOST))
    tcp = next(c for c in plan.classes if c.name != "ensemble")
    same = [plan.links[i].name for i in tcp.paths[0].links]
    used = lab[shared_name(BASE, MOST)].link("bottleneck", "utilisation")
    checks = [
        measured(claim, "bottlenecks", np.full(2, float(len(set(links)))))
        if isinstance(claim.expected["bottlenecks"], dict)
        else holds(
            "bottlenecks",
            claim.expected["bottlenecks"],
            len(set(links)) == claim.expected["bottlenecks"],
        ),
        holds("paths", 16, len(links) == MOST),
        holds("the TCP crosses it too", "one TCP", same == [links[0]] and tcp.count == 1),
    ]
    return finding(claim, "structure", checks, f"The link is used to {interval(used)} in the run.")
