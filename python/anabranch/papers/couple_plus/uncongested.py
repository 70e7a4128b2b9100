"""Figure 14: the network without the TCP."""

from __future__ import annotations

import numpy as np

from ...statistics import difference, interval, judge, ratio_of_means, worst
from ..findings import Finding, finding, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    COUPLE,
    EVERY,
    LIA,
    MARGIN,
    POINTS,
    alone,
    bare,
    lonelies,
    lonely,
    without_tcp,
)
from .paper import PAPER
from .reading import SUB0, SUB1, Floats, competition, end_of, exact, over

SPREAD = 0.05
"""The ledger's: seeds of a line of standard MPTCP are at most so far apart."""
LEVELS = {p: f"{p:.2f}".replace(".", "_") for p in POINTS}


def volumes_mb(lab: Laboratory, configuration: str) -> Floats:
    """Volume of each subflow when the transfer is complete, in MB, shape (seeds, 2)."""
    found = [
        over(run, "taken_bytes", 0.0, end_of(run) + 1.0)[:2] / 1e6
        for run in lab[configuration].runs
    ]
    return np.array(found)


def _widths(lab: Laboratory, p: float) -> Floats:
    """Range over seeds of the volume of each uncoded subflow, relative to its mean."""
    volumes = volumes_mb(lab, bare(p))
    return np.asarray(np.ptp(volumes, axis=0) / volumes.mean(axis=0))


def _delivered_mb(lab: Laboratory, configuration: str) -> Floats:
    """Data delivered in order by the connection, in MB."""
    rate = lab[configuration].rate("multipath", "goodput_bps")
    return np.asarray(rate * lab[configuration].plan.duration_s / 8e6)


def coded_rate(lab: Laboratory, p: float, controller: str = COUPLE) -> Floats:
    """Subflow 1 in kb/s, mean over redundancies."""
    found = [competition(lab, alone(controller, p, r))[:, SUB1] for r in POINTS[p]]
    return np.asarray(np.mean(found, axis=0))


def in_place_of_wireless(lab: Laboratory) -> str:
    """Explains ratios beyond the band: the uncoded subflow against a TCP alone under its loss."""
    own = {p: competition(lab, bare(p))[:, SUB1] for p in POINTS}
    tcp = {p: competition(lab, lonely(p))[:, SUB0] for p in POINTS}
    rows = [f"{p:g} {interval(own[p])} of {interval(tcp[p])}" for p in POINTS]
    less = worst([judge(interval(own[p] - tcp[p]), None, 0.0) for p in POINTS]) == "reproduced"
    because = (
        " It has less than the TCP at every loss, since linked increases let its window grow by its part of the whole."
        if less
        else ""
    )
    return (
        "Uncoded subflow 1, and a TCP alone in its place under the same loss, kb/s by loss: "
        f"{', '.join(rows)}.{because}"
    )


@PAPER.claim("fig14.gain", *without_tcp(), *lonelies())
def gain(claim: Claim, lab: Laboratory) -> Finding:
    """Subflow 1 with Couple+ and coding over standard MPTCP without, mean over redundancies."""
    ratios = {
        p: ratio_of_means(coded_rate(lab, p), competition(lab, bare(p))[:, SUB1]) for p in POINTS
    }
    checks = [measured(claim, f"ratio_{LEVELS[p]}", ratios[p]) for p in POINTS]
    for low, high in ((0.01, 0.05), (0.05, 0.10)):
        more = difference(ratios[high], ratios[low])
        checks.append(
            within(f"ratio at {high:g} less that at {low:g}", "increasing in loss", more, 0.0, None)
        )
    rows = {
        f"{p:g}": f"{interval(coded_rate(lab, p))} against {interval(competition(lab, bare(p))[:, SUB1])}"
        for p in POINTS
    }
    why = f"Subflow 1 by loss, kb/s: {', '.join(f'{p} {row}' for p, row in rows.items())}."
    return finding(claim, lab.world.name, checks, why, unless=in_place_of_wireless(lab))


@PAPER.claim("fig14.volume", *without_tcp())
def volume(claim: Claim, lab: Laboratory) -> Finding:
    """Volumes of both subflows."""
    configurations = [*(alone(COUPLE, p, r) for p, r in EVERY), *(bare(p) for p in POINTS)]
    sums = np.array(
        [volumes_mb(lab, configuration).sum(axis=1) for configuration in configurations]
    )
    low, high = claim.band("sum")
    checks = [
        within(
            "sum of the two subflows, least of all configurations",
            claim.expected["sum"],
            sums.min(axis=0),
            low,
            high,
        ),
        within(
            "sum of the two subflows, largest of all configurations",
            claim.expected["sum"],
            sums.max(axis=0),
            low,
            high,
        ),
    ]
    widths = {p: _widths(lab, p) for p in POINTS}
    checks.extend(
        within(
            f"line of subflow {column} without coding, loss {p:g}: max - min over seeds",
            "≤ 5 %",
            exact(widths[p][column]),
            None,
            SPREAD,
        )
        for p in POINTS
        for column in (SUB0, SUB1)
    )
    goodput = np.concatenate(
        [_delivered_mb(lab, configuration) for configuration in configurations]
    )
    rows = []
    for p, redundancies in POINTS.items():
        one, last = (
            volumes_mb(lab, alone(COUPLE, p, r))[:, SUB1]
            for r in (redundancies[0], redundancies[-1])
        )
        rows.append(
            f"{p:g}: coded {interval(one)} to {interval(last)}, uncoded {interval(volumes_mb(lab, bare(p))[:, SUB1])}"
        )
    wide = [f"{p:g}: {w[SUB0]:.2f} and {w[SUB1]:.2f}" for p, w in widths.items()]
    why = (
        f"Subflow 1 in MB by loss, coded at the least and the largest redundancy: {'; '.join(rows)}. Without coding there "
        "is no redundancy, so that a line over it is one configuration, drawn through; max - min over seeds of subflow 0 "
        f"and subflow 1, as parts of their means, by loss: {', '.join(wide)}. Counted where the connection puts them in order "
        f"they are {interval(goodput)} MB in every configuration: the rest was sent on one path, given up there after a "
        "timeout in "
        "slow "
        "start, sent again on the other, and brought by both."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim(
    "fig14.no_false_congestion", *(alone(c, p, r) for c in (LIA, COUPLE) for p, r in EVERY)
)
def no_false_congestion(claim: Claim, lab: Laboratory) -> Finding:
    """Couple+ over RTT Compensator, both coded."""
    checks, rows = [], []
    low, high = claim.band("ratio")
    for p, r in EVERY:
        own, theirs = (competition(lab, alone(c, p, r))[:, SUB1] for c in (COUPLE, LIA))
        ratio = ratio_of_means(own, theirs)
        rows.append(f"{p:g}/{r:g} {ratio}")
        if r >= 1 / (1 - p) + MARGIN - 1e-9:
            checks.append(
                within(
                    f"ratio, loss {p:g}, redundancy {r:g}",
                    claim.expected["ratio"],
                    ratio,
                    low,
                    high,
                )
            )
    why = f"Subflow 1 with Couple+ over RTT Compensator by loss/redundancy: {', '.join(rows)}."
    unless = (
        "Subflow 1's own window fills a drop-tail queue of 50 packets, 0.43 s, so that round trips are long without "
        "anyone else; "
        "at a loss of 0.1 two losses often meet in a cycle, and those are judged congestion."
    )
    return finding(claim, lab.world.name, checks, why, unless=unless)
