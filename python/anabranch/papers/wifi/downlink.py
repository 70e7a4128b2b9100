"""Claims about the downlink, where the access point's queue drops."""

from __future__ import annotations

import numpy as np

from ...statistics import interval, ratio_of_means
from ..findings import Finding, finding, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import COUPLED, DOWN, RENO, UP, two
from .logs import send_queues
from .paper import PAPER
from .reading import (
    MULTIPATH,
    Floats,
    each_flow,
    interfaces,
    listed,
    loss_places,
    mbps,
    most,
    multipath,
    parallel,
    samples_mbps,
    share,
    total,
)


@PAPER.claim("base.newreno", two(DOWN, RENO), two(UP, RENO))
def new_reno(claim: Claim, lab: Laboratory) -> Finding:
    """Half of all traffic in either direction."""
    low, high = claim.band("share")
    shares = {d: share(lab, two(d, RENO)) for d in (DOWN, UP)}
    checks = [within(f"share, {d}link", 0.5, values, low, high) for d, values in shares.items()]
    rates = {f"{d}link": total(lab, two(d, RENO)) for d in (DOWN, UP)}
    why = f"All four flows together: {listed(rates, ' Mb/s')}."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("down.share", two(DOWN, COUPLED), two(DOWN, RENO))
def down_share(claim: Claim, lab: Laboratory) -> Finding:
    """A third, and as much as a parallel flow."""
    configuration = two(DOWN, COUPLED)
    checks = [
        measured(claim, "share", share(lab, configuration)),
        measured(
            claim,
            "sum_over_parallel",
            ratio_of_means(multipath(lab, configuration), parallel(lab, configuration)),
        ),
    ]
    reno = two(DOWN, RENO)
    why = (
        f"Mb/s: {each_flow(lambda i: mbps(lab, configuration, i))}; in all {interval(total(lab, configuration))}. New Reno "
        "on each "
        f"subflow: share {interval(share(lab, reno))}, sum over parallel "
        f"{interval(multipath(lab, reno) / parallel(lab, reno))}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("down.one_subflow_limited", "slow-lia", "slow-reno", two(DOWN, COUPLED))
def one_limited(claim: Claim, lab: Laboratory) -> Finding:
    """If one network is slower, most traffic is in the other one."""
    configuration = "slow-lia"
    part = mbps(lab, configuration, 1) / multipath(lab, configuration)
    larger = np.maximum(part, 1 - part)
    smaller = mbps(lab, configuration, 0) / mbps(lab, configuration, 2)
    checks = [
        measured(claim, "larger_subflow_fraction", larger),
        most("larger subflow has 60 % of the traffic", "in 70 % of seeds", larger >= 0.6, 0.7),
        measured(claim, "smaller_subflow_over_its_parallel", smaller),
    ]
    even = mbps(lab, two(DOWN, COUPLED), 1) / multipath(lab, two(DOWN, COUPLED))
    reno = "slow-reno"
    capacity = (mbps(lab, reno, 0) + mbps(lab, reno, 2)) / (mbps(lab, reno, 1) + mbps(lab, reno, 3))
    why = (
        f"The first network has {interval(capacity)} of the second one's goodput. Mb/s: "
        f"{each_flow(lambda i: mbps(lab, configuration, i))}. New Reno: larger subflow "
        f"{interval(mbps(lab, reno, 1) / multipath(lab, reno))}, smaller over its parallel flow "
        f"{interval(mbps(lab, reno, 0) / mbps(lab, reno, 2))}. In networks that are alike the larger one carries "
        f"{interval(np.maximum(even, 1 - even))}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("down.mechanism", two(DOWN, COUPLED))
def down_mechanism(claim: Claim, lab: Laboratory) -> Finding:
    """Places where the multipath client's packets are lost."""
    configuration = two(DOWN, COUPLED)
    queue, air, wire = loss_places(lab, configuration, DOWN)
    checks = [measured(claim, "ap_drop_fraction", queue / (queue + air + wire))]
    sent = sum(lab[configuration].path(MULTIPATH, p, "sent_packets")[:, 0] for p in (0, 1))
    why = (
        f"Lost at the access points' queues {interval(queue)}, on the air {interval(air)}, on wires {interval(wire)} of "
        f"{interval(sent)} packets. Residual loss is on uplinks only; the air takes what collides seven times."
    )
    return finding(claim, lab.world.name, checks, why)


DISTURBED_S = ((30.0, 50.0), (80.0, 100.0))
"""When others use the 5 GHz network."""
BIN_S = 5.0


def by_time(lab: Laboratory, configuration: str, path: int) -> tuple[Floats, Floats]:
    """A subflow's Mb/s while others use the 5 GHz network, and otherwise."""
    result = lab[configuration]
    rates = np.array(samples_mbps(result, MULTIPATH, path))
    start = result.plan.warmup_s + np.arange(rates.shape[1])
    disturbed = np.zeros(rates.shape[1], dtype=bool)
    for begin, end in DISTURBED_S:
        disturbed |= (start >= begin) & (start < end)
    return rates[:, disturbed].mean(axis=1), rates[:, ~disturbed].mean(axis=1)


def correlation(lab: Laboratory, configuration: str) -> Floats:
    """Correlation of both subflows' rates, in intervals of 5 s."""
    first, second = (samples_mbps(lab[configuration], MULTIPATH, p, BIN_S) for p in (0, 1))
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(first, second, strict=True)])


