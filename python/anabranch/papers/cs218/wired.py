"""Claims that a wire decides: fairness on a shared bottleneck, an empty fast path, losses by
chance.
"""

from __future__ import annotations

import numpy as np

from ...result import Result
from ...statistics import Interval, interval, ratio_of_means
from ..findings import Finding, finding, hold_together, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import configurations
from .configurations import (
    CALLED,
    CAPPED,
    CS218,
    FAIRNESS,
    FIVE,
    LIA,
    LOSS,
    QUEUES,
    RAMP,
    RENO,
    WORDS,
    under,
)
from .paired import Floats, Sweep
from .paper import BESIDE, PAPER
from .reading import MULTIPATH, TCP, fill_s, losses_per_10000, mbps, over_tcp

SHARED = {network: Sweep(network, FIVE) for network in QUEUES}


def ratio(lab: Laboratory, network: str, controller: str) -> Interval:
    """The connection's rate over the TCP's, as a ratio of means."""
    result = lab[under(network, controller)]
    return ratio_of_means(result.rate(MULTIPATH), result.rate(TCP))


def elsewhere(lab: Laboratory, *controllers: str) -> str:
    """The ratios with other queues and hosts, in words."""
    rows = []
    for network in BESIDE:
        found = ", ".join(f"{CALLED[c]} {ratio(lab, network, c)}" for c in controllers)
        rows.append(f"{WORDS[network]}: {found}")
    return "; ".join(rows)


def beside(*controllers: str) -> tuple[str, ...]:
    """Configurations of the other queues and hosts."""
    return tuple(under(network, c) for network in BESIDE for c in controllers)


@PAPER.claim("def.goals", under(FAIRNESS, RENO), *beside(RENO))
def goals(claim: Claim, lab: Laboratory) -> Finding:
    """Two TCPs against one, over one link."""
    result = lab[under(FAIRNESS, RENO)]
    part = mbps(result) / (mbps(result) + mbps(result, TCP))
    checks = [
        measured(claim, "uncoupled_over_tcp", ratio(lab, FAIRNESS, RENO)),
        within("part of what both carry", "2/3 ± 0.05", part, 2 / 3 - 0.05, 2 / 3 + 0.05),
    ]
    why = (
        f"{interval(mbps(result))} and {interval(mbps(result, TCP))} Mb/s over a drop-tail queue, where all three lose in the "
        f"same round trips. {elsewhere(lab, RENO)}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "mech.fairness_considerations",
    *SHARED[FAIRNESS].configurations,
    *(configuration for network in BESIDE for configuration in SHARED[network].configurations),
)
def fairness(claim: Claim, lab: Laboratory) -> Finding:
    """Rate of each against a TCP, over drop-tail; also with RED, and with random
    processing time.
    """
    values = SHARED[FAIRNESS].values(lab, over_tcp)
    order = [
        (values.by[CS218] - values.by[LIA], 0.0, None),
        (values.by[RENO] - values.by[CS218], 0.0, None),
    ]
    checks = [
        measured(claim, "cs218_over_tcp", ratio(lab, FAIRNESS, CS218)),
        within("RTT Compensator over TCP", "about 1.0 ± 0.2", ratio(lab, FAIRNESS, LIA), 0.8, 1.2),
        hold_together("ordering", claim.expected["ordering"], order),
    ]
    rates = SHARED[FAIRNESS].values(lab, mbps, " Mb/s")
    why = (
        f"Over the TCP beside it: {values.listed()}. {rates.compared(CS218)}. With another queue or random processing time at "
        f"the hosts, {elsewhere(lab, CS218, CAPPED, LIA)}."
    )
    return finding(claim, lab.world.name, checks, why, unless=spared(lab))


def spared(lab: Laboratory) -> str:
    """Why paths that grow slowly have more than their share of a drop-tail queue; and what the
    boost is worth.
    """
    rows, worth = [], []
    for network in QUEUES:
        result = lab[under(network, LIA)]
        own, theirs = (losses_per_10000(result, name) for name in (MULTIPATH, TCP))
        rows.append(
            f"{WORDS[network]} {interval(own)} and {interval(theirs)}, worth {np.sqrt(theirs.mean() / own.mean()):.2f}"
        )
        times = SHARED[network].values(lab, over_tcp).ratio(CS218, LIA)
        worth.append(f"{WORDS[network]} {times}")
    apart = 1e4 / losses_per_10000(lab[under(FAIRNESS, CS218)], MULTIPATH)
    return (
        "RTT Compensator is one TCP where its paths lose as often as the TCP does. A full drop-tail queue drops what comes "
        "too much, and most of that is of whoever grows fastest. Congestion events for 10,000 packets of RTT Compensator's "
        f"paths and of the TCP, and what they are worth by the square-root formula: {'; '.join(rows)}. CS218_ALGO's ratio over "
        f"RTT Compensator's: {', '.join(worth)}. Of the measures against that, the count of 5 does little with "
        f"{interval(apart)} packets from loss to loss, and the last round trip tells in deep queues only: one of a "
        "bandwidth-delay product makes it twice the best at most, so that DWND is between α/2 and α."
    )


HALF, WHOLE = 416.6, 833.3
"""Segments: half of 100 Mb/s times 100 ms, and all of it. Slow start ends just below the first."""

RAMPS = Sweep(RAMP, (LIA, CS218, CAPPED, RENO))


def time_to_fill(result: Result) -> Floats:
    """Seconds from half of the empty path to all of it."""
    return fill_s(result, HALF, WHOLE)


@PAPER.claim("alg.lia_underuse", *RAMPS.configurations, under(RAMP, configurations.TCP))
def underuse(claim: Claim, lab: Laboratory) -> Finding:
    """Seconds from half of the empty path to all of it."""
    values = RAMPS.values(lab, time_to_fill, " s")
    tcp = time_to_fill(lab[under(RAMP, configurations.TCP)])
    over = ratio_of_means(values.by[LIA], tcp)
    checks = [
        measured(claim, "fill_time_ratio_lia_over_cs218", values.ratio(LIA, CS218)),
        within("RTT Compensator over a single TCP", "at least 1.0", over, 1.0, None),
    ]
    why = (
        f"{values.listed()}, a TCP in its place {interval(tcp)} s: one segment in a round trip of 0.1 s is 41.7 s. Slow start "
        "ends at half of the path, or it would fill it in no time. Within the cap CS218_ALGO is a TCP here: a path that has "
        "nearly all of the window has an α/w_tot near 1/w, and nothing is left to boost."
    )
    return finding(claim, lab.world.name, checks, why)


LOSSY = Sweep(LOSS, (LIA, CS218, CAPPED, RENO))


@PAPER.claim("mech.noncongestive_loss", *LOSSY.configurations, under(LOSS, configurations.TCP))
def noncongestive(claim: Claim, lab: Laboratory) -> Finding:
    """Rates over two paths that lose by chance."""
    values = LOSSY.values(lab, mbps, " Mb/s")
    tcp = mbps(lab[under(LOSS, configurations.TCP)])
    checks = [measured(claim, "ratio", values.ratio(CS218, LIA))]
    why = (
        f"{values.listed()}, a TCP on one of the paths {interval(tcp)} Mb/s, of 40. {values.compared(CS218)}. Twice the "
        "increment at the same loss is √2 = 1.414 times the window. The boost knows nothing of what lost a packet: where a "
        "queue does, it is worth as much, and others pay for it."
    )
    return finding(claim, lab.world.name, checks, why)
