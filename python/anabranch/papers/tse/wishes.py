"""Wishes of the thesis: reduced aggression that moves, TCP-Nice in the background, Bilevel with
many paths.
"""

from __future__ import annotations

import numpy as np

from ...statistics import interval
from ..findings import Finding, finding, holds, measured
from ..laboratory import Laboratory
from ..ledger import Claim
from . import reasons
from .configurations import BILEVEL, CAPACITIES, MBPS, MOST, PATHS, on_two_paths
from .paper import (
    BASE,
    HACKER,
    MISPLACED,
    MOVING_HACKER,
    NICE,
    PAPER,
    POOLED,
    independent_name,
    later,
    shared_name,
)
from .placement import recovered
from .reading import Floats, everywhere, listed, paths, share, taken


@PAPER.claim(
    "wish.hacker_switching",
    *dict.fromkeys(on_two_paths(HACKER, what, value, right) for what, value, right, _ in MISPLACED),
    *(
        on_two_paths(c, what, value, wrong)
        for what, value, _, wrong in MISPLACED
        for c in (HACKER, MOVING_HACKER)
    ),
)
def hacker_switching(claim: Claim, lab: Laboratory) -> Finding:
    """Reduced aggression whose TCP moves by the response function."""
    low, high = claim.band("recovered_fraction")
    moved, at_rest = (recovered(lab, c, HACKER) for c in (MOVING_HACKER, HACKER))
    check = everywhere("recovered_fraction by the response function", 1.0, moved, low, high)
    gained = {where: moved[where] - at_rest[where].mean() for where in moved}
    why = (
        f"Over the right placement, by the response function (`{MOVING_HACKER}`): {listed(moved)}; at rest: "
        f"{listed(at_rest)}; the difference: {listed(gained)}. A reduced flow has 0.7 of a TCP's weight with two paths, so "
        "that the wrong place costs little. Where one path is empty the TCP stays there: that has the highest rate."
    )
    return finding(claim, lab.world.name, [check], why, unless=reasons.hardly_misplaced())


_NICE_POINTS = tuple((mbps, n) for mbps in CAPACITIES for n in PATHS)


@PAPER.claim(
    "wish.tcp_nice",
    *dict.fromkeys(shared_name(NICE, n, "red", mbps) for mbps, n in _NICE_POINTS),
    shared_name("nice", 1),
    independent_name(NICE, MOST, 0),
    independent_name(BASE, MOST, 0),
)
def tcp_nice(claim: Claim, lab: Laboratory) -> Finding:
    """Figure 3-2 with TCP-Nice in the background."""
    low, high = claim.band("share_with_borrowing")
    points = {
        f"{mbps:g} Mb/s, {paths(n)}": share(lab, shared_name(NICE, n, "red", mbps))
        for mbps, n in _NICE_POINTS
    }
    check = everywhere("share_with_borrowing", 0.5, points, low, high)
    most = {f"{mbps:g} Mb/s": points[f"{mbps:g} Mb/s, {paths(MOST)}"] for mbps in CAPACITIES}
    empty = {c: taken(lab, independent_name(c, MOST, 0)) / (MOST * MBPS) for c in (NICE, BASE)}
    why = (
        f"Means lie between {min(v.mean() for v in points.values()):.3f} and {max(v.mean() for v in points.values()):.3f}; "
        f"with 16 paths: {listed(most)}. TCP-Nice by itself beside one TCP has {interval(share(lab, shared_name('nice', 1)))} "
        f"of the traffic. Of sixteen empty paths {interval(empty[NICE])} is used, with TCP-LP {interval(empty[BASE])}."
    )
    return finding(claim, lab.world.name, [check], why)


def _part(lab: Laboratory, configuration: str, n: int) -> Floats:
    """Part of the capacity of `n` empty paths."""
    return np.asarray(taken(lab, configuration) / (n * MBPS))


@PAPER.claim(
    "wish.bilevel_many_subflows",
    *(shared_name(POOLED, n) for n in PATHS),
    *(independent_name(c, n, 0) for c in (POOLED, BILEVEL) for n in PATHS),
    later(POOLED),
    later(BILEVEL),
)
def many_subflows(claim: Claim, lab: Laboratory) -> Finding:
    """Bilevel TFRC with one loss history of all paths: use of empty paths, and Figure 4-2."""
    shares = {paths(n): share(lab, shared_name(POOLED, n)) for n in PATHS}
    low, high = PAPER.claims["tse.fig4-2.bilevel"].band("share")
    part, described = (
        {paths(n): _part(lab, independent_name(c, n, 0), n) for n in PATHS}
        for c in (POOLED, BILEVEL)
    )
    many = paths(MOST)
    checks = [
        measured(claim, "utilisation", part[many]),
        everywhere("share of Figure 4-2", 0.5, shares, low, high),
        holds(
            "better than the described scheme, which is as it was",
            "improved",
            bool(part[many].min() > described[many].max()),
        ),
    ]
    why = (
        f"Part of the capacity of empty paths with one loss history (`{POOLED}`): {listed(part)}; as described: "
        f"{listed(described)}. In the last 300 of 3000 s, {many}: {interval(_part(lab, later(POOLED), MOST))} and "
        f"{interval(_part(lab, later(BILEVEL), MOST))}. Beside a TCP on one link: {listed(shares)}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.pooled(lab))