@PAPER.claim(
    "down.cross_band",
    "cross-band",
    "cross-band-reno",
    "cross-band-no-parallel",
    "cross-band-empty",
)
def cross_band(claim: Claim, lab: Laboratory) -> Finding:
    """Rate of the 2.4 GHz subflow while other hosts use the 5 GHz network."""
    configuration = "cross-band"
    during, otherwise = by_time(lab, configuration, 0)
    far_during, far = by_time(lab, configuration, 1)
    checks = [
        measured(claim, "ratio_during_over_otherwise", ratio_of_means(during, otherwise)),
        measured(claim, "fraction_2_4_undisturbed", otherwise / (otherwise + far)),
        within(
            "correlation of the subflows' rates (5 s)",
            "clearly negative",
            correlation(lab, configuration),
            -1.0,
            -0.3,
        ),
    ]
    alone_during, alone = by_time(lab, "cross-band-no-parallel", 0)
    reno_during, reno = by_time(lab, "cross-band-reno", 0)
    empty = "cross-band-empty"
    losses = [lab[configuration].path(MULTIPATH, p, "loss")[:, 0] for p in (0, 1)]
    why = (
        f"Mb/s of the subflows, 2.4 and 5 GHz: undisturbed {interval(otherwise)} and {interval(far)}, disturbed "
        f"{interval(during)} and {interval(far_during)}; parallel flows {interval(mbps(lab, configuration, 2))} and "
        f"{interval(mbps(lab, configuration, 3))} over all. Without the parallel flows the 2.4 GHz subflow has "
        f"{interval(alone)} "
        f"undisturbed and {interval(alone_during)} disturbed, {ratio_of_means(alone_during, alone)} times as much; with "
        f"New Reno {interval(reno)} and {interval(reno_during)}. Goodput of an empty network: "
        f"{interval(mbps(lab, empty, 0))} and {interval(mbps(lab, empty, 1))} Mb/s."
    )
    unless = (
        "Linked increases balance loss rates, not throughput: over all, 2.4 GHz loses "
        f"{interval(100 * losses[0])} % and 5 GHz {interval(100 * losses[1])} % of the subflow's packets, for 50 packets are "
        "60 ms of delay at 10 Mb/s, where windows are large and losses few, and aggregates fill and empty the fast network's "
        "queue in bursts. So the 2.4 GHz subflow is never small, its parallel flow leaves it no more than half, and it has "
        "little to gain when the other one fails."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)


@PAPER.claim("down.send_queue_equals_cwnd", two(DOWN, COUPLED))
def send_queue(claim: Claim, lab: Laboratory) -> Finding:
    """Unacknowledged data and window of both subflows, in logs of 15 s."""
    queues = [send_queues(seed) for seed in lab[two(DOWN, COUPLED)].seeds]
    worst = np.array([max(queue.difference for queue in pair) for pair in queues])
    checks = [measured(claim, "relative_difference", worst)]
    both = {f"subflow {p + 1}": np.array([pair[p].difference for pair in queues]) for p in (0, 1)}
    waiting = interfaces(lab, two(DOWN, COUPLED), "queue_packets")[:, :2].mean(axis=1)
    why = (
        f"Median |unacknowledged data - window| / window: {listed(both)}; the larger one is judged. The client's own "
        f"interfaces hold {interval(waiting)} packets meanwhile, which are ACKs: the chapter's send queue is not a queue."
    )
    return finding(claim, lab.world.name, checks, why)
